// Cores: from the process's affinity and the number of ranks.
#include "core/comm/cores.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>

#include "core/comm/library.hpp"

namespace penstock {

namespace {

long cores() { return std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)); }

}  // namespace

double share_of_cores(const Communicator& comm) {
  const long all = cores();
  cpu_set_t bound;
  const bool known = ::sched_getaffinity(0, sizeof bound, &bound) == 0;
  const double own = known ? std::max(1, CPU_COUNT(&bound)) : static_cast<double>(all);
  const int ranks = comm->node_size() + std::max(0, program_size() - comm->size());
  return std::min({comm->threads_allowed() ? own : 1.0, own, static_cast<double>(all) / std::max(1, ranks)});
}

bool outnumber_cores(const Communicator& comm) { return comm->node_size() > cores(); }

int workers_of(const Communicator& comm) { return std::max(1, static_cast<int>(share_of_cores(comm))); }

}  // namespace penstock
