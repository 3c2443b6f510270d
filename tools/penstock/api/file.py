"""file.py: files: put by assigning, all or nothing at the end of `with`; dataset.py reads."""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from types import ModuleType, TracebackType
from typing import Any, Self, SupportsIndex

import numpy as np

from penstock.api import exceptions, native, put
from penstock.api.attributes import Attributes, encode
from penstock.api.dataset import Dataset, Info, Request
from penstock.api.elements import UNTYPED, marked, meaning, rectangular, storable, stored_as, type_of
from penstock.api.exceptions import Error, Invalid, NotThere
from penstock.api.group import Group
from penstock.api.selection import Array
from penstock.base.nearest import did_you_mean, instead, listed

Path = str | bytes | os.PathLike[str] | os.PathLike[bytes]
Shape = Sequence[SupportsIndex]
# Of the arguments of h5py's create_dataset those that say how a dataset is stored, which here is the plan's.
_STORAGE = {
    "chunks",
    "shuffle",
    "fletcher32",
    "scaleoffset",
    "fillvalue",
    "track_times",
    "track_order",
}


def _why_not(name: str, path: str, names: Collection[str]) -> str:
    """Why the file at PATH, with datasets NAMES, has none of NAME."""
    inside = [each.removeprefix(f"{name}/") for each in names if each.startswith(f"{name}/")]
    if inside:
        return f"'{name}' is a group of '{path}': f.group('{name}') has {listed(sorted(inside))}"
    return f"'{path}' has no dataset '{name}'{instead(name, sorted(names))}"


def _name(name: Any) -> Any:
    """NAME as in the file, without one leading slash."""
    return name.removeprefix("/") if isinstance(name, str) else name


class File(Mapping[str, Dataset]):
    """An open file. In `with`: closed at its end, which is collective; an exception publishes nothing."""

    def __init__(
        self, library: Any = None, opened: Any = None, ranks: Any = None, writable: bool = False, **more: Any
    ) -> None:
        """Only penstock.open, penstock.create and their like call it; it raises TypeError for any other caller."""
        if not isinstance(library, ModuleType) or more:
            raise TypeError(
                "penstock.File is what opens return: use penstock.create(path, comm) for a new file, "
                "penstock.open(path, comm) to read, penstock.open(path, 'r+', comm) to change"
            )
        self._library, self._open, self._ranks, self._writable = library, opened, ranks, writable
        self._put: set[str] = set()
        self._created: dict[str, Info] = {}  # since the last commit
        self._attributes: dict[str, dict[str, Any]] = {}
        self._listed: dict[str, Info] | None = None
        self._listed_after = 0  # so many publications
        self._removed: set[str] = set()
        self._after: list[Callable[[], None]] = []

    # --- what is in it

    def _there(self) -> dict[str, Info]:
        """Those of the published file that stay; made once, since files may have many."""
        if self._listed is None:
            self._listed_after = self._open.publications
            self._listed = {
                name: (word, tuple(shape), grows)
                for name, word, shape, grows in self._open.datasets()
                if not self._is_removed(name)
            }
        return self._listed

    def _is_removed(self, name: str) -> bool:
        return any(name == gone or name.startswith(f"{gone}/") for gone in self._removed)

    def __getitem__(self, name: str) -> Dataset:
        if not self.is_open:
            raise Invalid(f"the file is closed: '{name}' is read before the end of its with")
        name = _name(name)
        if name in self._put or name in self._there():
            return Dataset(self, name)
        self._open.check_readable(str(name))
        names = self._put.union(self._there()) if self._put else self._there()
        raise NotThere(functools.partial(_why_not, str(name), self.path, names))

    def group(self, name: str) -> Group:
        """Those datasets whose names begin with NAME and a slash, by the rest of their names."""
        self._check_object(name.strip("/"))
        return Group(self, name.strip("/"))

    def _check_object(self, name: str) -> None:
        """Raises NotThere if a reader's file has no such dataset or group. A writer may still put one."""
        if not self._writable and name not in self._there() and not self._open.has(name):
            self._open.check_readable(name)
            groups = {name[:at] for name in self for at, letter in enumerate(name) if letter == "/"}
            raise NotThere(f"'{self.path}' has no dataset or group '{name}'{did_you_mean(name, [*self, *groups])}")

    def __contains__(self, name: object) -> bool:
        name = _name(name)
        return name in self._put or name in self._there()

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._put.union(self._there())))

    def __len__(self) -> int:
        return len(self._put.union(self._there()))

    def attributes(self, name: str) -> Attributes:
        """Those of dataset or group NAME."""
        name = _name(name).removesuffix("/")
        if name and self.is_open:
            self._check_object(name)
        return Attributes(self._open, self._attributes.setdefault(name, {}), name, self._is_removed(name))

    @property
    def attrs(self) -> Attributes:
        return self.attributes("")

    # --- putting

    def __setitem__(self, name: str, value: Any) -> None:
        """Local; VALUE is copied. A Part (penstock.block, ...), or the whole array, the same on all ranks."""
        self._give(name, value, lend=False)

    def lend(self, name: str, value: Any) -> None:
        """Local. As assigning, without the copy: the array stays as it is until the commit; the file keeps it alive."""
        self._give(name, value, lend=True)

    def _give(self, name: str, value: Any, *, lend: bool) -> None:
        part = value if isinstance(value, put.Part) else put.replicated(value)
        if not isinstance(name, str):
            raise TypeError(f"a dataset's name is a str, not a {type(name).__name__}")
        name = _name(name)
        data, marks = storable(part.data, name, alike=not part.is_whole)
        try:
            made, array = part.make(self._library, data)
        except ValueError as error:
            raise type(error)(f"'{name}': {error}") from None
        rank = array.ndim if part.rank is None else part.rank
        own_dims, own_attributes = put.labels(part.data)
        dims = part.dims or (own_dims if len(own_dims) == rank else ())
        if dims and len(dims) != rank:
            raise Invalid(f"'{name}' has {rank} dimensions, dims={dims} names {len(dims)}: name each")
        meant = meaning(marks, part.data)
        self._check_meaning(name, meant)
        said = put.encoding_options(part.data, self.plan.startswith("hdf5/"))
        said |= {key: part.attributes[key] for key in put.OPTIONS if key in part.attributes}
        if said:
            self.options(name, **said)
        attributes = {key: value for key, value in part.attributes.items() if key not in put.OPTIONS}
        try:
            self._define(name, array, made, own_attributes | marks | attributes, dims, meant, lend=lend)
        except (Error, TypeError, ValueError):
            if said and name not in self._put:
                self._open.options(name, "")
            raise

    def _check_meaning(self, name: str, now: str) -> None:
        """Elements put over those of the published file must have the dtype that its attributes give."""
        if now == UNTYPED or name not in self._there():
            return
        if (there := marked(Dataset(self, name).dtype)) != now:
            found = f"is {there}, but what is put is {now or 'not'}" if there else f"is not {now}, but what is put is"
            raise exceptions.Mismatch(f"'{name}' in the file {found}: convert it, or del f['{name}'] first")

    def _define(
        self,
        name: str,
        array: Array,
        made: Any,
        attributes: dict[str, Any],
        dims: tuple[str, ...],
        meant: str,
        *,
        lend: bool,
    ) -> None:
        word = type_of(array.dtype, name)
        described = {key: encode(key, attribute) for key, attribute in attributes.items()}
        self._open.check_dimensions(name, dims)
        self._open.put(name, word, made, array, lend, meant)
        self._put.add(name)
        try:
            if dims:
                self._open.set_dimensions(name, dims)
            for key, encoded in described.items():
                self.attributes(name)._set(key, encoded)
        except Error as error:
            raise self._poisoned(error, f"the elements of '{name}' were put already") from None

    def __delitem__(self, name: str) -> None:
        """Local; one rank that says so is enough. A dataset or group goes at the commit, and can be put anew."""
        if not isinstance(name, str):
            raise TypeError(f"a dataset's name is a str, not a {type(name).__name__}")
        gone = name.strip("/")
        try:
            self._open.remove(gone)
        except exceptions.NotFound:
            raise NotThere(f"'{self.path}' has no dataset or group '{name}'{did_you_mean(gone, self)}") from None
        self._removed.add(gone)
        self._listed = None
        for known in (self._created, self._attributes):
            for each in [each for each in known if each == gone or each.startswith(f"{gone}/")]:
                del known[each]
        self._put = {each for each in self._put if each != gone and not each.startswith(f"{gone}/")}

    def create_dataset(
        self,
        name: str,
        shape: Shape | SupportsIndex | None = None,
        dtype: Any = None,
        data: Any = None,
        *,
        maxshape: Sequence[SupportsIndex | None] | None = None,
        dims: Sequence[str] | str = (),
        compression: str | int | None = None,
        compression_opts: int | None = None,
        **more: Any,
    ) -> Dataset:
        """Local. DATA as the whole dataset, the same on all ranks; or a dataset of SHAPE, to whose slices ranks assign.

        MAXSHAPE may have None for the first extent, which may grow then. COMPRESSION and its level are as in h5py.
        """
        name = _name(name)
        if isinstance(compression, int):
            compression, compression_opts = "gzip", int(compression)
        if compression is not None:
            self.options(name, compression=compression, level=compression_opts)
        for word in more:
            if word in _STORAGE:
                raise TypeError(f"create_dataset: '{word}' is not said of a dataset: how a file is stored is its plan")
            raise TypeError(f"create_dataset has no argument '{word}': set attributes by f['{name}'].attrs['{word}']")
        if name in self:
            raise exceptions.Exists(f"'{name}' is there already: assign to f['{name}'][...], or del f['{name}'] first")
        if data is not None:
            whole = rectangular(data, name, dtype)
            if shape is not None:
                whole = whole.reshape(put.numbers(shape, "shape"))
            extents = list(whole.shape)
        elif shape is None or dtype is None:
            raise TypeError(f"create_dataset('{name}'): say data=, or shape= and dtype=")
        else:
            extents = put.numbers(shape, "shape")
        unlimited = self._may_grow(name, extents, maxshape)
        if data is not None:
            self[name] = put.replicated(data if shape is None and dtype is None else whole, dims=dims)
        else:
            stored, marks = stored_as(np.dtype(dtype), name)
            none = self._library.boxes(extents, [], [])
            self._define(name, np.empty(0, stored), none, marks, put.dimensions(dims), meaning(marks), lend=False)
            self._created[name] = type_of(stored, name), tuple(extents), unlimited
        if unlimited:
            self.unlimited(name)
        return self[name]

    @staticmethod
    def _may_grow(name: str, extents: list[int], maxshape: Sequence[SupportsIndex | None] | None) -> bool:
        if maxshape is None:
            return False
        fixed = [extent for extent in maxshape if extent is not None]
        if len(maxshape) != len(extents) or [int(extent) for extent in fixed] != extents[len(extents) - len(fixed) :]:
            raise Invalid(f"create_dataset('{name}'): only the first extent can grow: maxshape=(None, n, ...)")
        return len(fixed) < len(extents)

    def create_group(self, name: str) -> Group:
        """Local. A group, though nothing be put into it."""
        self._open.make_group(_name(name).removesuffix("/"))
        return self.group(name)

    def options(self, name: str, **options: Any) -> None:
        """Local, on each rank that puts NAME, and before. How it is stored: dtype, keep_bits, scale, offset,
        compression, level, max_error, max_relative_error (docs/precision.md).
        """
        for word in options:
            if word not in put.OPTIONS:
                raise TypeError(f"'{name}' has no option '{word}'{did_you_mean(word, put.OPTIONS)}")
        self._open.options(_name(name), put.options_text(options, name))

    def unlimited(self, name: str) -> None:
        """Local. The first extent of NAME may grow when the file is reopened."""
        self._open.unlimited(name)

    def partial(self, partial: bool = True) -> None:
        """Local. Elements that nobody puts are zero, instead of an error at the commit."""
        self._open.partial(partial)

    def xdmf(self, xdmf: bool = True) -> None:
        """Local. Commits write heat.xmf beside heat.h5, for ParaView and VisIt, with its meshes (docs/meshes.md)."""
        self._open.xdmf(xdmf)

    def conventions(self, convention: str) -> None:
        """Local. Commits add what "CF" (netCDF) or "openPMD" (HDF5) want (docs/conventions.md); "" nothing."""
        self._open.conventions(convention)

    def capture_bytes(self, limit: int) -> None:
        """Local. The most that copies of what this rank puts may hold."""
        self._open.capture_bytes(limit)

    def provenance(self, key: str, text: str) -> None:
        """Local. Rank 0's TEXT as attribute KEY of the group "provenance"; above 16 KiB as dataset provenance/KEY."""
        for word in (key, text):
            if not isinstance(word, str):
                raise TypeError(f"provenance: key and text must be str, not {type(word).__name__}")
        self._open.provenance(key, text)

    def collect_provenance(self) -> None:
        """Local. What rank 0 can find out: user, host, date, machine, directory, command line, job, versions."""
        self._open.collect_provenance()

    # --- committing

    def commit(self) -> None:
        """Collective. Publishes what was put, all or nothing, and fills what was asked for by get."""
        self._end(self._open.commit)
        self._committed()

    def commit_start(self) -> None:
        """Collective. What was put is on its way when this returns: compute, then commit_wait."""
        self._open.commit_start()
        self._fill()

    def commit_test(self) -> bool:
        """Local. Whether it is time for commit_wait; moves data where nothing else does."""
        return bool(self._open.commit_test())

    def commit_wait(self) -> None:
        """Collective. Waits, and publishes."""
        self._end(self._open.commit_wait)
        self._committed()

    def _end(self, call: Callable[[], None]) -> None:
        try:
            call()
        except (exceptions.Incomplete, exceptions.Overlap, exceptions.Exists) as error:
            alone = native.alone_of(self._ranks)
            if not alone or "is it meant" in str(error):
                raise
            raise type(error)(f"{error}{alone}") from None

    def _committed(self) -> None:
        if self._open.publications != self._listed_after:
            self._listed = None
            self._removed.clear()
        self._fill()

    def _later(self, fill: Callable[[], None]) -> None:
        """FILL makes the array of a get what was asked for, once the commit has fetched what it is made of."""
        self._after.append(fill)

    def _fill(self) -> None:
        for fill in self._after:
            fill()
        self._after.clear()

    def close(self) -> None:
        """Collective. Commits what is pending. A second call does nothing."""
        if self._open.is_open:
            self._end(self._open.close)
            self._fill()

    def close_restart(self, pattern: Path, retain: SupportsIndex) -> None:
        """Collective. As close, but what is published is the newest of RETAIN restart files.

        "run/restart#.h5" is restart0.h5; those that are there move one index up, and what would get index RETAIN goes.
        """
        words, wrong = native.words(pattern=pattern)
        try:
            count = native.whole(retain, "retain")
        except (TypeError, ValueError) as error:
            words, count, wrong = [""], 0, wrong or error
        if wrong is not None and self._ranks.size == 1:
            raise exceptions.own(wrong)
        native.told(wrong, self._open.close_restart, *words, count)

    def abandon(self) -> None:
        """Local, on all ranks or on none. Drops what was not committed."""
        self._open.abandon()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self.close()
        elif not self._open.is_open or self._ranks.size == 1 or not isinstance(error, Exception):
            self.abandon()
        else:  # the others may be waiting in a collective call: they get this error
            self._fail(error)
            self.abandon()

    def _fail(self, error: Exception) -> None:
        with contextlib.suppress(Error):  # ERROR is its cause, and is being raised
            self._open.fail(exceptions.told(self._ranks.rank, error))
            self._open.close()

    def _poisoned(self, error: Error, why: str) -> Error:
        """ERROR, saying that the file publishes nothing any more: what was half done cannot be taken back."""
        self._open.fail(str(error))
        return type(error)(f"{error}; {why}: after this the file can only be closed, and publishes nothing")

    def _read(self, ask: Callable[[], Request]) -> Array:
        """Collective. The array of what ASK asks for, filled; an error of any rank's ASK is one on all, for now."""
        try:
            request = ask()
        except Exception as error:
            if self._open.is_open and self._ranks.size > 1:
                with contextlib.suppress(Error):  # what the other ranks get; ERROR is its cause
                    self._open.refuse(exceptions.told(self._ranks.rank, error))
            raise exceptions.own(error) from error
        try:
            self._open.read(*request)
        except Error as error:
            raise exceptions.heard(error) from None
        self._committed()
        return request[-1]

    # --- what it says

    @property
    def path(self) -> str:
        return str(self._open.path)

    @property
    def plan(self) -> str:
        return str(self._open.plan)

    @property
    def report(self) -> dict[str, Any]:
        """What the last commit did on this rank."""
        return dict(self._open.report())

    @property
    def warnings(self) -> list[str]:
        """What the last open or commit had to say that is no error."""
        return list(self.report["warnings"])

    @property
    def is_open(self) -> bool:
        return bool(self._open.is_open)

    def __repr__(self) -> str:
        if not self.is_open:
            return "<closed penstock file>"
        return f"<penstock file '{self.path}', {len(self)} datasets>"

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other
