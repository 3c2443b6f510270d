/* page: shared memory of a test and the processes that it injects faults into, one page for each rank. */
#ifndef PENSTOCK_TESTS_FAULTS_PAGE_H
#define PENSTOCK_TESTS_FAULTS_PAGE_H

#include <stdint.h>
#include <sys/ioctl.h>

/* Kinds of calls, as bits. */
enum {
  call_open = 1,
  call_create = 2,
  call_write = 4,
  call_allocate = 8, /* fallocate, ftruncate, truncate */
  call_sync = 16,
  call_close = 32,      /* of a descriptor that can write */
  call_close_read = 64, /* of one that cannot, or a folder's */
  call_rename = 128,
  call_unlink = 256,
  call_map = 512,
  call_any = 1023,
  call_end = 1024 /* none: after all of them */
};

/* What becomes of a call. */
enum {
  fault_none = 0,
  fault_error = 1,
  fault_short = 2, /* about half of a write */
  fault_slow = 3,
  fault_kill_before = 4,
  fault_kill_after = 5,
  fault_power = 6,      /* the file system stops as if the power were cut, and the process goes on */
  fault_power_kill = 7, /* and the process ends */
  fault_command = 8     /* a command runs before the call, once */
};

/* The ioctl of ext4 and XFS that stops a file system, and its way of losing what is in memory. */
#define power_ioctl _IOR('X', 125, uint32_t)
enum { power_without_log = 2 };

enum { page_log = 1 << 16, page_path = 512 };

/* The file is PENSTOCK_FAULT_PAGES in the environment, a dot, and the rank; a process that a rank starts shares its
    page. The test writes the first part while ACTIVE is 0. */
struct fault_page {
  char folder[page_path];  /* calls on it and on what is below it count */
  char command[page_path]; /* of fault_command */
  uint32_t calls;          /* bits of those that the fault can hit */
  int32_t fault;
  int32_t error;  /* errno */
  int32_t sticky; /* all calls from AT on, not only that one */
  int64_t at;     /* counted from 1; 0: none */
  int32_t slow_microseconds;
  int32_t active;

  int64_t counted; /* calls that could have been hit */
  int64_t struck;  /* how often it did */
  int32_t struck_call;
  int32_t owed; /* errno of a request that io_uring was to carry, for the call that repeats it */
  char struck_path[page_path];
  int64_t logged; /* of all kinds; the first are in LOG */
  uint16_t log[page_log];
};

#endif
