/* frames.h: process data that frames.c and save.c share. */
#ifndef PENSTOCK_PROFILE_FRAMES_H
#define PENSTOCK_PROFILE_FRAMES_H

#include "profile.h"

struct process {
  int pid, rank, ranks, by_mpi;
  int64_t begin;    /* nanoseconds since 1970 */
  int64_t calls;    /* recorded */
  int64_t io;       /* nanoseconds in outermost calls, of all threads */
  int64_t recorder; /* nanoseconds of recording overhead */
};
extern struct process this_process;

int64_t now(void); /* nanoseconds since the process's begin */
/* Records the parent process and this process's rank, and clears the recorded calls. */
void describe_process(void);
void save_locked(int last);
/* save.c: writes the file of this process. LAST: the process ends now. */
void write_profile(int last);

#endif
