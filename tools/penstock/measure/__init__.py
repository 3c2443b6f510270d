"""measure: runs the bench, alone and as campaigns and studies, and reports what it measured."""
