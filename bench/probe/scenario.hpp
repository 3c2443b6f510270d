// Scenario: one small access through MPI-IO, with the resulting system calls of every rank.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "bench/probe/trace.h"

namespace penstock::probe {

using Hints = std::map<std::string, std::string>;
using Counts = std::array<int64_t, trace_fields>;

struct Seen {
  std::string error;          // "" if all calls of all ranks succeeded and the bytes are correct
  std::vector<Counts> ranks;  // of each rank; on rank 0
  Hints reported;             // by MPI_File_get_info
};

// Collective over the world. OPERATION is write, read (collective, strided), write_independent, read_independent
// (strided) or write_blocks (collective, one block per rank). Creates and removes the file PATH.
Seen run_scenario(const std::string& operation, const Hints& hints, const std::string& path);
bool is_operation(const std::string& operation);

}  // namespace penstock::probe
