"""file.py: files and datasets: put by assigning, read by slicing, all or nothing at the end of `with`."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from types import ModuleType, TracebackType
from typing import TYPE_CHECKING, Any, Self, SupportsIndex

import numpy as np

from penstock import native, put
from penstock.attributes import Attributes
from penstock.elements import dtype_of, storable, type_of
from penstock.exceptions import Error, Invalid, NotThere
from penstock.selection import Array, Selection, select

if TYPE_CHECKING:
    from mpi4py import MPI

Path = str | bytes | os.PathLike[str] | os.PathLike[bytes]


class Dataset:
    """A dataset of a file. Reading is collective: every rank of a parallel file reads, each whatever part it likes."""

    def __init__(self, file: File, name: str) -> None:
        self._file, self.name = file, name

    def _info(self) -> tuple[str, tuple[int, ...], bool]:
        found = self._file._there().get(self.name)
        if found is None:
            raise Invalid(f"'{self.name}' can be read after the commit that puts it")
        return found

    @property
    def shape(self) -> tuple[int, ...]:
        return self._info()[1]

    @property
    def dtype(self) -> np.dtype[Any]:
        return dtype_of(self._info()[0])

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        count = 1
        for extent in self.shape:
            count *= extent
        return count

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    @property
    def is_unlimited(self) -> bool:
        return self._info()[2]

    @property
    def attrs(self) -> Attributes:
        return self._file.attributes(self.name)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError(f"'{self.name}' is a single value, which has no length")
        return self.shape[0]

    def __repr__(self) -> str:
        try:
            word, shape, _ = self._info()
        except Error:
            return f"<penstock dataset '{self.name}', not committed>"
        return f"<penstock dataset '{self.name}' {word} {shape}>"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        if copy is False:
            raise ValueError(f"'{self.name}' lies in a file: an array of it is a copy")
        return np.asarray(self[...], dtype=dtype)

    def __iter__(self) -> Iterator[Any]:
        return iter(self[...])

    def __getitem__(self, key: Any) -> Any:
        """Collective. What numpy would give: an array, or a single value where all indices are whole numbers."""
        return self._read(key, outer=False)

    def outer(self, *keys: Any) -> Any:
        """Collective. As slicing, but each dimension may have a list of indices of its own."""
        return self._read(keys, outer=True)

    def read_into(self, out: Array, key: Any = Ellipsis) -> None:
        """Collective. Reads [KEY] into OUT, which may be part of a larger array: strides are heeded."""

        def ask() -> tuple[Selection, Array]:
            selection = self._plain(key)
            self._check_out(out, selection)
            self._get(selection, out)
            return selection, out

        self._file._collectively(ask)

    def get(self, key: Any = Ellipsis) -> Array:
        """Local. An array that is filled when the file's commit (or close) returns: one exchange for all gets."""
        try:
            selection = self._plain(key)
            out = np.empty(selection.result_shape, self.dtype)
            self._get(selection, out)
        except (TypeError, ValueError, IndexError) as error:
            self._file._open.remember_failure(str(error))
            raise
        return out

    def _plain(self, key: Any) -> Selection:
        selection = select(key, self.shape)
        if not selection.plain:
            raise TypeError("only slices without a step and whole numbers can be read into an array of yours")
        return selection

    def _check_out(self, out: Array, selection: Selection) -> None:
        if not isinstance(out, np.ndarray):
            raise TypeError(f"read_into fills a numpy array, not a {type(out).__name__}")
        if out.dtype != self.dtype:
            raise TypeError(
                f"'{self.name}' has elements of {self.dtype}, the array of {out.dtype}: they must be the same"
            )
        if out.shape != selection.result_shape:
            raise ValueError(f"the array has shape {out.shape}, what is read into it {selection.result_shape}")
        if any(stride <= 0 or stride % out.itemsize for stride in out.strides):
            raise ValueError("strides of the array must be positive multiples of its elements")

    def _get(self, selection: Selection, out: Array) -> None:
        word, shape, _ = self._info()
        part = self._file._library.block(shape, selection.starts, selection.counts)
        kept = [np.newaxis if isinstance(axis.pick, int) else slice(None) for axis in selection.axes]
        self._file._open.get(self.name, word, part, out[tuple(kept)] if kept else out)

    def _read(self, key: Any, *, outer: bool) -> Any:
        def ask() -> tuple[Selection, Array]:
            word, shape, _ = self._info()
            selection = select(key, shape, outer=outer)
            packed = np.empty(selection.packed_shape, dtype_of(word))
            library = self._file._library
            if selection.one_box:
                part = library.block(shape, selection.starts, selection.counts)
            else:
                part = library.boxes(shape, *selection.boxes())
            self._file._open.get(self.name, word, part, packed)
            return selection, packed

        selection, packed = self._file._collectively(ask)
        result = selection.unpack(packed)
        return result[()] if isinstance(result, np.ndarray) and not result.ndim else result


class File(Mapping[str, Dataset]):
    """An open file. In `with`: closed at its end, which is collective; an exception publishes nothing."""

    def __init__(self, library: ModuleType, opened: Any, ranks: Any, writable: bool) -> None:
        self._library, self._open, self._ranks, self._writable = library, opened, ranks, writable
        self._put: set[str] = set()
        self._attributes: dict[str, dict[str, Any]] = {}
        self._listed: dict[str, tuple[str, tuple[int, ...], bool]] | None = None
        self._listed_after = 0  # so many publications

    # --- what is in it

    def _there(self) -> dict[str, tuple[str, tuple[int, ...], bool]]:
        """Type, shape and whether it may grow, of each dataset; made once, since files may have many."""
        if self._listed is None:
            self._listed_after = self._open.publications
            self._listed = {name: (word, tuple(shape), grows) for name, word, shape, grows in self._open.datasets()}
        return self._listed

    def __getitem__(self, name: str) -> Dataset:
        if not self.is_open:
            raise Invalid(f"the file is closed: '{name}' is read before the end of its with")
        if name in self._put or name in self._there():
            return Dataset(self, name)
        names = ", ".join(f"'{each}'" for each in list(self._there())[:10]) or "none"
        raise NotThere(f"'{self.path}' has no dataset '{name}'; there are: {names}")

    def __contains__(self, name: object) -> bool:
        return name in self._put or name in self._there()

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._put.union(self._there())))

    def __len__(self) -> int:
        return len(self._put.union(self._there()))

    def attributes(self, name: str) -> Attributes:
        """Those of dataset or group NAME."""
        return Attributes(self._open, self._attributes.setdefault(name, {}), name)

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
        try:
            part = value if isinstance(value, put.Part) else put.replicated(value)
            if not isinstance(name, str):
                raise TypeError(f"a dataset's name is a str, not a {type(name).__name__}")
            made, array = part.make(self._library, storable(part.data, name))
            word = type_of(array.dtype, name)
        except Exception as error:
            said = str(error)
            self._open.remember_failure(said if said.startswith(f"'{name}'") else f"'{name}': {said}")
            raise
        self._open.put(name, word, made, array, lend)
        self._put.add(name)
        for key, attribute in part.attributes.items():
            self.attributes(name)[key] = attribute

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
                wrong = f"provenance: key and text must be str, not {type(word).__name__}"
                self._open.remember_failure(wrong)
                raise TypeError(wrong)
        self._open.provenance(key, text)

    def collect_provenance(self) -> None:
        """Local. What rank 0 can find out: user, host, date, machine, directory, command line, job, versions."""
        self._open.collect_provenance()

    # --- committing

    def commit(self) -> None:
        """Collective. Publishes what was put, all or nothing, and fills what was asked for by get."""
        self._open.commit()
        self._committed()

    def commit_start(self) -> None:
        """Collective. What was put is on its way when this returns: compute, then commit_wait."""
        self._open.commit_start()

    def commit_test(self) -> bool:
        """Local. Whether it is time for commit_wait; moves data where nothing else does."""
        return bool(self._open.commit_test())

    def commit_wait(self) -> None:
        """Collective. Waits, and publishes."""
        self._open.commit_wait()
        self._committed()

    def _committed(self) -> None:
        if self._open.publications != self._listed_after:
            self._listed = None

    def close(self) -> None:
        """Collective. Commits what is pending. A second call does nothing."""
        if self._open.is_open:
            self._open.close()

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
            raise wrong
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
            self._open.remember_failure(f"rank {self._ranks.rank}: {type(error).__name__}: {error}")
            self._open.close()

    def _collectively(self, ask: Any) -> Any:
        try:
            asked = ask()
        except (TypeError, ValueError, IndexError, MemoryError, Error) as error:
            if self._open.is_open and self._ranks.size > 1:
                self._open.remember_failure(f"rank {self._ranks.rank}: {error}")
                with contextlib.suppress(Error):  # what the other ranks get; ERROR is its cause
                    self._open.commit()
            raise
        self._open.commit()
        self._committed()
        return asked

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


def _file(how: str, path: Path, comm: Any, plan: str | None, writable: bool) -> File:
    library, ranks, opened = native.collective(comm, how, path=path, plan=plan)
    return File(library, opened, ranks, writable)


def create(path: Path, comm: MPI.Comm | None = None, plan: str | None = None) -> File:
    """Collective. A new file; under PATH there is nothing, or the old file, until the commit."""
    return _file("create", path, comm, plan, True)


def open(path: Path, comm: MPI.Comm | None = None, plan: str | None = None) -> File:  # noqa: A001  penstock.open
    """Collective. To read; the format is recognised."""
    return _file("open", path, comm, plan, False)


def open_latest(pattern: Path, comm: MPI.Comm | None = None, plan: str | None = None) -> File:
    """Collective. To read: of the files that match PATTERN the newest that is whole."""
    return _file("open_latest", pattern, comm, plan, False)


def reopen(path: Path, comm: MPI.Comm | None = None, plan: str | None = None) -> File:
    """Collective. To read, change, add and grow. Reading by slicing is a commit: it publishes what was put before."""
    return _file("reopen", path, comm, plan, True)


def clone(template: Path, path: Path, comm: MPI.Comm | None = None, plan: str | None = None) -> File:
    """Collective. A new file at PATH that begins with all that is in TEMPLATE, which is not touched."""
    library, ranks, opened = native.collective(comm, "clone", template=template, path=path, plan=plan)
    return File(library, opened, ranks, True)


def copy(source: Path, target: Path, comm: MPI.Comm | None = None, plan: str | None = None) -> None:
    """Collective. A new file TARGET with all that is in SOURCE: one file of a set, or another format."""
    native.collective(comm, "copy", source=source, target=target, plan=plan)


def verify(path: Path, comm: MPI.Comm | None = None) -> None:
    """Collective. Compares all data with their checksums; raises Damaged where they differ."""
    native.collective(comm, "verify", path=path)


def repair(path: Path, comm: MPI.Comm | None = None) -> str:
    """Collective. Makes the one lost file of a set with parity again; returns its name, '' where nothing was lost."""
    return str(native.collective(comm, "repair", path=path)[2])


def seal(path: Path, comm: MPI.Comm | None = None, force: bool = False) -> bool:
    """Collective. Makes new checksums for a file that was changed on purpose; returns whether any were needed."""
    return bool(native.collective(comm, "seal", bool(force), path=path)[2])


def set_timeout(seconds: float) -> None:
    """Local. For how long waits for other ranks may see nothing move; 0: no limit."""
    for module in native.loaded():
        module.set_timeout(seconds)
