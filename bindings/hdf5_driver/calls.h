/* calls.h: the functions of others that the driver calls. It is linked with none of them. */
#pragma once

/* The function NAME that the code at the address CALLER would call, if this library were not in front: the HDF5 that
 * its library is linked with. A process may have several. Null if there is none. */
void *function_of(void *caller, const char *name);

/* The object NAME, as the code at the address CALLER sees it. */
void *object_of(void *caller, const char *name);

/* Says whether what this thread writes until the next call is raw data that one rank writes by itself; at the opening
 * of a file: that this will be said. Returns what was said before. Nothing where libpenstock_mpiio is not. */
int say_raw(int raw);

/* Collective. Moves what the ranks keep back of the file of this MPI_File, and keeps nothing more of it. */
void keep_no_more(void *file);

/* The function NAME of HDF5 as the function that is being executed would find it if it were its caller. */
#define HDF5(name) ((__typeof__(&(name)))function_of(caller, #name))
