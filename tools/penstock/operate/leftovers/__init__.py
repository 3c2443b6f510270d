"""leftovers: partial files and parts that nobody needs any more: whose they are, and their removal."""
