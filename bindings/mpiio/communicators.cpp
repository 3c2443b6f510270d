// Communicators: a list, of which all ranks of a communicator have those of its ranks alike.
#include "bindings/mpiio/communicators.hpp"

#include <algorithm>
#include <vector>

#include <penstock/mpi.hpp>
#include "bindings/mpiio/settings.hpp"
#include "core/comm/mpi/native.hpp"

namespace penstock::mpiio {
namespace {

constexpr int64_t most_shared = 8;  // their shared memory stays until MPI ends

struct Shared {
  Communicator comm;
  bool used = false;
};

std::vector<Shared>& shared() {
  static auto& list = *new std::vector<Shared>;
  return list;
}

}  // namespace

Result<Communicator> communicator_for(MPI_Comm comm, const std::string& path) {
  for (const Shared& one : shared()) {
    int alike = MPI_UNEQUAL;
    MPI_Comm_compare(comm, native(*one.comm), &alike);
    if (alike == MPI_CONGRUENT && !one.used) return one.comm;
  }
  return mpi_communicator(comm, path);
}

bool may_share_communicators() { return run_settings().waits && !threads_call() && std::ssize(shared()) < most_shared; }

void use_communicator(const Communicator& comm, bool with_others) {
  const auto known = std::ranges::find(shared(), comm, &Shared::comm);
  if (known != shared().end())
    known->used = true;
  else if (with_others)
    shared().push_back({comm, true});
}

void leave_communicator(const Communicator& comm) {
  const auto known = std::ranges::find(shared(), comm, &Shared::comm);
  if (known != shared().end()) known->used = false;
}

void drop_communicator(const Communicator& comm) {
  std::erase_if(shared(), [&](const Shared& one) { return one.comm == comm; });
}

void free_communicators() { shared().clear(); }

}  // namespace penstock::mpiio
