"""studies: statistics of interleaved repetitions, and the published studies that use them."""
