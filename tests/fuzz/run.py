"""run.py: runs fuzzers for some seconds each, from seeds and from what was found before; what it finds it keeps."""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

FOUND = Path(__file__).resolve().parent / "found"
# Their inputs go through a library that is not ours, whose crashes are counted and skipped.
OTHERS = {"hdf5": "libhdf5"}
FRAME = re.compile(r"^\s+#\d+ 0x[0-9a-f]+ .*$", re.MULTILINE)
RUNTIME = re.compile(
    r"sanitizer|asan|interceptor|libc\.so|/fuzz_\w+\+|in (?:__interceptor_|raise|abort|free|malloc|mem)"
)


def main() -> int:
    options = argparse.ArgumentParser()
    options.add_argument("--programs", type=Path, required=True, help="where fuzz_NAME and fuzz_seeds are")
    options.add_argument("--keep", type=Path, required=True, help="where inputs that break something go")
    options.add_argument("--seconds", type=int, default=60)
    options.add_argument("--seed", type=int, default=0, help="of the mutations; 0: another each time")
    options.add_argument("names", nargs="*", help="fuzzers; default: all")
    given = options.parse_args()
    programs = {path.name.removeprefix("fuzz_"): path for path in sorted(given.programs.glob("fuzz_*"))}
    seeds = programs.pop("seeds", None)
    names = given.names or list(programs)
    if seeds is None or not set(names) <= set(programs):
        print(f"run.py: '{given.programs}' has the fuzzers {', '.join(programs)}: cmake --preset fuzz builds them")
        return 2
    given.keep.mkdir(parents=True, exist_ok=True)
    failed = 0
    for name in names:
        with tempfile.TemporaryDirectory(prefix="fuzz-", dir=given.keep.resolve()) as scratch:
            failed += not fuzz(programs[name].resolve(), seeds.resolve(), Path(scratch), given)
    return 1 if failed else 0


def fuzz(program: Path, seeds: Path, scratch: Path, given: argparse.Namespace) -> bool:
    """Whether it ended without a find of ours; one line on what it did."""
    name = program.name.removeprefix("fuzz_")
    subprocess.run([seeds, scratch / "seeds"], check=True, timeout=60)
    folders = [scratch / "corpus", scratch / "seeds" / name, FOUND / name, scratch / "crashes"]
    for folder in folders[::3]:
        folder.mkdir()
    command = [str(program), *(str(folder) for folder in folders[:3] if folder.exists())]
    words = [f"-max_total_time={given.seconds}", f"-seed={given.seed}", "-timeout=20", "-rss_limit_mb=2500"]
    words += [f"-artifact_prefix={scratch}/crashes/", "-print_final_stats=1", "-max_len=32768"]
    if name in OTHERS:
        words += ["-fork=1", "-ignore_crashes=1", "-ignore_timeouts=1", "-ignore_ooms=1"]
    ran = subprocess.run(
        [*command, *words],
        cwd=scratch,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        timeout=given.seconds + 300,
    )
    theirs, ours = 0, []
    for crash in sorted((scratch / "crashes").iterdir()):
        trace = subprocess.run(
            [program, crash], cwd=scratch, capture_output=True, text=True, errors="replace", check=False, timeout=120
        ).stderr
        if name in OTHERS and (crash.stat().st_size == 0 or is_of(trace, OTHERS[name])):
            theirs += 1
            continue
        kept = given.keep.resolve() / f"{name}-{crash.name}"
        shutil.copy(crash, kept)
        ours.append(f"{kept}: {summary(trace)}")
    counts = re.findall(r"stat::number_of_executed_units:\s*(\d+)|^#(\d+):? ", ran.stderr, re.MULTILINE)
    inputs = max((int(a or b) for a, b in counts), default=0)
    good = not ours and (ran.returncode == 0 or name in OTHERS) and inputs > 0
    passed = f", {theirs} crashes inside {OTHERS[name]}" if name in OTHERS else ""
    print(f"{name}: {inputs} inputs in {given.seconds} s{passed}, {len(ours) or 'nothing'} found", flush=True)
    for line in ours:
        print("  " + line)
    if not good and not ours:
        print("\n".join(ran.stderr.splitlines()[-20:]))
    return good


def is_of(trace: str, library: str) -> bool:
    """Whether the innermost frame that is neither of the sanitizer nor of libc lies in LIBRARY."""
    for frame in FRAME.findall(trace):
        if not RUNTIME.search(frame):
            return library in frame
    return False


def summary(trace: str) -> str:
    lines = [
        line
        for line in trace.splitlines()
        if line.startswith("SUMMARY") or "broken:" in line or "runtime error" in line
    ]
    return " | ".join(lines[:3]) or "it passes when it is run alone"


if __name__ == "__main__":
    sys.exit(main())
