/* frames.c: calls in progress in each thread, the lock of the tables, and start, fork, save and end of the recorder. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "frames.h"

struct process this_process;

static int active;    /* between the constructor and the destructor */
static int lock_word; /* 1: taken */
static int64_t zero;  /* monotonic nanoseconds at the start */
static int64_t saved_at, save_every;
static __thread struct frame *current __attribute__((tls_model("initial-exec")));
static __thread int busy __attribute__((tls_model("initial-exec")));

static int64_t clock_of(clockid_t id) {
  struct timespec t;
  clock_gettime(id, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t now(void) { return clock_of(CLOCK_MONOTONIC) - zero; }

/* The handler of a signal that arrives meanwhile finds the thread busy, and does not deadlock here. */
static void take(void) {
  while (__atomic_exchange_n(&lock_word, 1, __ATOMIC_ACQUIRE) != 0) sched_yield();
}
static void give(void) { __atomic_store_n(&lock_word, 0, __ATOMIC_RELEASE); }

int is_recording(void) { return __atomic_load_n(&active, __ATOMIC_RELAXED) && !busy; }

int set_busy(int on) {
  const int was = busy;
  busy = on;
  return was;
}

void *begin_frame(struct frame *frame, struct function *function, const word *arguments, const void *caller) {
  frame->function = 0;
  if (!is_recording()) return next_of(function, arguments, caller);
  const int error = errno;
  const int64_t entered = now();
  void *next = next_of(function, arguments, caller);
  while (current != 0 && (char *)current <= (char *)frame) current = current->outer; /* left by longjmp */
  *frame = (struct frame){
      .function = function, .outer = current, .from = caller, .arguments = arguments, .entered = entered};
  busy = 1;
  if (function->before != 0) {
    take();
    function->before(frame, arguments);
    give();
  }
  if (current == 0 && !frame->skip) frame->caller = call_site(caller);
  busy = 0;
  current = frame;
  errno = error;
  frame->start = now();
  return next;
}

static void give_to(struct frame *outer, const struct frame *frame) {
  const int through_mpi = frame->function->interface == in_mpiio;
  for (int way = 0; way < 2; ++way) {
    outer->bytes[0][way] += frame->bytes[0][way];
    outer->bytes[1][way] += through_mpi ? 0 : frame->bytes[1][way];
  }
  if (through_mpi && outer->function->interface != in_mpiio)
    for (int way = 0; way < 2; ++way) outer->bytes[1][way] += frame->bytes[1][way];
  outer->below += frame->function->interface <= in_stdio ? frame->end - frame->start : frame->below;
  if (frame->file > others) outer->file = frame->file;
}

word end_frame(struct frame *frame, word result) {
  if (frame->function == 0) return result;
  frame->end = now();
  const int error = errno;
  busy = 1;
  take();
  if (!frame->skip && frame->function->after != 0) frame->function->after(frame, frame->arguments, result);
  current = frame->outer;
  if (!frame->skip) {
    if (current != 0) {
      give_to(current, frame);
    } else {
      add_row(frame);
      this_process.io += frame->end - frame->start;
    }
    ++this_process.calls;
  }
  const int64_t over = now();
  this_process.recorder += over - frame->end + frame->start - frame->entered;
  if (save_every > 0 && over - saved_at > save_every) save_locked(0);
  give();
  busy = 0;
  errno = error;
  return result;
}

void set_ranks(int rank, int ranks) {
  this_process.rank = rank;
  this_process.ranks = ranks;
  this_process.by_mpi = 1;
}

int is_own_process(void) { return getpid() == this_process.pid; }

void save_locked(int last) {
  saved_at = now();
  if (!is_own_process()) return;
  if (this_process.calls > 0 || this_process.by_mpi) write_profile(last);
  if (last) __atomic_store_n(&active, 0, __ATOMIC_RELAXED);
}

void save(int last) {
  if (!__atomic_load_n(&active, __ATOMIC_RELAXED) || busy) return;
  busy = 1;
  take();
  save_locked(last);
  give();
  busy = 0;
}

/* --- begin and end of the process --- */

static void before_fork(void) {
  if (!busy) take();
}
static void after_fork(void) {
  if (!busy) give();
}

static void in_child(void) {
  if (__atomic_load_n(&active, __ATOMIC_RELAXED)) {
    clear_tables();
    describe_process();
    this_process.by_mpi = 0;
  }
  __atomic_store_n(&lock_word, 0, __ATOMIC_RELEASE);
}

static int number_in(const char *const *names) {
  for (; *names != 0; ++names) {
    const char *text = getenv(*names);
    if (text != 0 && text[0] >= '0' && text[0] <= '9') return atoi(text);
  }
  return -1;
}

void describe_process(void) {
  static const char *const rank[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK", 0};
  static const char *const ranks[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", 0};
  static const char *const task[] = {"SLURM_PROCID", 0}, *const tasks[] = {"SLURM_STEP_NUM_TASKS",
                                                                           0}; /* of srun, not of a script */
  zero = clock_of(CLOCK_MONOTONIC);
  this_process = (struct process){
      .pid = getpid(), .begin = clock_of(CLOCK_REALTIME), .rank = number_in(rank), .ranks = number_in(ranks)};
  if (this_process.ranks < 0 && number_in(tasks) > 0) {
    this_process.rank = number_in(task);
    this_process.ranks = number_in(tasks);
  }
  if (this_process.rank < 0 || this_process.ranks <= this_process.rank) this_process.rank = 0, this_process.ranks = 1;
}

/* Programs that start the ranks are not part of the program. */
static int is_launcher(void) {
  static const char *const names[] = {"mpiexec", "mpirun",          "orterun",
                                      "orted",   "prterun",         "prted",
                                      "prte",    "hydra_pmi_proxy", "hydra_bstrap_proxy",
                                      "srun",    "slurmstepd",      "slurm_script",
                                      "ssh",     "aprun",           "jsrun",
                                      "palsd"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
    const size_t n = strlen(names[i]);
    const char *name = program_invocation_short_name;
    if (strncmp(name, names[i], n) == 0 && (name[n] == 0 || name[n] == '.')) return 1;
  }
  return 0;
}

__attribute__((constructor)) static void start(void) {
  const char *folder = getenv("PENSTOCK_PROFILE_DIR"), *every = getenv("PENSTOCK_PROFILE_EVERY");
  if (folder == 0 || folder[0] == 0 || is_launcher() || make_tables() != 0) return;
  call_site((const void *)start); /* the unwinder reads its tables now */
  describe_process();
  save_every = (int64_t)((every == 0 ? 30.0 : atof(every)) * 1e9);
  pthread_atfork(before_fork, after_fork, in_child);
  __atomic_store_n(&active, 1, __ATOMIC_RELEASE);
}

__attribute__((destructor)) static void stop(void) { save(1); }
