"""profile: what `penstock profile` recorded of a program that knows nothing of penstock, and how it is started."""
