"""errors.py: the one exception whose message is for the person at the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path  # which the overview and the version do not need

MISSING = "no such file or folder"


class UserError(Exception):
    """Something the user can mend; STATUS is the program's exit status."""

    def __init__(self, message: str, status: int = 2) -> None:
        super().__init__(message)
        self.status = status


def must_be_there(*paths: Path) -> None:
    """A UserError of status 2 names the first of PATHS that does not exist."""
    for path in paths:
        try:
            path.stat()
        except (FileNotFoundError, NotADirectoryError):
            raise UserError(f"'{path}': {MISSING}") from None
        except OSError:
            pass  # the reader will say why it cannot be read


def must_be_folder(path: Path) -> None:
    must_be_there(path)
    if not path.is_dir():
        raise UserError(f"'{path}': it is not a folder")
