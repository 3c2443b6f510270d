"""view: slices and projections of datasets, and of snapshots with levels, as pictures."""
