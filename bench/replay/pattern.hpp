// Pattern: what ranks did to files, call by call, in one or several ways; docs/formats/pattern.md describes the files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <penstock/communicator.hpp>

namespace penstock::bench {

enum class Act : int32_t { write, read, open, close, stat, sync, broadcast };
inline constexpr int32_t acts = 7;

// As it lies in the file, little-endian. What one rank does next; pieces of one call of MPI-IO have one number.
struct Step {
  Act act = Act::write;
  int32_t file = 0;    // its place among the variant's files; of a broadcast the rank that has the bytes
  int64_t offset = 0;  // bytes
  int64_t length = 0;
  int64_t call = 0;
};
static_assert(sizeof(Step) == 32);

enum class Interface : uint8_t { posix, mpiio };

// One way. STEPS and DATA are this rank's.
struct Variant {
  std::string name;
  Interface interface = Interface::posix;
  bool collective = false;  // of MPI-IO: all ranks make the same calls; there is one file
  bool views = false;       // calls have several pieces each, in a file view: one for all where they ascend
  std::map<std::string, std::string> hints;
  int files = 1;
  std::vector<Step> steps;

  bool writes() const;
  bool reads() const;
  int64_t bytes() const;  // read and written by this rank
};

// Variants of the first are compared with it.
struct PatternCase {
  std::string name;
  std::vector<Variant> variants;
};

// Collective: one status on all ranks.
Result<std::vector<PatternCase>> read_pattern(const Communicator& comm, const std::string& path);

// What a file holds at OFFSET, whoever writes it and however often.
void fill_content(int64_t offset, std::span<std::byte> into);
// The first byte of FOUND that is not what the file holds at OFFSET and on; -1 where all are.
int64_t first_wrong(int64_t offset, std::span<const std::byte> found);

}  // namespace penstock::bench
