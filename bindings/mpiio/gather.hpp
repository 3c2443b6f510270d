// Gather: small collective writes of all ranks through one of them, another one for each call. The ranks go on before
// their data is in the file, and hear of it when they next use the file.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <penstock/status.hpp>

#include "bindings/mpiio/runs.hpp"

namespace penstock::mpiio {

struct File;

constexpr int64_t most_gathered = 2 << 20;  // bytes of all ranks in one call, with what describes them

struct Place {
  int64_t offset, length;
};

// What the writer of a call tells all ranks.
struct Answer {
  std::vector<int64_t> words;  // the maxima over all ranks
  Status status;               // of the writing
  bool scattered = false;      // by many calls of the file system: an exchange would do better
};

// The call in progress, if there is one.
struct Gathering {
  int64_t calls = 0;
  int writer = -1;  // whose answer is missing; -1: none
  std::vector<std::byte> message;
  std::vector<MPI_Request> sends;     // and barriers
  std::unique_ptr<std::byte[]> room;  // for the messages of all, where this rank was a writer
  std::optional<Answer> answer;       // that nobody has taken yet
};

// Collective; it waits for the other ranks only in the writer. A rank with more than its share of most_gathered writes
// its runs by itself.
Status gather(File& file, std::span<const int64_t> words, std::vector<Run> runs);

// Only this rank calls it, but it waits for the others' calls before. When it returns, the file has what this rank has
// sent, and the answer is there; and what all ranks wrote by themselves in a collective call.
Status settle(File& file);

}  // namespace penstock::mpiio
