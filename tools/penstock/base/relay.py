"""relay.py: standard error of a program that a command starts: notes are passed on at once, the rest is kept."""

import contextlib
import os
import re
import sys
import tempfile
import threading
from collections.abc import Iterator
from typing import BinaryIO

from penstock.base.printable import printable

SECONDS = 0.5  # between two looks
NOTE = re.compile(r"penstock-[\w-]+: note: (.*)")


class Relay:
    """FILE goes to the program, which may outlive the command: a pipe would then be waited for."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self._read = 0
        self._rest = ""
        self._kept: list[str] = []

    def lines(self) -> list[str]:
        """What the program wrote, without notes and empty lines."""
        return self._kept + [self._rest.strip()] * bool(self._rest.strip())

    def complaint(self, program: str) -> str:
        """What PROGRAM itself complained of, else all that was written, which may be nothing."""
        return "; ".join(own_lines(program, self.lines()) or self.lines())

    def look(self) -> None:
        # pread leaves the offset alone, which the program shares.
        while data := os.pread(self.file.fileno(), 1 << 16, self._read):
            self._read += len(data)
            *whole, self._rest = (self._rest + data.decode("utf-8", "replace")).split("\n")
            for line in filter(None, map(str.strip, whole)):
                if note := NOTE.fullmatch(line):
                    print(f"penstock: {printable(note[1])}", file=sys.stderr, flush=True)
                else:
                    self._kept.append(line)


@contextlib.contextmanager
def relay() -> Iterator[Relay]:
    """Passes notes on until the end of the block, where all that the program wrote has been read."""
    with tempfile.TemporaryFile() as file:
        relayed, ended = Relay(file), threading.Event()

        def passing_on() -> None:
            while not ended.wait(SECONDS):
                relayed.look()

        thread = threading.Thread(target=passing_on, daemon=True)
        thread.start()
        try:
            yield relayed
        finally:
            ended.set()
            thread.join()
            relayed.look()


def own_lines(program: str, lines: list[str]) -> list[str]:
    """Those of LINES that PROGRAM itself wrote, each once; launchers and libraries write more."""
    begin = f"{program}: "
    return list(dict.fromkeys(line.removeprefix(begin) for line in lines if line.startswith(begin)))
