"""simulate: machines that are described, and what a workload would take on them."""
