"""api: the Python interface: files, datasets, series, streams and xarray, over the extension."""
