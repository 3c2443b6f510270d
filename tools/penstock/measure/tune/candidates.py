"""candidates.py: the plans that a search tries: transports with the parameters that have made a difference."""

DEFAULT = "two_phase"

# The default is first. What each is for: docs/methods.md. Without servers, which take cores from the program.
_TRANSPORTS = (
    DEFAULT,
    "two_phase:writers=1",
    "two_phase:io=buffered",
    "two_phase:io=direct",
    "two_phase:io=mmap",
    "two_phase:buffer_bytes=1MiB",
    "two_phase:buffer_bytes=32MiB",
    "two_phase:neighbours=messages",
    "two_phase:queue_depth=4",
    "independent",
    "independent:io=direct",
    "independent:io=mmap",
    "mpiio",
    "mpiio:coordination=independent",
)


def candidates(form: str, ranks: int) -> list[str]:
    """The plans to try for a file of format FORM that RANKS write, the default first."""
    transports = list(_TRANSPORTS)
    if ranks > 1:
        transports.insert(2, f"two_phase:writers={ranks}")
    else:
        transports.remove("two_phase:writers=1")
    return [f"{form}/{transport}" for transport in transports]


def transport_of(plan: str) -> str:
    """ "two_phase:writers=1" of "hdf5/two_phase:writers=1"."""
    return plan.partition("/")[2]
