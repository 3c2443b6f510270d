// Results: everything that a campaign measured, as rank 0 holds it. Nothing here is a statistic yet.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <penstock/file.hpp>
#include <penstock/phase.hpp>
#include <penstock/status.hpp>

#include "bench/case.hpp"

namespace penstock::bench {

enum class Operation : uint8_t { write, read };
inline constexpr int operation_count = 2;
std::string_view name(Operation operation);

// Sums over all ranks of what a Report counts.
struct Counts {
  int64_t bytes = 0;
  int64_t file_calls = 0;
  int64_t file_bytes = 0;
  int64_t metadata_calls = 0;
  int64_t messages = 0;
  int64_t message_bytes = 0;
  int64_t memory_peak = 0;       // of the rank that held most, no sum: bytes beyond the data
  int64_t resident_growth = -1;  // of the rank whose resident memory grew most, whoever asked for it; -1: not known
  int64_t writers = 0;           // ranks that opened files for data
};

// One operation of one method in one repetition.
struct Sample {
  double seconds = 0;                // of the slowest rank
  std::vector<double> rank_seconds;  // of every rank
  PhaseTimes phases;                 // each of its slowest rank
  Counts counts;
  double copy_seconds = 0;     // behind a compute phase: of copying the data once, on the slowest rank
  double compute_seconds = 0;  // of the phase alone
  double behind_seconds = 0;   // data moved while the program computed
  double resident = 0;         // read: fraction of the file in the page cache before it
};

struct Series {
  std::string plan;  // as it ran
  Report report;     // of the last run on rank 0: what the file system, the hints and the transport had to say
  std::optional<Sample> warmup;
  std::vector<Sample> samples;
};

// As many as an interval needs.
inline constexpr int slow_repetitions = 6;

struct Outcome {
  Method method;
  std::array<Series, operation_count> series;
  Status error;                   // the first; a method that failed takes no further part
  std::string dropped;            // why it was not measured after the warm-up; "" where it was
  std::string slow;               // why it was measured in slow_repetitions only; "" where it was not
  int checks = 0;                 // read-backs whose every element and digest was right
  int library_checks = 0;         // the same by a reader that is not ours
  std::string library;            // its name; "" where the bench knows none
  std::vector<uint64_t> digests;  // by repetition, the warm-up first
  bool verified() const { return error.ok() && (checks > 0 || method.reference); }
  // Whether it takes part in REPETITION.
  bool runs(int repetition) const {
    return error.ok() && dropped.empty() && (slow.empty() || repetition <= slow_repetitions);
  }
};

// Of one case.
struct Results {
  std::vector<Outcome> outcomes;           // in the order of Case::methods
  std::vector<std::vector<size_t>> order;  // of the methods, by repetition, the warm-up first
  std::vector<uint64_t> expected_digests;  // by repetition, from the formula alone
  std::string stopped;           // why before all repetitions were made: "time limit", "half-width"; "" where not
  int writers = 0, readers = 0;  // ranks
  double competed_seconds = 0;   // of runs beside competitors, and what all of these wrote meanwhile
  int64_t competed_bytes = 0;
  bool ok() const;
};

// One method of one case, in one repetition.
struct Turn {
  size_t case_index = 0;
  size_t method = 0;
};

// Of a whole run.
struct Measured {
  std::vector<Results> cases;            // in the order of Options::cases
  std::vector<std::vector<Turn>> order;  // by repetition, the warm-up first
  std::string stopped;
  bool ok() const;
};

}  // namespace penstock::bench
