/* posix.h: what posix.c and stdio.c share: descriptors, and openings and closings that are counted. */
#ifndef PENSTOCK_PROFILE_POSIX_H
#define PENSTOCK_PROFILE_POSIX_H

#include "profile.h"

/* The file that FD is open on goes into FRAME, which is skipped where there is none. */
void know_descriptor(struct frame *frame, int fd);
void note_descriptor(int fd, int path, int appends);
void note_open(int module, int path, int fd, int counter, const struct frame *frame);
void note_close(int module, const struct frame *frame);

#endif
