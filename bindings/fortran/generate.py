"""generate.py: makes the Fortran modules: penstock_c from penstock.h, penstock from its template.

    python generate.py c --header penstock.h --comm c_int|c_intptr_t --output penstock_c.f90
    python generate.py native --header penstock.h --template penstock.f90.in [--define NAME]... --output penstock.f90
    python generate.py template --template FILE --output FILE
    python generate.py check --header penstock.h SOURCE...

c fails on a declaration that it cannot translate, so that nobody adds one unnoticed. check fails where one of the
header's functions is called in none of the SOURCEs. Of a template's lines, those between `!for NAME in WORD WORD...`
and `!end` are repeated with @NAME@ replaced, and those between `!if NAME` and `!end` stay where NAME is defined.
"""

import argparse
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

# C's numbers, in pointers and by value.
NUMBERS = {"int": "integer(c_int)", "int64_t": "integer(c_int64_t)", "double": "real(c_double)"}
# Pointers to numbers that are written, and stand for more than one.
ARRAYS_OUT = {"shape"}
# Enumerators that are there for C++ only, and macros that mean something else in Fortran.
LEFT_OUT = {"PENSTOCK_TYPE_LEAST", "PENSTOCK_TYPE_MOST", "PENSTOCK_H", "PENSTOCK_ALONE"}
MACROS = {"PENSTOCK_TEXT"}  # written out below
LONGEST_LINE = 120


class UntranslatableError(Exception):
    """A declaration of the header that has no translation here."""


@dataclass
class Parameter:
    kind: str  # without const and the stars
    name: str
    stars: int
    constant: bool  # whether what it points to is


@dataclass
class Function:
    name: str
    result: str
    result_stars: int
    parameters: list[Parameter]


@dataclass
class Header:
    constants: list[tuple[str, int]] = field(default_factory=list)
    enumerations: set[str] = field(default_factory=set)
    opaque: set[str] = field(default_factory=set)
    callbacks: set[str] = field(default_factory=set)
    structs: dict[str, list[Parameter]] = field(default_factory=dict)
    functions: list[Function] = field(default_factory=list)


def parse(text: str) -> Header:
    """The declarations of a header in the style of penstock.h."""
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.DOTALL).replace("\\\n", " ")
    for macro in re.findall(r"^\s*#\s*define\s+(\w+)", text, flags=re.MULTILINE):
        if macro not in LEFT_OUT | MACROS:
            raise UntranslatableError(f"#define {macro}: say in LEFT_OUT or MACROS what it is in Fortran")
    text = re.sub(r"^\s*#.*$", "", text, flags=re.MULTILINE)
    text = re.sub(r'extern "C" \{(.*)\}', r"\1", text, flags=re.DOTALL)
    header = Header()
    for declaration in re.findall(r"[^;{]*(?:\{[^}]*\}[^;]*)?;", text):
        words = " ".join(declaration.split()).rstrip("; ")
        try:
            _declare(header, words)
        except UntranslatableError as reason:
            raise UntranslatableError(f"{words}: {reason}") from None
    return header


def _declare(header: Header, text: str) -> None:
    if match := re.fullmatch(r"typedef enum (\w+) \{(.*)\} \1", text):
        header.enumerations.add(match[1])
        value = -1
        for item in filter(None, (part.strip() for part in match[2].split(","))):
            name, _, given = (word.strip() for word in item.partition("="))
            if name in LEFT_OUT:
                continue
            value = int(given, 0) if given else value + 1
            header.constants.append((name, value))
    elif match := re.fullmatch(r"typedef struct (\w+) \1", text):
        header.opaque.add(match[1])
    elif match := re.fullmatch(r"typedef struct (\w+) \{(.*)\} \1", text):
        header.structs[match[1]] = [
            _parameter(f"{words[0]} {name}")
            for line in filter(None, (part.strip() for part in match[2].split(";")))
            for words in [line.partition(" *")]
            for name in re.sub(r"^", "*", words[2]).split(", ")
        ]
    elif match := re.fullmatch(r"typedef void \(\*(\w+)\)\(.*\)", text):
        header.callbacks.add(match[1])
    elif re.fullmatch(r"typedef \w+ penstock_comm", text):
        pass  # its kind is an argument of ours: it is another with each MPI
    elif match := re.fullmatch(r"((?:const )?\w+) ?(\**) ?(\w+)\((.*)\)", text):
        parameters = [] if match[4] == "void" else [_parameter(part.strip()) for part in match[4].split(",")]
        header.functions.append(Function(match[3], match[1].removeprefix("const "), len(match[2]), parameters))
    else:
        raise UntranslatableError("no declaration of a known kind")


def _parameter(text: str) -> Parameter:
    match = re.fullmatch(r"((?:const )?)(\w+)((?: |\*|const\b)*?)(\w+)", text)
    if match is None:
        raise UntranslatableError(f"'{text}' is no parameter that is known here")
    stars = match[3].count("*")
    # A pointer that a pointer points to is written unless it is constant itself: const char **, const char *const *.
    return Parameter(match[2], match[4], stars, bool(match[1]) if stars < 2 else "const" in match[3])


# How a parameter is declared, by what it is, how many stars it has, and whether it points to constants. Pointers that
# may be NULL are optional: left out, they are.
DECLARATIONS = {
    ("number", 0, False): "{number}, value :: {name}",
    ("number", 1, True): "{number}, intent(in), optional :: {name}(*)",
    ("number", 1, False): "{number}, intent(inout), optional :: {name}{many}",
    ("enumeration", 0, False): "integer(c_int), value :: {name}",
    ("enumeration", 1, False): "integer(c_int), intent(inout), optional :: {name}",
    ("penstock_comm", 0, False): "integer(penstock_comm), value :: {name}",
    ("penstock_comm", 1, False): "integer(penstock_comm), intent(inout) :: {name}",
    ("char", 1, True): "character(kind=c_char), intent(in), optional :: {name}(*)",
    ("char", 2, True): "type(c_ptr), intent(in), optional :: {name}(*)",
    ("char", 2, False): "type(c_ptr), intent(inout), optional :: {name}",
    ("struct", 1, True): "type({kind}_t), intent(in), optional :: {name}",
    ("callback", 0, False): "type(c_funptr), value :: {name}",
    ("void", 1, True): "type(c_ptr), value :: {name}",
    ("void", 1, False): "type(c_ptr), value :: {name}",
    ("opaque", 1, True): "type(c_ptr), value :: {name}",
    ("opaque", 1, False): "type(c_ptr), value :: {name}",
    ("opaque", 2, False): "type(c_ptr), intent(out) :: {name}",
}


def _declaration(header: Header, p: Parameter) -> str:
    what = p.kind
    for group, members in (
        ("number", NUMBERS),
        ("enumeration", header.enumerations),
        ("struct", header.structs),
        ("opaque", header.opaque),
        ("callback", header.callbacks),
    ):
        if p.kind in members:
            what = group
    declaration = DECLARATIONS.get((what, p.stars, p.constant))
    if declaration is None:
        raise UntranslatableError(f"parameter {p.kind} {'*' * p.stars}{p.name}")
    many = "(*)" if p.name in ARRAYS_OUT else ""
    return declaration.format(name=p.name, kind=p.kind, number=NUMBERS.get(p.kind), many=many)


def _interface(header: Header, f: Function) -> Iterator[str]:
    names = ", ".join(p.name for p in f.parameters)
    if f.result_stars:
        result = "type(c_ptr)"
    elif f.result in header.enumerations:
        result = "integer(c_int)"
    elif f.result in NUMBERS:
        result = NUMBERS[f.result]
    elif f.result == "void":
        result = ""
    else:
        raise UntranslatableError(f"{f.name} returns {f.result}")
    head = f"{result} function" if result else "subroutine"
    yield from _folded(f"    {head} {f.name}({names}) bind(C)")
    yield "      import"
    for p in f.parameters:
        yield f"      {_declaration(header, p)}"
    yield f"    end {'function' if result else 'subroutine'}"


def _folded(line: str) -> Iterator[str]:
    while len(line) > LONGEST_LINE and not line.lstrip().startswith("!"):
        at = line.rindex(",", 0, LONGEST_LINE - 2) + 1
        yield line[:at] + " &"
        line = "       " + line[at:]
    yield line


def raw_module(header: Header, comm: str) -> Iterator[str]:
    """penstock_c: every declaration of the header, by its own name."""
    yield "! penstock_c.f90: penstock.h in Fortran, declaration by declaration; generated from it."
    yield "! Texts end with c_null_char; an optional argument that is left out is NULL. Structs have names of their"
    yield "! own, since upper and lower case are one: penstock_memory_t is not the status PENSTOCK_MEMORY."
    yield "module penstock_c"
    yield "  use, intrinsic :: iso_c_binding"
    yield "  implicit none"
    yield "  public"
    yield f"  integer, parameter :: penstock_comm = {comm}  ! the kind of integer that holds a C communicator"
    for name, value in header.constants:
        yield f"  integer(c_int), parameter :: {name} = {value}"
    for name, members in header.structs.items():
        yield f"  type, bind(C) :: {name}_t"
        for member in members:
            if member.stars != 1:
                raise UntranslatableError(f"{member.name} of struct {name}")
            yield f"    type(c_ptr) :: {member.name} = c_null_ptr"
        yield "  end type"
    yield "  interface"
    yield "    ! MPI_Comm_f2c; that of MPI_COMM_NULL is PENSTOCK_ALONE."
    yield '    integer(penstock_comm) function penstock_comm_of(handle) bind(C, name="penstock_fortran_comm")'
    yield "      import"
    yield "      integer(c_int), value :: handle"
    yield "    end function"
    for function in header.functions:
        try:
            yield from _interface(header, function)
        except UntranslatableError as reason:
            raise UntranslatableError(f"{function.name}: {reason}") from None
    yield "  end interface"
    yield "contains"
    yield "  ! The type of texts of BYTES bytes."
    yield "  pure integer(c_int) function PENSTOCK_TEXT(bytes)"
    yield "    integer, intent(in) :: bytes"
    yield f"    PENSTOCK_TEXT = {0x1000000} + bytes"
    yield "  end function"
    yield "end module"


def expand(lines: list[str], defined: set[str]) -> Iterator[str]:
    """A template's lines, with its directives carried out."""
    at = 0
    while at < len(lines):
        words = lines[at].split()
        if not words or words[0] not in ("!for", "!if"):
            yield lines[at]
            at += 1
            continue
        depth, end = 1, at
        while depth:
            end += 1
            if end == len(lines):
                raise UntranslatableError(f"the template's '{lines[at].strip()}' has no !end")
            depth += lines[end].split()[:1] in (["!for"], ["!if"])
            depth -= lines[end].split()[:1] == ["!end"]
        body = list(lines[at + 1 : end])
        if words[0] == "!if":
            yield from expand(body if words[1] in defined else [], defined)
        else:
            all_words = COMMUNICATORS[: 1 + ("mpi_f08" in defined)] if words[3:] == ["COMMUNICATORS"] else words[3:]
            for word in all_words:
                yield from expand([line.replace(f"@{words[1]}@", word) for line in body], defined)
        at = end + 1


COMMUNICATORS = ["mpi", "mpi_f08"]
HANDLES = {"@handle_mpi@": "comm", "@handle_mpi_f08@": "comm%mpi_val"}  # the integer of each


def native_module(header: Header, template: str, defined: set[str]) -> Iterator[str]:
    """penstock: the template, with the declarations of its types and the header's constants."""
    words = HANDLES | {"@constants@": ", ".join(name for name, _ in header.constants)}
    for name, declaration in TYPES.items():
        words[f"@declare_{name}@"] = declaration
        words[f"@local_{name}@"] = declaration.replace("len=*", "len=4")
    pattern = re.compile("|".join(map(re.escape, words)))
    for line in expand(template.splitlines(), defined):
        yield from _folded(pattern.sub(lambda match: words[match[0]], line))


# What the types of the template's loops are.
TYPES = {
    "mpi": "integer(c_int)",
    "mpi_f08": "type(MPI_Comm)",
    "int8": "integer(c_int8_t)",
    "int16": "integer(c_int16_t)",
    "int32": "integer(c_int32_t)",
    "int64": "integer(c_int64_t)",
    "real32": "real(c_float)",
    "real64": "real(c_double)",
    "complex32": "complex(c_float_complex)",
    "complex64": "complex(c_double_complex)",
    "character": "character(kind=c_char, len=*)",
}


def unused(header: Header, sources: list[Path]) -> list[str]:
    """The functions of the header that no source calls."""
    text = "\n".join(source.read_text(encoding="utf-8") for source in sources)
    # Some are called by a macro, OPENER(create), or by another name, `only: c_message => penstock_message`.
    found = {f"penstock_{verb}" for verb in re.findall(r"^OPENER\((\w+)\)", text, flags=re.MULTILINE)}
    found |= set(re.findall(r"=> (\w+)", text))
    return [f.name for f in header.functions if f.name not in found and not re.search(rf"[^\"]\b{f.name}\(", text)]


def main() -> int:
    parser = argparse.ArgumentParser(description="Makes the Fortran modules.")
    parser.add_argument("what", choices=("c", "native", "template", "check"))
    parser.add_argument("sources", nargs="*", type=Path)
    parser.add_argument("--header", type=Path)
    parser.add_argument("--template", type=Path)
    parser.add_argument("--comm", default="c_int")
    parser.add_argument("--define", action="append", default=[])
    parser.add_argument("--output", type=Path)
    options = parser.parse_intermixed_args()
    try:
        header = parse(options.header.read_text(encoding="utf-8")) if options.header else Header()
        if options.what == "check":
            missing = unused(header, options.sources)
            if missing:
                print(f"generate.py: not reachable from Fortran: {', '.join(missing)}", file=sys.stderr)
            return 1 if missing else 0
        if options.what == "c":
            lines = list(raw_module(header, options.comm))
        else:
            lines = list(native_module(header, options.template.read_text(encoding="utf-8"), set(options.define)))
    except UntranslatableError as reason:
        print(f"generate.py: {options.header}: {reason}: teach bindings/fortran/generate.py", file=sys.stderr)
        return 1
    options.output.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
