// Server ranks: selects them, and attaches an attribute to the compute communicator that duplicates inherit.
#include "core/comm/mpi/server_ranks.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/format.h>
#include <penstock/mpi.hpp>

#include "core/comm/mpi/at_finalize.hpp"
#include "core/comm/mpi/native.hpp"
#include "core/comm/share.hpp"

namespace penstock {
namespace {

using Attached = std::shared_ptr<const ServerRanks>;

int copy_attached(MPI_Comm, int, void*, void* from, void* to, int* copied) {
  *static_cast<void**>(to) = new Attached(*static_cast<Attached*>(from));
  *copied = 1;
  return MPI_SUCCESS;
}

int drop_attached(MPI_Comm, int, void* value, void*) {
  delete static_cast<Attached*>(value);
  return MPI_SUCCESS;
}

// Created once per process.
int attribute_key() {
  static const int key = [] {
    int made = MPI_KEYVAL_INVALID;
    MPI_Comm_create_keyval(copy_attached, drop_attached, &made, nullptr);
    at_finalize([made]() mutable { MPI_Comm_free_keyval(&made); });
    return made;
  }();
  return key;
}

// Rank 0: the last ranks of each node in turn, so that every node provides a share.
std::vector<int> choose(std::span<const std::vector<std::byte>> places, int servers) {
  std::vector<std::array<int64_t, 3>> order;  // number of later ranks on its node, the node, the rank
  for (size_t rank = 0; rank < places.size(); ++rank) {
    std::array<int64_t, 3> place{0, 0, static_cast<int64_t>(rank)};
    std::memcpy(place.data(), places[rank].data(), 2 * sizeof(int64_t));
    order.push_back(place);
  }
  std::sort(order.begin(), order.end());
  std::vector<int> chosen;
  for (int s = 0; s < servers; ++s) chosen.push_back(static_cast<int>(order[static_cast<size_t>(s)][2]));
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

Result<std::vector<int>> agree_servers(const Communicator& all, int servers) {
  PENSTOCK_ASSIGN(const Communicator node, all->node());
  int64_t place[2] = {node->size() - 1 - node->rank(), all->rank()};
  PENSTOCK_TRY(node->all_reduce_min(std::span(place + 1, 1)));
  PENSTOCK_ASSIGN(const auto places, all->gather(std::as_bytes(std::span(place)), 0));
  PENSTOCK_ASSIGN(const auto chosen, from_rank_0(all, [&](Encoder& out) -> Status {
                    out.list(std::span<const int>(choose(places, servers)));
                    return {};
                  }));
  return Decoder(chosen).list<int>();
}

}  // namespace

Result<Attached> set_servers_apart(MPI_Comm comm, int servers, MPI_Comm* compute) {
  *compute = MPI_COMM_NULL;
  PENSTOCK_ASSIGN(const Communicator all, mpi_communicator(comm));
  if (servers < 1 || servers >= all->size())
    return Status(Code::invalid, fmt::format("{} of {} ranks cannot be I/O servers: at least one serves, at least one "
                                             "computes",
                                             servers, all->size()));
  auto ranks = std::make_shared<ServerRanks>();
  ranks->all = all;
  PENSTOCK_ASSIGN(ranks->servers, agree_servers(all, servers));
  for (int rank = 0; rank < all->size(); ++rank)
    if (!std::binary_search(ranks->servers.begin(), ranks->servers.end(), rank)) ranks->clients.push_back(rank);
  const bool serves = std::binary_search(ranks->servers.begin(), ranks->servers.end(), all->rank());
  if (MPI_Comm_split(comm, serves ? MPI_UNDEFINED : 0, all->rank(), compute) != MPI_SUCCESS)
    return Status(Code::io, "MPI_Comm_split failed: the compute ranks get no communicator");
  Attached attached = ranks;
  if (!serves && MPI_Comm_set_attr(*compute, attribute_key(), new Attached(attached)) != MPI_SUCCESS)
    return Status(Code::io, "MPI_Comm_set_attr failed: the compute ranks' communicator cannot name its servers");
  return attached;
}

Attached attached_servers(MPI_Comm comm) {
  const auto* attached = static_cast<const Attached*>(attribute_of(comm, attribute_key()));
  return attached == nullptr ? Attached() : *attached;
}

}  // namespace penstock
