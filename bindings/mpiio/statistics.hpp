// Statistics: what was done for each file of a program, for the report.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/communicator.hpp>
#include <penstock/phase.hpp>

#include "core/storage/storage.hpp"

namespace penstock::mpiio {

struct CallCount {
  int64_t count = 0, bytes = 0;
  double seconds = 0;
};

// What was written by the thread of the background, and what it cost to wait for it.
struct InBackground {
  int64_t bytes = 0, bytes_max = 0;  // handed over; waiting at once
  int64_t at_once = 0;               // bytes for which there was no room
  int64_t lost = 0;                  // bytes that could not be written
  double seconds_max = 0;            // for which something waited, without a break
  double waited = 0;                 // by the program, in calls that needed the bytes in the file
  bool untold = false;               // of a loss the program learnt in MPI_Finalize at best
  std::string why_not;               // the plan asks for it, but it cannot be
};

// Of one file on this rank, by all its openings.
struct Statistics {
  std::mutex mutex;
  int64_t ranks = 0, opened = 0;
  std::string plan, reason;  // of the last movement
  std::map<std::string, CallCount> calls;
  int64_t written = 0, read = 0;
  int64_t kept_calls = 0, kept_bytes = 0, kept_bytes_max = 0;
  double kept_seconds_max = 0;
  std::map<std::string, int64_t> moves;  // by reason
  double moving_seconds = 0;
  InBackground background;
  PhaseTimes phases;                                              // of movements
  std::map<std::string, std::pair<int64_t, std::string>> passed;  // by call: how often, and why
  std::map<std::string, std::string> hints;                       // what was done with each
  std::vector<std::string> errors;
  std::shared_ptr<CountedStorage> storage = std::make_shared<CountedStorage>(posix_storage());

  void pass(std::string_view call, std::string_view why);
  void fail(const std::string& error);
};

// Those of the file at PATH, for the life of the process.
std::shared_ptr<Statistics> statistics_of(const std::string& path);

// Adds the time of its life to a call of a file.
class CallTimer {
 public:
  CallTimer(Statistics& statistics, const char* call);
  ~CallTimer();
  CallTimer(const CallTimer&) = delete;
  CallTimer& operator=(const CallTimer&) = delete;
  void moved(int64_t bytes) { bytes_ += bytes; }

 private:
  Statistics& statistics_;
  const char* call_;
  double start_;
  int64_t bytes_ = 0;
};

// Local: the program's MPI started.
void start_report();
// Collective over MPI_COMM_WORLD, in MPI_Finalize: rank 0 writes the report, if one is wanted.
void write_report();

}  // namespace penstock::mpiio
