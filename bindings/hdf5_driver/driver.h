/* driver.h: what the functions that are in front of HDF5's and the driver tell each other, in one thread. */
#pragma once

#include <hdf5.h>

/* It is in H5Dwrite, which is no collective call: no other rank need be in it. */
extern __thread int writes_alone;

/* The MPI_File of the last file of ours whose handle was asked for. */
extern __thread void *asked_file;

/* While HDF5 opens a file by the list WITH: a copy of GIVEN, which is the program's and has mpio, with our driver. */
struct lists {
  hid_t given, with;
};
extern __thread struct lists opened_by;
