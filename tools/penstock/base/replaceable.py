"""replaceable.py: what a new file may take the place of."""

from pathlib import Path

from penstock.base.errors import UserError


def must_be_replaceable(path: Path) -> None:
    """Refuses a device, a pipe or a folder: a rename over it would be the end of a device."""
    if path.exists() and not path.is_file():
        raise UserError(f"{path} is no regular file")
