// Program: measurements other than writing and reading back, each a program with options of its own.
#pragma once

#include <CLI/App.hpp>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/communicator.hpp>

#include "bench/launch.hpp"
#include "bench/program/timings.hpp"
#include "bench/report/progress.hpp"

namespace penstock::bench {

// The options common to all of them.
struct RunWords {
  int repetitions = 6;
  uint64_t seed = 1;
  double time_limit_seconds = 0;
  std::string directory, json;
  bool progress = false;
};

// A turn is one unit of measurement; the turns of a repetition run in shuffled order. All functions except the first
// are collective.
class Program {
 public:
  virtual ~Program() = default;
  virtual void declare(CLI::App& app) = 0;
  // Checks the options before anything is written in FOLDER; same status on all ranks.
  virtual Status prepare(const Communicator& comm, const std::string& folder, const RunWords& words) = 0;
  virtual std::vector<std::string> turns() const = 0;
  // In report order, without times.
  virtual std::vector<TimedCase> cases() const = 0;
  // Adds one repetition of turn number TURN to RUN.cases; 0 is the warm-up.
  virtual Status take(const Communicator& comm, size_t turn, int repetition, TimedRun& run) = 0;
};

struct ProgramKind {
  std::string_view name, summary;
  std::unique_ptr<Program> (*make)();
};
std::span<const ProgramKind> programs();
std::unique_ptr<Program> make_metadata();
std::unique_ptr<Program> make_machine();
std::unique_ptr<Program> make_readers();
std::unique_ptr<Program> make_replay();

// The program named by the first argument; null if there is none.
const ProgramKind* find_program(int argc, char** argv);
// The exit status. REQUIRES: LAUNCH has a communicator.
int run_program(const ProgramKind& kind, const Launch& launch, int argc, char** argv);

}  // namespace penstock::bench
