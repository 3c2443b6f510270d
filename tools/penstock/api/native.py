"""native.py: finds the extension: the MPI one for a communicator, else the serial one; imports no MPI by itself."""

import importlib
import operator
import os
import sys
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

from penstock.api import exceptions

PACKAGE = "penstock_native"
_loaded: dict[str, ModuleType] = {}
_settings: dict[str, tuple[Any, ...]] = {}  # of the process: the arguments of functions of every extension


def _load(name: str) -> ModuleType:
    if name not in _loaded:
        module = importlib.import_module(f"{PACKAGE}.{name}")
        exceptions.register(module)
        for setting, arguments in _settings.items():
            getattr(module, setting)(*arguments)
        _loaded[name] = module
    return _loaded[name]


def _first_of(*names: str) -> ModuleType:
    reasons = []
    for name in names:
        try:
            return _load(name)
        except ImportError as error:
            reasons.append(f"{name}: {error}")
    raise ImportError(
        f"penstock's extension is not there ({'; '.join(reasons)}): 'pip install .' builds it, or in a source tree "
        "'cmake --preset dev -DPENSTOCK_PYTHON=ON', 'ninja -C build penstock_python' and PYTHONPATH=build/lib/python"
    )


def _of_several_builds() -> bool:
    """Whether the extensions are those of a source tree: both want a libpenstock.so, of which a process has one."""
    try:
        return len(list(importlib.import_module(PACKAGE).__path__)) > 1
    except ImportError:
        return False


def alone() -> ModuleType:
    """The extension for a process by itself: the serial one, else that with MPI, which is not initialised."""
    if _of_several_builds():
        return _first_of("_mpi", "_serial")
    return _first_of("_serial", "_mpi")


def _of(comm: Any) -> ModuleType:
    MPI = sys.modules.get("mpi4py.MPI")  # whoever has a communicator has imported it
    if MPI is None or not isinstance(comm, MPI.Comm):
        raise TypeError(
            f"comm is of type {type(comm).__name__}: it must be a communicator of mpi4py, or None for a process alone"
        )
    if MPI.Is_finalized():
        raise exceptions.Invalid("MPI is finalised: open files before, or with comm=None")
    module = _first_of("_mpi")
    theirs, ours = MPI.Get_library_version().strip("\0\n "), module.mpi_library().strip("\0\n ")
    if theirs != ours or MPI._sizeof(MPI.Comm) != module.mpi_handle_bytes:
        raise exceptions.Unsupported(
            f"mpi4py uses another MPI library ({theirs.splitlines()[0]}) than penstock ({ours.splitlines()[0]}): "
            "install both for the same one (mpi4py: MPI4PY_MPIABI or 'pip install --no-binary mpi4py mpi4py')"
        )
    return module


def ranks(comm: Any, path: str = "") -> tuple[ModuleType, Any]:
    """The extension for COMM, and what it calls the ranks. Collective over COMM. PATH: the file they come for."""
    if comm is None:
        module = alone()
        return module, module.alone()
    module = _of(comm)
    MPI = sys.modules["mpi4py.MPI"]
    if comm == MPI.COMM_NULL:
        raise exceptions.Invalid(
            "comm is MPI.COMM_NULL: ranks outside a communicator must not make this call; "
            "leave comm out for a file of one process"
        )
    return module, module.from_mpi(MPI._addressof(comm), path)


def alone_of(group: Any) -> str:
    """What to say of an error where GROUP is one rank of a program of several, which is seldom meant; else ''."""
    MPI = sys.modules.get("mpi4py.MPI")
    if group.size > 1 or MPI is None or not MPI.Is_initialized() or MPI.Is_finalized() or MPI.COMM_WORLD.size == 1:
        return ""
    return (
        f"; the file was opened by 1 of the program's {MPI.COMM_WORLD.size} ranks: is it meant? "
        "Else all of them open it, with comm=MPI.COMM_WORLD"
    )


_PATHS = {"path", "source", "target", "pattern", "template"}


def _word(value: Any, what: str) -> str:
    if isinstance(value, FunctionType):
        value = value()
    if what in _PATHS:
        if not isinstance(value, str | bytes | os.PathLike):
            raise TypeError(f"{what} is of type {type(value).__name__}: it must be a str, bytes or os.PathLike")
        value = os.fsdecode(value)
    elif not isinstance(value, str | None):
        raise TypeError(f"{what} is of type {type(value).__name__}: it must be a str")
    text: str = value or ""
    if "\0" in text:
        raise exceptions.Invalid(f"{what} {text!r} has a NUL in it: no file can have that name")
    return text


def words(**given: Any) -> tuple[list[str], Exception | None]:
    """Paths, plans and options as texts, None as no plan; where one cannot be, empty ones, and the error.

    A function among them is called for its text.
    """
    try:
        return [_word(value, what) for what, value in given.items()], None
    except (TypeError, ValueError) as error:
        return [""] * len(given), error


def whole(value: Any, what: str) -> int:
    """VALUE as a whole number of 64 bits."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{what} is of type {type(value).__name__}: it must be a whole number") from None
    if not -(2**63) <= number < 2**63:
        raise exceptions.Invalid(f"{what} is {number}, which is no number of 64 bits")
    return number


def told(wrong: Exception | None, function: Callable[..., Any], *arguments: Any) -> Any:
    """Calls the collective FUNCTION. If WRONG is set, raises it; then ARGUMENTS make the other ranks fail too."""
    try:
        result = function(*arguments)
    except exceptions.Error:
        if wrong is not None:
            raise exceptions.own(wrong) from None
        raise
    if wrong is not None:
        raise exceptions.own(wrong)
    return result


def collective(comm: Any, how: str, *rest: Any, **given: Any) -> tuple[ModuleType, Any, Any]:
    """The extension for COMM, its ranks, and what its function HOW returns of the texts GIVEN, and REST.

    A rank whose texts are none goes on with empty ones, which are an error on all, so that nobody is left waiting.
    """
    texts, wrong = words(**given)
    library, group = ranks(comm, texts[0] if texts else "")
    if wrong is not None and group.size == 1:
        raise exceptions.own(wrong)
    return library, group, told(wrong, getattr(library, how), group, *texts, *rest)


def set_everywhere(setting: str, *arguments: Any) -> None:
    """Calls the function SETTING of each extension, of one that is loaded later too."""
    for module in list(_loaded.values()) or [alone()]:
        getattr(module, setting)(*arguments)
    _settings[setting] = arguments


def seconds_of(value: Any) -> float:
    """VALUE as a number of seconds."""
    if isinstance(value, str | bytes) or not hasattr(value, "__float__"):
        raise TypeError(f"seconds is of type {type(value).__name__}: it must be a number")
    return float(value)
