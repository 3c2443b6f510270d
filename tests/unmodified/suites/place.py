"""place.py: where sources are kept and suites are built; what is there is used again."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import sources
from sources import Missing
from trial import Mpi


@dataclass(frozen=True)
class Place:
    folder: Path
    programs: Mapping[str, Path]  # those that are in no archive that apt uses: somebody has built them

    def given(self, name: str, what: str) -> Path:
        if name not in self.programs:
            raise Missing(f"{what}, is in no archive that apt uses: give the path of one by {name}=PATH")
        return self.programs[name].resolve()

    def source(self, package: str) -> tuple[Path, str]:
        return sources.unpacked(package, self.folder / "sources")

    def built(self, name: str, mpi: Mpi, build: Callable[[Path], None]) -> Path:
        """The folder in which BUILD has built the suite NAME for MPI; BUILD is not called again if it succeeded."""
        folder = self.folder / f"{name}-{mpi.suffix}"
        done = folder / "built"
        if not done.exists():
            print(f"building {name} with {mpi.suffix}", flush=True)
            folder.mkdir(parents=True, exist_ok=True)
            build(folder)
            done.touch()
        return folder
