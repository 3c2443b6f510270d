// Described: a small machine whose resources are easy to count by hand, and what methods ask of it.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "bench/simulate/demand.hpp"
#include "bench/simulate/machine.hpp"

namespace penstock::bench {

inline constexpr int64_t MiB = 1 << 20;

inline nlohmann::json described() {
  return nlohmann::json::parse(R"({
    "name": "M",
    "nodes": {"count": 64, "cores": 4, "memory_rate": 1e12, "link_rate": 1e12, "message_seconds": 1e-9},
    "servers": {"count": 2, "rate": 1e12},
    "targets": {"count": 4, "write_rate": 1e8, "read_rate": 2e8, "call_seconds": 0},
    "file_system": {"kind": "gpfs", "block": 1048576, "smallest": 4096, "stripe_count": 0, "call_seconds": 1e-9,
                    "lock_servers": 1, "grant_seconds": 0, "lock_seconds": 0},
    "metadata": {"create_seconds": 0, "open_seconds": 0, "entries": 1000}})");
}

inline Machine machine() { return *read_machine(described()); }

// Blocks of 64 ranks, 4 on a node, 1 MiB each.
inline Demand demand(const std::string& method, const Machine& on, bool write = true,
                     const std::string& workload = "block2d") {
  CaseWords words;
  words.workload = workload;
  words.per_rank = "1MiB";
  words.methods = {method};
  words.given.request.ranks_per_node = 4;
  const Case what = *make_case(words);
  auto found = demand_of({what, 64, 4, write}, what.methods[0], on);
  EXPECT_TRUE(found.ok()) << found.status().message();
  return found ? *found : Demand{};
}

}  // namespace penstock::bench
