// Pattern: ranks' file accesses, call by call, in one or more variants; docs/formats/pattern.md describes the files.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <penstock/communicator.hpp>

namespace penstock::bench {

enum class Act : int32_t { write, read, open, close, stat, sync, broadcast };
inline constexpr int32_t acts = 7;

// As stored in the file, little-endian. The next action of one rank; pieces of one MPI-IO call have the same number.
struct Step {
  Act act = Act::write;
  int32_t file = 0;    // index among the variant's files; for a broadcast the rank with the bytes
  int64_t offset = 0;  // bytes
  int64_t length = 0;
  int64_t call = 0;
};
static_assert(sizeof(Step) == 32);

enum class Interface : uint8_t { posix, mpiio };

// One variant. STEPS and DATA are those of this rank.
struct Variant {
  std::string name;
  Interface interface = Interface::posix;
  bool collective = false;  // MPI-IO: all ranks make the same calls; one file
  bool views = false;       // calls have several pieces each, in a file view; one view for all if they ascend
  std::map<std::string, std::string> hints;
  int files = 1;
  std::vector<Step> steps;

  bool writes() const { return std::ranges::count(steps, Act::write, &Step::act) > 0; }
  int64_t bytes() const;  // read and written by this rank
};

// The other variants are compared with the first.
struct PatternCase {
  std::string name;
  std::vector<Variant> variants;
};

// Collective; same status on all ranks.
Result<std::vector<PatternCase>> read_pattern(const Communicator& comm, const std::string& path);

// Local. The first variant of the first case, as each rank has it.
Result<std::vector<Variant>> read_first_variant(const std::string& path);

// The contents of a file at OFFSET, whichever rank writes it and however often.
void fill_content(int64_t offset, std::span<std::byte> into);
// The first byte of FOUND that differs from the file's contents from OFFSET on; -1 if none does.
int64_t first_wrong(int64_t offset, std::span<const std::byte> found);

}  // namespace penstock::bench
