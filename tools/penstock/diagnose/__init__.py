"""diagnose: why a program's I/O is slow, what will help, and the proof."""
