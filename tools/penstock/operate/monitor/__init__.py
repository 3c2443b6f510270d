"""monitor: what the file systems of this node are doing now, and who makes them do it."""
