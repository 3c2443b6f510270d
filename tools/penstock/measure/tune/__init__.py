"""tune: finds the fastest plan for a workload by measuring, and keeps it as wisdom."""
