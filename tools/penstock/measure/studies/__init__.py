"""studies: what is computed of interleaved repetitions, and the published studies made of it."""
