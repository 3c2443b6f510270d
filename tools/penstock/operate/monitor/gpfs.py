"""gpfs.py: what the GPFS client counted for each file system, as its own program mmpmon says."""

from pathlib import Path

PROGRAM = "usr/lpp/mmfs/bin/mmpmon"
REQUEST = "fs_io_s\n"
NAMES = {
    "_br_": "read_bytes",
    "_bw_": "write_bytes",
    "_rdc_": "reads",
    "_wc_": "writes",
    "_oc_": "opens",
    "_cc_": "closes",
    "_dir_": "lists",
    "_iu_": "inode_updates",
}
METADATA = ("opens", "closes", "lists", "inode_updates")


def command(root: Path) -> list[str] | None:
    """What answers REQUEST on its standard input; None without GPFS."""
    program = root / PROGRAM
    return [str(program), "-p", "-s"] if program.exists() else None


def parse(text: str) -> dict[str, dict[str, int]]:
    """Counters by file system, of an answer in mmpmon's form for programs."""
    found: dict[str, dict[str, int]] = {}
    for line in text.splitlines():
        words = line.split()
        if not words or words[0] != "_fs_io_s_":
            continue
        pairs = dict(zip(words[1::2], words[2::2], strict=False))
        if pairs.get("_rc_") != "0" or "_fs_" not in pairs:
            continue
        found[pairs["_fs_"]] = {
            name: int(value) for key, name in NAMES.items() if (value := pairs.get(key, "")).isdigit()
        }
    return found
