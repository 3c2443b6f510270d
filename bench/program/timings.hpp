// Timings: results of programs that measure other operations than a write and a read-back, each by all ranks.
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
  int64_t bytes = 0;                              // moved by it; 0 if rates are meaningless
  std::vector<std::vector<double>> rank_seconds;  // by repetition, for every rank
  std::vector<double> warmup;                     // for every rank; empty if not done yet
  Status error;
  bool verified = true;
  nlohmann::json more = nlohmann::json::object();  // additional members of its line

  std::vector<double> slowest() const;
  bool ok() const { return verified && error.ok(); }
};

// Operations to compare; those of BASELINE are 1.
struct TimedCase {
  std::string name;
  nlohmann::json workload;
  std::string baseline;
  std::vector<TimedOperation> operations;

  bool ok() const;
  TimedOperation& find(const std::string& method, const std::string& operation);  // created if it does not exist
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

// Collective. Adds SECONDS of every rank, on rank 0, as a repetition of OPERATION; REPETITION 0 is its warm-up.
Status record(const Communicator& comm, int repetition, double seconds, TimedOperation& operation);

// "penstock.cases/1", as for other runs.
nlohmann::json to_json(const TimedRun& run);
// For people: fastest, mean and slowest rank of median repetitions.
std::string to_table(const TimedRun& run);

}  // namespace penstock::bench
