/* trace.h: counts this process's system calls on one file, from any caller in the process. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  trace_writes,
  trace_write_bytes,
  trace_largest_write,
  trace_first_written, /* offset; -1: nothing */
  trace_end_written,
  trace_reads,
  trace_read_bytes,
  trace_largest_read,
  trace_first_read,
  trace_end_read,
  trace_syncs,
  trace_locks,  /* fcntl locks taken */
  trace_direct, /* calls through an O_DIRECT descriptor */
  trace_fields
};

/* Starts counting calls on the file with this device and inode number, from zero. */
void trace_start(dev_t device, ino_t inode);
/* Ends counting. COUNTS has trace_fields elements. aio requests count as calls when they are submitted. */
void trace_stop(int64_t *counts);

#ifdef __cplusplus
}
#endif
