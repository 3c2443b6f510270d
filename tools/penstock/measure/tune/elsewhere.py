"""elsewhere.py: what comes nearest to a plan in IOR, in MPI-IO's hints, in HDF5, and in Lustre's stripes."""

from penstock.measure.campaign.request import parse_size
from penstock.measure.tune.predict import Problem

ONE_STRIPE = 1 << 30  # bytes of a file below which more stripes do not pay: the doctor's rule C3


def elsewhere(plan: str, problem: Problem) -> dict[str, str]:
    """PLAN is a transport and its parameters. By program: its options, hints or properties, where it has any."""
    operation = problem["operation"]
    transport, _, text = plan.partition(":")
    given = dict(word.partition("=")[::2] for word in text.split(",") if word)
    if transport not in ("two_phase", "independent", "mpiio"):
        return {}
    alone = transport == "independent" or given.get("coordination") == "independent" or given.get("level") in ("0", "2")
    collective = not alone
    ior = ["-a", {"independent": "POSIX"}.get(transport, "MPIIO"), *(["-c"] if collective else [])]
    hints = [f"romio_cb_{operation}={'enable' if collective else 'disable'}"]
    if "writers" in given:
        hints.append(f"cb_nodes={given['writers']}")
    if "buffer_bytes" in given:
        hints.append(f"cb_buffer_size={parse_size(given['buffer_bytes'])}")
    if given.get("io") == "mmap":
        ior = ["-a", "MMAP"]
    if given.get("io") == "direct":
        ior.append("--posix.odirect")
        hints.append(f"direct_{operation}=true")
    found = {
        "IOR": " ".join(ior),
        "MPI-IO hints": ", ".join(hints),
        "HDF5": f"H5Pset_dxpl_mpio with H5FD_MPIO_{'COLLECTIVE' if collective else 'INDEPENDENT'}",
    }
    # A problem does not say how many files the placement parts has.
    if problem["filesystem"] == "lustre" and operation == "write" and problem["placement"] != "parts":
        found["file system"] = f"lfs setstripe {_stripes(given, problem)} FOLDER, before the file is made"
    return found


def _stripes(given: dict[str, str], problem: Problem) -> str:
    """The count and the size of a file's stripes; by the plan, else one for a small file and eight for a large one."""
    large = problem["placement"] != "per_rank" and problem["ranks"] * problem["bytes_per_rank"] >= ONE_STRIPE
    count = int(given.get("stripe_count", max(8, int(given.get("writers", 8))) if large else 1))
    size = parse_size(given.get("stripe_bytes", "4MiB"))
    return f"-c {count} -S {size >> 10}K"
