"""elements.py: which of the library's types a numpy dtype is, and what to do with those that are none."""

from typing import Any

import numpy as np

_WORDS = {
    "i1": "i8",
    "i2": "i16",
    "i4": "i32",
    "i8": "i64",
    "u1": "u8",
    "u2": "u16",
    "u4": "u32",
    "u8": "u64",
    "f4": "f32",
    "f8": "f64",
    "c8": "complex64",
    "c16": "complex128",
}
_DTYPES = {word: code for code, word in _WORDS.items()}
_REMEDIES = {
    "b": "store it as a.astype('uint8')",
    "U": "encode it: np.char.encode(a, 'utf-8')",
    "O": "give it a numeric dtype, or make texts of a fixed length: a.astype('S')",
    "M": "store a.astype('int64'), with the attribute units",
    "m": "store a.astype('int64'), with the attribute units",
    "V": "put each field as a dataset of its own",
}


def type_of(dtype: np.dtype[Any], name: str) -> str:
    """The library's word for DTYPE; a TypeError for dataset or attribute NAME says what to do where there is none."""
    if dtype.kind == "S" and dtype.itemsize > 0:
        return f"text[{dtype.itemsize}]"
    word = _WORDS.get(f"{dtype.kind}{dtype.itemsize}")
    if word is None:
        remedy = _REMEDIES.get(dtype.kind, "convert it: a.astype('float64')")
        raise TypeError(f"'{name}': penstock has no type for elements of dtype {dtype}: {remedy}")
    return word


def dtype_of(word: str) -> np.dtype[Any]:
    """The dtype of the library's type WORD."""
    if word.startswith("text["):
        return np.dtype(f"S{word[5:-1]}")
    return np.dtype(_DTYPES[word])


def storable(array: Any, name: str) -> "np.ndarray[Any, np.dtype[Any]]":
    """ARRAY as the library takes it: itself where its strides are positive multiples of its elements, else a copy."""
    if isinstance(array, np.ma.MaskedArray) and np.ma.is_masked(array):
        raise TypeError(f"'{name}' has masked elements: put a.filled(value), with the attribute _FillValue")
    data = np.asarray(array)
    if data.dtype.kind == "S" and data.dtype.itemsize == 0:
        data = data.astype("S1")
    type_of(data.dtype, name)
    if not data.dtype.isnative:
        data = data.astype(data.dtype.newbyteorder("="))
    if any(stride <= 0 or stride % data.itemsize for stride in data.strides) or not data.flags.aligned:
        data = np.array(data, order="C", copy=True)
    return data
