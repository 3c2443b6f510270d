"""rules: what may be wrong with a program's I/O, one function for each; docs/doctor.md has them in words."""

from collections.abc import Callable, Iterator

from penstock.diagnose.facts import Facts
from penstock.diagnose.finding import Finding
from penstock.diagnose.rules import access, balance, collective, metadata, other

RULES: tuple[Callable[[Facts], Iterator[Finding]], ...] = (
    *collective.RULES,
    *access.RULES,
    *metadata.RULES,
    *balance.RULES,
    *other.RULES,
)
