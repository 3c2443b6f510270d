// Timings: what programs of the bench measured that are not a write and a read-back: any operations, each by all ranks.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include <penstock/communicator.hpp>

namespace penstock::bench {

// One operation of one method.
struct TimedOperation {
  std::string method, operation;
  int64_t bytes = 0;                              // that it moves; 0 where rates say nothing
  std::vector<std::vector<double>> rank_seconds;  // by repetition, of every rank
  std::vector<double> warmup;                     // of every rank; empty before it
  Status error;
  bool verified = true;
  nlohmann::json more = nlohmann::json::object();  // further members of its line

  std::vector<double> slowest() const;
};

// Operations that are compared with each other: those of BASELINE are 1.
struct TimedCase {
  std::string name;
  nlohmann::json workload;
  std::string baseline;
  std::vector<TimedOperation> operations;

  TimedOperation& find(const std::string& method, const std::string& operation);  // made where there is none yet
};

struct TimedRun {
  std::vector<TimedCase> cases;
  int np = 1, repetitions = 0, repetitions_asked = 0;
  uint64_t seed = 1;
  std::string stopped;
  bool complete = true;
  nlohmann::json order = nlohmann::json::array(), provenance;

  bool ok() const;
};

// Collective: SECONDS of every rank, on rank 0, are one more repetition of OPERATION, or with 0 its warm-up.
Status record(const Communicator& comm, int repetition, double seconds, TimedOperation& operation);

// "penstock.cases/1", as other runs have it.
nlohmann::json to_json(const TimedRun& run);
// For a person: fastest, mean and slowest rank of median repetitions.
std::string to_table(const TimedRun& run);

}  // namespace penstock::bench
