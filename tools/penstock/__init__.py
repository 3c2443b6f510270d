"""penstock: the tools around the library: they start measurements, read their records, and explain them."""

__version__ = "0.1.0"
