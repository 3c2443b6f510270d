/* driver.h: what the functions that are in front of HDF5's and the driver tell each other, in one thread. */
#pragma once

/* It is in H5Dwrite, which is no collective call: no other rank need be in it. */
extern __thread int writes_alone;

/* The MPI_File of the last file of ours whose handle was asked for. */
extern __thread void *asked_file;
