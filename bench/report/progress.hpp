// Progress: one JSON line per event, for the program that started this one.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "bench/measure/results.hpp"

namespace penstock::bench {

// Prints to standard output and flushes; does nothing unless ACTIVE (other ranks; no --progress).
class Progress {
 public:
  explicit Progress(bool active) : active_(active) {}
  void start(int total_runs);
  void run(const std::string& method, Operation operation, int repetition, double seconds);
  void failed(const std::string& method, int repetition, const Status& error);
  void skip(int runs) { finished_ += runs; }
  void done();

 private:
  void print(const nlohmann::json& event) const;
  bool active_;
  int total_ = 0, finished_ = 0;
};

}  // namespace penstock::bench
