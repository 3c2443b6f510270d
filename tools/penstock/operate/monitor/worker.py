"""worker.py: a process that answers what may hang: space of file systems, files of /proc.

It stands alone, since it is started as a program: lines of JSON come in, [KEY, QUESTION, ARGUMENT], and go out,
[KEY, ANSWER, ERROR]. Each is answered in a thread of its own; one that hangs holds up nobody.
"""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

MOST_BYTES = 1 << 20
PROGRAM_SECONDS = 10


def answer(question: str, argument: Any) -> Any:
    """What QUESTION asks of ARGUMENT; OSError where there is no answer."""
    if question == "space":
        found = os.statvfs(argument)
        sizes = [found.f_blocks * found.f_frsize, found.f_bfree * found.f_frsize, found.f_bavail * found.f_frsize]
        return [*sizes, found.f_files, found.f_ffree]
    if question == "read":
        with Path(argument).open("rb") as file:
            return file.read(MOST_BYTES).decode("utf-8", "surrogateescape")
    if question == "program":
        done = subprocess.run(
            argument[0], input=argument[1], capture_output=True, text=True, timeout=PROGRAM_SECONDS, check=False
        )
        if done.returncode != 0:
            raise OSError(0, done.stderr.strip() or f"exit status {done.returncode}")
        return done.stdout
    raise OSError(0, f"no such question: {question}")


def main() -> None:
    """Until its standard input ends, however many questions are open."""
    lock = threading.Lock()

    def work(key: str, question: str, argument: Any) -> None:
        try:
            reply: list[Any] = [key, answer(question, argument), None]
        except subprocess.TimeoutExpired:
            reply = [key, None, f"no answer in {PROGRAM_SECONDS} s"]
        except (OSError, ValueError) as error:
            reply = [key, None, getattr(error, "strerror", None) or str(error)]
        with lock:
            print(json.dumps(reply), flush=True)

    for line in sys.stdin:
        threading.Thread(target=work, args=json.loads(line), daemon=True).start()
    os._exit(0)


if __name__ == "__main__":
    main()
