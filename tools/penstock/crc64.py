"""crc64.py: CRC-64/XZ, as containers have it: by liblzma, which Python's own lzma stands on, else by numpy."""

import functools
from collections.abc import Callable


def crc64(data: bytes, previous: int = 0) -> int:
    """Continues with the previous call's result; starts from 0."""
    liblzma = _liblzma()
    if liblzma:
        return liblzma(data, len(data), previous)
    from penstock.base.crc64_numpy import by_numpy

    return by_numpy(data, previous)


@functools.cache
def _liblzma() -> Callable[[bytes, int, int], int] | None:
    import ctypes

    try:
        function = ctypes.CDLL("liblzma.so.5").lzma_crc64
    except (OSError, AttributeError):
        return None
    function.restype = ctypes.c_uint64
    function.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint64]
    return function
