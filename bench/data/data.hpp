// Data: what the elements of a workload are, where they are not numbers that say where they belong.
//
// Compression depends on the values. These are like those of programs: each is a function of the run's seed, the
// repetition, its dataset and its index alone, so that any rank can fill and verify any part.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/status.hpp>

#include "bench/workload/workload.hpp"

namespace penstock::bench {

// Immutable and the same on all ranks; functions are local.
class Values {
 public:
  virtual ~Values() = default;
  // The elements of field number FIELD from OFFSET on, as many as fit in OUT, in native byte order. KEY is different
  // for each repetition and seed.
  virtual void fill(uint64_t key, int field, int64_t offset, std::span<std::byte> out) const = 0;
};

uint64_t data_key(uint64_t seed, int repetition);

using MadeData = Result<std::shared_ptr<const Values>>;

struct DataKind {
  std::string_view name;
  std::string_view summary;
  MadeData (*make)(const std::vector<Field>& fields);
};

// The first is "numbers", which makes null: the values of workload/numbering.hpp.
std::span<const DataKind> data_kinds();
const DataKind* find_data(std::string_view name);

// One file in this folder for each family.
MadeData make_smooth(const std::vector<Field>& fields);
MadeData make_turbulence(const std::vector<Field>& fields);
MadeData make_clusters(const std::vector<Field>& fields);
MadeData make_sample(const std::vector<Field>& fields);
MadeData make_random(const std::vector<Field>& fields);

}  // namespace penstock::bench
