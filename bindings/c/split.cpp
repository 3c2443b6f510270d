// Splits off I/O servers: the one place that uses both MPI and the server code.
#include <penstock.h>

#if PENSTOCK_HAVE_MPI
#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <vector>

#include <fmt/format.h>
#include <penstock/mpi.hpp>

#include "core/comm/mpi/at_finalize.hpp"
#include "core/comm/mpi/server_ranks.hpp"
#include "core/transport/servers/ranks.hpp"

namespace penstock {
namespace {

// Splits whose servers still wait for this rank to say goodbye.
std::mutex open_mutex;
std::vector<std::shared_ptr<const ServerRanks>>& open_splits() {
  static auto& list = *new std::vector<std::shared_ptr<const ServerRanks>>;
  return list;
}

void dismiss_all() {
  std::lock_guard lock(open_mutex);
  for (const auto& ranks : open_splits()) (void)say_goodbye(*ranks);
  open_splits().clear();
}

void remember(std::shared_ptr<const ServerRanks> ranks) {
  std::lock_guard lock(open_mutex);
  static const bool asked = [] {
    at_finalize(dismiss_all);
    return true;
  }();
  (void)asked;
  open_splits().push_back(std::move(ranks));
}

// The environment of rank 0 decides for all ranks.
Result<int> wanted_servers(const Communicator& all) {
  int64_t wanted = 0;
  if (all->rank() == 0) {
    wanted = std::max(1, all->size() / 16);
    if (const char* said = std::getenv("PENSTOCK_SERVER_RANKS"); said != nullptr && *said != '\0') {
      char* end = nullptr;
      wanted = std::strtol(said, &end, 10);
      if (*end != '\0') wanted = -1;
    }
  } else {
    wanted = INT64_MIN;
  }
  PENSTOCK_TRY(all->all_reduce_max(std::span(&wanted, 1)));
  if (wanted < 1 || wanted >= all->size())
    return Status(
        Code::invalid,
        fmt::format("PENSTOCK_SERVER_RANKS, or one of 16 ranks: of {} ranks at least one has to serve and one to "
                    "compute",
                    all->size()));
  return static_cast<int>(wanted);
}

}  // namespace

Status split_servers(MPI_Comm comm, MPI_Comm* compute) {
  *compute = MPI_COMM_NULL;
  if (comm == MPI_COMM_NULL) return {Code::invalid, "MPI_COMM_NULL cannot be split into servers and compute ranks"};
  int servers = 0;
  {
    PENSTOCK_ASSIGN(const Communicator all, mpi_communicator(comm));
    PENSTOCK_ASSIGN(servers, wanted_servers(all));
  }
  PENSTOCK_ASSIGN(const auto ranks, set_servers_apart(comm, servers, compute));
  if (*compute == MPI_COMM_NULL) return serve(*ranks);
  remember(ranks);
  return {};
}

Status unsplit_servers(MPI_Comm* compute) {
  if (*compute == MPI_COMM_NULL) return {};
  const auto ranks = attached_servers(*compute);
  if (!ranks) return {Code::invalid, "this communicator is not one that penstock_split made"};
  {
    std::lock_guard lock(open_mutex);
    const auto gone = std::erase(open_splits(), ranks);
    if (gone == 0) return {Code::invalid, "the servers of this communicator were dismissed already"};
  }
  PENSTOCK_TRY(say_goodbye(*ranks));
  return MPI_Comm_free(compute) == MPI_SUCCESS ? Status() : Status(Code::io, "MPI_Comm_free failed");
}

}  // namespace penstock
#endif
