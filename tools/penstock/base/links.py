"""links.py: where paths lead in the end."""

from pathlib import Path

from penstock.base.errors import UserError


def followed(path: Path) -> Path:
    """PATH without links, absolute; a UserError where its links lead back to themselves."""
    try:
        end = path.resolve()
    except (RuntimeError, OSError):  # RuntimeError before Python 3.13
        end = path
    try:
        circular = end.is_symlink()
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}") from None
    if circular:
        raise UserError(f"{path}: its symbolic links form a loop")
    return end
