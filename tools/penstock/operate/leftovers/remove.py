"""remove.py: takes left-overs away."""

import os
import shutil
import stat

from penstock.operate.leftovers.survey import LeftOver


def remove(left: LeftOver) -> str | None:
    """Removes all of LEFT that is still there; what went wrong, or None. Links are removed, never followed."""
    for name in left.files():
        path = left.folder / name
        try:
            if stat.S_ISDIR(path.lstat().st_mode):
                shutil.rmtree(path)
            else:
                path.unlink()
        except FileNotFoundError:
            continue
        except OSError as error:
            return f"'{name}' cannot be removed: {os.strerror(error.errno or 0)}"
    return None
