"""scratch.py: the folder in which a run works, on the file system that it measures."""

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from penstock.base.errors import UserError, must_be_folder


@contextlib.contextmanager
def scratch(directory: Path, keep: bool = False) -> Iterator[Path]:
    """A new folder under DIRECTORY, removed whatever happens unless it is to be kept."""
    must_be_folder(directory)
    try:
        folder = Path(tempfile.mkdtemp(prefix="penstock-bench-", dir=directory.absolute()))
    except OSError as error:
        raise UserError(f"--dir {directory}: {error.strerror}") from None
    try:
        yield folder
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)
