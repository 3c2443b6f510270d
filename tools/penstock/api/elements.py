"""elements.py: the library's type that stores each dtype, and how dtypes that the library lacks are restored."""

import enum
from collections.abc import Mapping
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

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
    "c": "convert it: a.astype('complex128')",
    "T": "convert it: a.astype(str)",
    "O": "give it a numeric dtype, or make it of str or of members of one Enum only",
    "M": "store a.astype('int64'), with the attribute units",
    "m": "store a.astype('int64'), with the attribute units",
    "V": "put each field as a dataset of its own",
}
# What says of stored elements that they mean others, in the words of xarray and netCDF.
_MARK, _ENCODING = "dtype", "_Encoding"
MARKS = (_MARK, _ENCODING)
_BOOL, _HALF, _UTF8 = {_MARK: "bool"}, {_MARK: "float16"}, {_ENCODING: "utf-8"}


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


def meant(word: str, attributes: Mapping[str, Any]) -> np.dtype[Any]:
    """The dtype of a dataset whose elements are stored as WORD, and whose ATTRIBUTES may say what they mean."""
    mark = attributes.get(_MARK)
    if mark == "bool" and word in ("i8", "u8"):
        return np.dtype(bool)
    if mark == "float16" and word == "f32":
        return np.dtype("f2")
    if word.startswith("text[") and str(attributes.get(_ENCODING)).lower() in ("utf-8", "utf8", "ascii"):
        letters = int(word[5:-1])
        return np.dtype(f"U{letters // 4}" if mark == f"U{letters / 4:g}" else f"U{letters}")
    return dtype_of(word)


# The library's word for the type of no elements, which is that of the other ranks'.
UNTYPED = "an empty list"


def meaning(marks: Mapping[str, Any], value: Any = None) -> str:
    """The type of elements with these MARKS, such as 'bool'; '' if it is the stored type. VALUE is what was given."""
    if isinstance(value, list | tuple) and not np.size(value):
        return UNTYPED
    return "str" if _ENCODING in marks else str(marks.get(_MARK, ""))


def marked(dtype: np.dtype[Any]) -> str:
    """The type of elements of DTYPE, such as 'bool'; '' if it is the stored type."""
    return {"b": "bool", "U": "str"}.get(dtype.kind, "float16" if dtype == np.float16 else "")


def _spacious(dtype: np.dtype[Any]) -> tuple[np.dtype[Any], dict[str, Any]]:
    """The stored type for any texts of DTYPE, and the marks that restore their number of letters."""
    letters = max(1, dtype.itemsize // 4)
    return np.dtype(f"S{4 * letters}"), _UTF8 | {_MARK: f"U{letters}"}


def restored(data: Array, dtype: np.dtype[Any]) -> Array:
    """Stored DATA converted to DTYPE, which is the dtype that they stand for, or a wider one."""
    if dtype == data.dtype:
        return data
    if dtype.kind == "U":
        flat = [text.decode("utf-8", "surrogateescape") for text in data.reshape(-1)]
        letters = max([dtype.itemsize // 4, *map(len, flat)])  # others may store more letters than the mark says
        return np.array(flat, f"U{letters}").reshape(data.shape)
    return data.astype(dtype)


def _is_uniform(value: Any, array: Array) -> bool:
    """Whether numpy has made texts only of texts."""
    text = {"U": str, "S": bytes}.get(array.dtype.kind)
    return text is None or all(isinstance(each, text) for each in np.asarray(value, object).flat)


def rectangular(value: Any, name: str, dtype: Any = None) -> Array:
    """VALUE as an array; nested lists of several lengths are none, nor are texts among numbers."""
    try:
        array = np.asarray(value, dtype)
        if dtype is None and array.dtype.kind == "U" and not isinstance(value, np.ndarray):
            array = np.asarray(_texts(value))  # numpy cuts the name of a member to the length of its text
        if dtype is None and isinstance(value, list | tuple) and not _is_uniform(value, array):
            raise TypeError(f"'{name}': the list mixes texts with other values: make all of them texts, or all numbers")
        return array
    except ValueError as error:
        if "inhomogeneous" not in str(error):
            raise
        raise ValueError(
            f"'{name}': rows of different lengths are no array: put all elements one after another "
            "(np.concatenate(rows)), and the lengths as a dataset of their own"
        ) from None


def _texts(value: Any) -> Any:
    """VALUE, a text or nested lists, with the text of each member of an Enum."""
    if isinstance(value, list | tuple):
        return [_texts(each) for each in value]
    return value.value if isinstance(value, enum.Enum) else value


def given(value: Any, name: str, dtype: Any = None) -> Array:
    """As rectangular, but members of an IntEnum, which numpy makes plain numbers, stay members."""
    first = value
    while isinstance(first, list | tuple) and first:
        first = first[0]
    if dtype is None and isinstance(first, int) and isinstance(first, enum.Enum) and not isinstance(first, enum.Flag):
        members = np.asarray(value, object)
        if {type(member) for member in members.flat} == {type(first)}:
            return members
    return rectangular(value, name, dtype)


def utf8(text: str, name: str) -> bytes:
    """TEXT of dataset or attribute NAME; undone by decoding with the same surrogateescape."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise ValueError(
            f"'{name}': {error.object[error.start]!r} is half of a UTF-16 pair, which UTF-8 cannot hold"
        ) from None


def texts_of(array: Array, name: str) -> Array:
    """An array of str as bytes, as long as the longest."""
    texts = [utf8(str(_texts(text)), name) for text in array.flat]
    return np.array(texts, f"S{max([1, *map(len, texts)])}").reshape(array.shape)


def _is_number(member: Any) -> bool:
    """Whether MEMBER is of an Enum, and is no text."""
    return isinstance(member, enum.Enum) and not isinstance(member, str)


def _members(array: Array, name: str) -> tuple[Array, dict[str, Any]]:
    """An array of members of one Enum as their values, with the attributes that CF has for them."""
    kinds = {type(member) for member in array.flat}
    values = np.array([member.value for member in array.flat])
    if len(kinds) > 1 or values.dtype.kind not in "iu" or values.ndim != 1:
        raise TypeError(f"'{name}': members of one Enum whose values are whole numbers can be stored, not these")
    kind = kinds.pop()
    return values.reshape(array.shape), flags({each.name: each.value for each in kind})


def flags(values: Mapping[str, int]) -> dict[str, Any]:
    """CF's attributes for numbers that stand for names."""
    return {"flag_values": np.array(list(values.values())), "flag_meanings": " ".join(values)}


def storable(value: Any, name: str, *, alike: bool = False) -> tuple[Array, dict[str, Any]]:
    """VALUE as the library takes it, and the attributes by which other elements than that come back.

    It is VALUE itself where its strides are positive multiples of its elements, else a copy. Texts are as long as the
    longest, but where ranks must define them ALIKE as their dtype allows.
    """
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise TypeError(f"'{name}' has masked elements: put a.filled(value), with the attribute _FillValue")
    data = given(value, name)
    marks: dict[str, Any] = {}
    if data.dtype.kind == "O" and data.size and all(_is_number(each) for each in data.flat):
        data, marks = _members(data, name)
    elif data.dtype.kind == "U" and alike:
        spacious, marks = _spacious(data.dtype)
        data = texts_of(data, name).astype(spacious)
    elif data.dtype.kind == "U" or (
        data.dtype.kind == "O" and data.size and all(isinstance(t, str) for t in data.flat)
    ):
        data, marks = texts_of(data, name), _UTF8
    elif data.dtype.kind == "b":
        data, marks = data.view("i1"), _BOOL
    elif data.dtype.kind == "f" and data.dtype.itemsize == 2:
        data, marks = data.astype("f4"), _HALF
    elif data.dtype.kind == "S" and data.dtype.itemsize == 0:
        data = data.astype("S1")
    elif data.dtype.metadata and "enum" in data.dtype.metadata:  # h5py's
        marks = flags(data.dtype.metadata["enum"])
    type_of(data.dtype, name)
    if not data.dtype.isnative:
        data = data.astype(data.dtype.newbyteorder("="))
    if any(stride <= 0 or stride % data.itemsize for stride in data.strides) or not data.flags.aligned:
        data = np.array(data, order="C", copy=True)
    return data, dict(marks)


def stored_as(dtype: np.dtype[Any], name: str) -> tuple[np.dtype[Any], dict[str, Any]]:
    """The dtype in which elements of DTYPE are stored, and their attributes."""
    if dtype.kind in "SU" and not dtype.itemsize:
        raise TypeError(f"'{name}': texts need a length in bytes or letters: dtype='{dtype.kind}20'")
    if dtype.kind == "U":
        return _spacious(dtype)
    data, marks = storable(np.zeros(1, dtype), name)
    return data.dtype, marks


_EXACT = {2: 11, 4: 24, 8: 53}  # bits that a float of so many bytes holds of a whole number


def is_lossless(source: np.dtype[Any], target: np.dtype[Any]) -> bool:
    """Whether TARGET can hold every value of SOURCE exactly."""
    if source.kind in "iu" and target.kind in "fc":
        bits = 8 * source.itemsize - (source.kind == "i")
        return bits <= _EXACT.get(target.itemsize // (2 if target.kind == "c" else 1), 0)
    return (source.kind in "SU") == (target.kind in "SU") and bool(np.can_cast(source, target, "safe"))


def widened(dtype: Any, own: np.dtype[Any], name: str) -> np.dtype[Any]:
    """The dtype in which to return dataset NAME, whose elements are OWN: DTYPE, or OWN if DTYPE is None."""
    if dtype is None:
        return own
    wanted: np.dtype[Any] = np.dtype(dtype)
    if not is_lossless(own, wanted):
        raise TypeError(
            f"'{name}' has elements of {own}, which {wanted} cannot hold without loss: read them and use astype"
        )
    return wanted


def fitting(value: Any, own: np.dtype[Any], stored: np.dtype[Any], name: str) -> Array:
    """VALUE as elements of dataset NAME: of dtype OWN, which is stored as STORED.

    Nothing is rounded, except Python's own numbers that fit.
    """
    data = rectangular(value, name)
    if isinstance(value, list | tuple) and not data.size:
        data = data.astype(own)
    if own.kind == "U" and data.dtype.kind in "UO":
        texts, letters = texts_of(data, name), max([0, *(len(str(_texts(text))) for text in data.flat)])
        if texts.itemsize > stored.itemsize:
            raise ValueError(f"'{name}' has texts of {stored.itemsize} bytes: one of {texts.itemsize} is too long")
        if letters > own.itemsize // 4:
            raise ValueError(f"'{name}' has texts of {own.itemsize // 4} letters: one of {letters} is too long")
        return texts.astype(stored)
    if own.kind == "U" and data.dtype.kind == "S" and data.itemsize <= own.itemsize // 4:
        return data.astype(stored)
    if is_lossless(data.dtype, own):
        return data.astype(own)
    if own.kind == "S" and data.dtype.kind == "U":
        raise TypeError(f"'{name}' has elements of bytes, {own}: encode the texts, text.encode()")
    weak = not isinstance(value, np.ndarray | np.generic)
    with np.errstate(all="ignore"):
        cast = data.astype(own) if weak and data.dtype.kind in "biuf" and own.kind in "iufc" else None
    if cast is not None and bool(
        (np.isfinite(cast) == np.isfinite(data) if data.dtype.kind == "f" and own.kind in "fc" else cast == data).all()
    ):
        return cast
    raise TypeError(
        f"'{name}' has elements of {own}, which cannot hold those of {data.dtype} without loss: convert them, "
        f"a.astype('{own}')"
    )
