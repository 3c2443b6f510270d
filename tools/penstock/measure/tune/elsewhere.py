"""elsewhere.py: what comes nearest to a plan in IOR, in MPI-IO's hints and in HDF5."""

from penstock.measure.campaign.request import parse_size


def elsewhere(plan: str, operation: str) -> dict[str, str]:
    """PLAN is a transport and its parameters. By program: its options, hints or properties, where it has any."""
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
    return {
        "IOR": " ".join(ior),
        "MPI-IO hints": ", ".join(hints),
        "HDF5": f"H5Pset_dxpl_mpio with H5FD_MPIO_{'COLLECTIVE' if collective else 'INDEPENDENT'}",
    }
