// Windows: what both ways of comparing two open files need: their elements side by side, on all ranks.
#pragma once

#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include <penstock/file.hpp>

#include "programs/diff/options.hpp"

namespace penstock::program {

// Collective. Each rank compares a share of the elements of two datasets of one shape, and all ranks take part in all
// rounds: VISIT gets COUNT elements of both, from linear index AT on. A rank needs two windows of 8 MiB.
using Visit = std::function<void(const std::byte* a, const std::byte* b, int64_t count, int64_t at)>;
Status for_each_window(File& a, const DatasetInfo& in_a, File& b, const DatasetInfo& in_b, const Visit& visit);

// Local. Code::not_found for a requested dataset that neither file has.
Status check_only(const Options& options, const File& a, const File& b);
bool is_wanted(const Options& options, const std::string& name);
// Local. Rank 0 prints what cannot be read, and so not compared. Returns whether there is none.
bool tell_unread(const Options& options, const File& a, const File& b);

nlohmann::json index_of(const Dims& shape, int64_t offset);

// Collective. MINE of all ranks added up, the same on all. REQUIRES: Sum is plain bytes.
template <typename Sum>
Result<Sum> add_up(const Communicator& comm, const Sum& mine) {
  PENSTOCK_ASSIGN(const auto all, comm->gather(std::as_bytes(std::span(&mine, 1)), 0));
  Sum sum;
  for (const auto& one : all) {
    Sum other;
    std::memcpy(&other, one.data(), sizeof other);
    sum.add(other);
  }
  std::vector<std::byte> said(sizeof sum);
  std::memcpy(said.data(), &sum, sizeof sum);
  PENSTOCK_TRY(comm->broadcast(said, 0));
  std::memcpy(&sum, said.data(), sizeof sum);
  return sum;
}

}  // namespace penstock::program
