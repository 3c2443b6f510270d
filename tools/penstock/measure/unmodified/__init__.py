"""unmodified: what `penstock run` asks of the library that takes MPI-IO calls over, and what that reports."""
