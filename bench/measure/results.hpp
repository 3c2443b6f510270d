// Results: all measurements of a campaign, on rank 0, before statistics.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <penstock/file.hpp>
#include <penstock/phase.hpp>
#include <penstock/status.hpp>

#include "bench/case.hpp"
#include "bench/verify/bound.hpp"

namespace penstock::bench {

enum class Operation : uint8_t { write, read };
inline constexpr int operation_count = 2;
inline std::string_view name(Operation operation) { return operation == Operation::write ? "write" : "read"; }

// Sums over all ranks of the counts in Report.
struct Counts {
  int64_t bytes = 0;
  int64_t file_calls = 0;
  int64_t file_bytes = 0;
  int64_t metadata_calls = 0;
  int64_t messages = 0;
  int64_t message_bytes = 0;
  int64_t memory_peak = 0;       // maximum over ranks, not a sum: bytes beyond the data
  int64_t resident_growth = -1;  // maximum over ranks of the growth of resident memory; -1: unknown
  int64_t writers = 0;           // ranks that opened files for data
};

// One operation of one method in one repetition.
struct Sample {
  double seconds = 0;                // of the slowest rank
  std::vector<double> rank_seconds;  // of every rank
  PhaseTimes phases;                 // each of its slowest rank
  Counts counts;
  double copy_seconds = 0;        // with a compute phase: copying the data once, on the slowest rank
  double compute_seconds = 0;     // of the phase alone
  double background_seconds = 0;  // data moved while the program computed
  double resident = 0;            // read: fraction of the file in the page cache before it
  int64_t stored_bytes = 0;       // size of all files of the method
};

struct Series {
  std::string plan;  // as executed
  Report report;     // of the last run on rank 0: file system, hints and transport statistics
  std::optional<Sample> warmup;
  std::vector<Sample> samples;
};

// The minimum for an interval.
inline constexpr int slow_repetitions = 6;

struct Outcome {
  Method method;
  std::array<Series, operation_count> series;
  Status error;                   // the first; a method that failed is not run again
  std::string dropped;            // why it was not measured after the warm-up; "" if it was
  std::string slow;               // why it was measured in slow_repetitions only; "" if it was not
  int checks = 0;                 // read-backs in which every element and digest was correct
  int library_checks = 0;         // same by an independent reader
  std::string library;            // its name; "" if the bench has none
  std::vector<uint64_t> digests;  // by repetition, the warm-up first
  Deviation largest;              // found in any read-back, if the plan rounds
  bool verified() const { return error.ok() && (checks > 0 || method.reference); }
  // Whether it is measured in REPETITION.
  bool runs(int repetition) const {
    return error.ok() && dropped.empty() && (slow.empty() || repetition <= slow_repetitions);
  }
};

// The results of one case.
struct Results {
  std::vector<Outcome> outcomes;           // in the order of Case::methods
  std::vector<std::vector<size_t>> order;  // of the methods, by repetition, the warm-up first
  std::vector<uint64_t> expected_digests;  // by repetition, from the formula alone
  std::string stopped;                     // why it stopped early: "time limit", "half-width"; "" if it did not
  int writers = 0, readers = 0;            // ranks
  double competed_seconds = 0;             // runs beside competitors, and the bytes that these wrote meanwhile
  int64_t competed_bytes = 0;
  bool ok() const { return std::ranges::all_of(outcomes, &Outcome::verified); }
};

// One method of one case, in one repetition.
struct Turn {
  size_t case_index = 0;
  size_t method = 0;
};

// The results of a whole run.
struct Measured {
  std::vector<Results> cases;            // in the order of Options::cases
  std::vector<std::vector<Turn>> order;  // by repetition, the warm-up first
  std::string stopped;
  bool ok() const { return std::ranges::all_of(cases, &Results::ok); }
};

}  // namespace penstock::bench
