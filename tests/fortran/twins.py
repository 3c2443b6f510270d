"""twins.py: two files have the same record of checksums, but for the time, and the same datasets by h5py.

python twins.py FILE FILE
"""

import sys

try:
    import h5py
    import numpy as np
except ImportError as missing:
    print(f"skipped: no Python with h5py: {missing}")
    sys.exit(77)

NAMES = ["complex64", "int32", "int64", "real32", "real64", "text"]


def digests(file: h5py.File) -> list[int]:
    """Name, elements, block and sums of each dataset: words 6 and on, without the record's own sum and zeros behind."""
    words = [int(word) for word in file["_penstock/checksums"]]
    assert words[0] == 0x314D555354534E50
    assert words[4] == len(NAMES)
    return words[6 : words[5] - 1]


with h5py.File(sys.argv[1]) as one, h5py.File(sys.argv[2]) as other:
    assert len(digests(one)) == 4 * len(NAMES), digests(one)
    assert digests(one) == digests(other), "the checksums differ"
    for name in NAMES:
        assert one[name].dtype == other[name].dtype, name
        assert np.array_equal(one[name], other[name]), name
    y, x = np.mgrid[1:13, 1:8]
    assert np.array_equal(one["real64"], 100 * y + x)
print("the same digests")
