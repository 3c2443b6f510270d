/* frames.h: what frames.c and save.c know of this process. */
#ifndef PENSTOCK_PROFILE_FRAMES_H
#define PENSTOCK_PROFILE_FRAMES_H

#include "profile.h"

struct process {
  int pid, rank, ranks, by_mpi;
  int64_t begin;    /* nanoseconds since 1970 */
  int64_t calls;    /* recorded */
  int64_t io;       /* nanoseconds in outermost calls, of all threads */
  int64_t recorder; /* nanoseconds that recording took */
};
extern struct process this_process;

int64_t now(void); /* nanoseconds since the process's begin */
/* Whose child this is, who it is of the ranks, and that nothing was recorded yet. */
void describe_process(void);
void save_locked(int last);
/* save.c: the file of this process. LAST: it ends now. */
void write_profile(int last);

#endif
