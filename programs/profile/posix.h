/* posix.h: shared by posix.c and stdio.c: descriptors, and the counting of opens and closes. */
#ifndef PENSTOCK_PROFILE_POSIX_H
#define PENSTOCK_PROFILE_POSIX_H

#include "profile.h"

/* Stores the file of FD in FRAME; FRAME is skipped if there is none. */
void know_descriptor(struct frame *frame, int fd);
void note_descriptor(int fd, int path, int appends);
void note_open(int module, int path, int fd, int counter, const struct frame *frame);
void note_close(int module, const struct frame *frame);

#endif
