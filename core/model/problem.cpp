// Problem: how alike two problems are.
#include "core/model/problem.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

namespace penstock {
namespace {

double apart(int64_t a, int64_t b) {
  const auto log = [](int64_t value) { return std::log2(static_cast<double>(std::max<int64_t>(1, value))); };
  return std::abs(log(a) - log(b));
}

auto kind(const Problem& p) { return std::tie(p.write, p.format, p.placement, p.durable, p.in_memory, p.filesystem); }

}  // namespace

bool same_library(std::string_view one, std::string_view other) { return one == other || one.empty() || other.empty(); }

double distance(const Problem& a, const Problem& b) {
  if (kind(a) != kind(b) || !same_library(a.mpi, b.mpi)) return std::numeric_limits<double>::infinity();
  return apart(a.ranks, b.ranks) + apart(a.ranks_per_node, b.ranks_per_node) + apart(a.bytes, b.bytes) +
         apart(a.blocks, b.blocks) + apart(a.run_bytes, b.run_bytes);
}

}  // namespace penstock
