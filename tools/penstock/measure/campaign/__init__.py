"""campaign: running penstock-bench, and what it says while it runs."""
