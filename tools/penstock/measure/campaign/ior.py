"""ior.py: the words of IOR's command line as those of `penstock bench ior`, for whoever has them in a script."""

import re
from dataclasses import dataclass, field
from pathlib import Path

from penstock.base.errors import UserError

# IOR 4.0's letters and long names; https://ior.readthedocs.io/en/latest/userDoc/options.html
_VALUES = {
    "-a": "api", "--api": "api", "api": "api",
    "-b": "blockSize", "blockSize": "blockSize",
    "-t": "transferSize", "transferSize": "transferSize",
    "-s": "segmentCount", "segmentCount": "segmentCount",
    "-i": "repetitions", "repetitions": "repetitions",
    "-o": "testFile", "testFile": "testFile",
}  # fmt: skip
_FLAGS = {
    "-F": "filePerProc", "filePerProc": "filePerProc",
    "-c": "collective", "collective": "collective",
    "-z": "randomOffset", "randomOffset": "randomOffset",
    "-e": "fsync", "fsync": "fsync",
    "-k": "keepFile", "keepFile": "keepFile",
    "-w": "writeFile", "writeFile": "writeFile",
    "-r": "readFile", "readFile": "readFile",
    "-C": "reorderTasks", "reorderTasks": "reorderTasks",
    "-V": "useFileView", "useFileView": "useFileView",
}  # fmt: skip
OPTIONS = {word for word in [*_VALUES, *_FLAGS] if word.startswith("-")}
_SIZE = re.compile(r"(\d+)(?:([kmgtKMGT]?)|([KMGT])iB|B)")
_UNITS = {"": "B", "k": "KiB", "m": "MiB", "g": "GiB", "t": "TiB"}
# By api and whether there is a file for each process.
_METHODS = {
    ("POSIX", False): "raw/independent", ("POSIX", True): "raw/per_process",
    ("MPIIO", False): "raw/mpiio", ("MPIIO", True): "raw/mpiio:placement=per_rank",
    ("HDF5", False): "phdf5", ("HDF5", True): "hdf5/independent:placement=per_rank",
    ("NCMPI", False): "pnetcdf", ("NCMPI", True): "netcdf/independent:placement=per_rank",
}  # fmt: skip
# By api: with -c, and without.
_COLLECTIVE = {
    "MPIIO": ("coordination=collective", "coordination=independent"),
    "HDF5": ("collective=true", "collective=false"),
    "NCMPI": ("mode=collective", "mode=independent"),
}


@dataclass
class Translated:
    arguments: list[str]  # of penstock-bench, after the workload
    methods: str | None = None
    directory: Path | None = None
    options: dict[str, str] = field(default_factory=dict)


def translate(words: list[str]) -> Translated:
    """WORDS after "ior"; those that are not IOR's stay as they are."""
    done = Translated([])
    rest = iter(words)
    for word in rest:
        name, equals, value = _told_apart(word)
        if name in _VALUES and not (equals and name.startswith("--")):
            given = value if equals else next(rest, None)
            if given is None:
                raise UserError(f"ior: {word} needs a value")
            done.options[_VALUES[name]] = given
        elif name in _FLAGS:
            done.options[_FLAGS[name]] = value or "1"
        else:
            done.arguments.append(word)
    _spell(done)
    return done


def _told_apart(word: str) -> tuple[str, str, str]:
    """The option, whether a value follows in the same word, and that: "-b 4k" is "-b4k" and "-b=4k" too."""
    if len(word) > 2 and word[0] == "-" and word[1] != "-" and word[:2] in _VALUES:
        return word[:2], "=", word[2:].removeprefix("=")
    return word.partition("=")


def _spell(done: Translated) -> None:
    options = done.options
    for name, option in (("blockSize", "--block-size"), ("transferSize", "--transfer-size")):
        if name in options:
            done.arguments += [option, _size(name, options[name])]
    for name, option in (("segmentCount", "--segment-count"), ("repetitions", "--repetitions")):
        if name in options:
            done.arguments += [option, options[name]]
    for name, option in (("randomOffset", "--random-offset"), ("keepFile", "--keep")):
        if _on(options, name):
            done.arguments.append(option)
    if "api" in options or "filePerProc" in options:
        done.methods = _method(options)
        done.arguments += ["--regime", "durable" if _on(options, "fsync") else "cached"]  # as IOR: without -e no sync
        # Every transfer goes out of one buffer and comes back into it, from what the page cache has.
        done.arguments += ["--one-buffer", "--warm"]
        if not _on(options, "reorderTasks") and "--readers" not in done.arguments:
            done.arguments += ["--own-ranks"]
    elif _on(options, "fsync"):
        done.arguments += ["--regime", "durable"]
    if "testFile" in options:
        done.directory = Path(options["testFile"]).parent


def _on(options: dict[str, str], name: str) -> bool:
    return options.get(name, "0") not in ("0", "")


def _method(options: dict[str, str]) -> str:
    api = options.get("api", "POSIX").upper()
    own = _on(options, "filePerProc")
    if (api, own) not in _METHODS:
        raise UserError(f"ior: -a {options['api']}: there are {', '.join(dict.fromkeys(api for api, _ in _METHODS))}")
    method = _METHODS[api, own]
    settings: list[str] = []
    if own and _on(options, "randomOffset"):
        raise UserError(
            "ior: -z and -F: a file of one process has its transfers in the order of the calls, whatever that is"
        )
    if _on(options, "collective"):
        if own:
            raise UserError("ior: -c and -F: a process alone with its file has nobody to be collective with")
        if api == "POSIX":
            raise UserError("ior: -c: POSIX has no collective calls")
        settings = [_COLLECTIVE[api][0]]
    elif api == "MPIIO" or (api in _COLLECTIVE and not own):
        settings = [_COLLECTIVE[api][1]]
    if _on(options, "useFileView") and api == "MPIIO":
        settings.append("positioning=individual")
    # IOR sums nothing, reserves nothing and reads nothing back by itself; each transfer is a call.
    settings += ["checksums=none"]
    if api == "MPIIO":
        settings += ["request=per_run", "puts=apart", "read_back=none"]
    settings += ["preallocate=false"]
    return method + ("," if ":" in method else ":") + ",".join(settings)


def _size(name: str, text: str) -> str:
    found = _SIZE.fullmatch(text)
    if found is None:
        raise UserError(f"ior: {name} {text}: a number with k, m, g or t behind it")
    return found[1] + _UNITS[(found[2] or found[3] or "").lower()]
