// Program: options, turns in shuffled order, and the record, which is rewritten after each repetition.
#include "bench/program/program.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <numeric>
#include <random>

#include "bench/measure/scratch.hpp"
#include "bench/preconditions.hpp"
#include "bench/provenance.hpp"
#include "bench/report/record.hpp"
#include "bench/shared_status.hpp"

namespace penstock::bench {

namespace {

constexpr ProgramKind table[] = {
    {"metadata",
     "create, open, stat, close and remove many files; list, copy, tar and remove what methods leave (IDRIS)",
     make_metadata},
    {"machine", "the rates of memory, messages and the file system here, as penstock tune --probe asks for them",
     make_machine},
#ifdef PENSTOCK_BENCH_NETCDF
    {"readers",
     "a master hands out work, workers read small pieces of six netCDF-4 files again and again: through netCDF, and "
     "through "
     "the node's shared memory (LRZ)",
     make_readers},
#endif
    {"replay", "what another program did to files, before and after a remedy, as penstock doctor --replay asks for it",
     make_replay},
};

void declare_run(CLI::App& app, RunWords& words) {
  app.add_option("--repetitions", words.repetitions, "of everything; under 6 give no 95 % interval")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_option("--seed", words.seed, "of the order")->capture_default_str();
  app.add_option("--time-limit", words.time_limit_seconds, "start no repetition that would end after so many seconds");
  app.add_option("--dir", words.directory, "an existing folder on the file system to measure")->required();
  app.add_option("--json", words.json, "file for the results");
  app.add_flag("--progress", words.progress, "one JSON line per run on standard output");
}

std::vector<size_t> shuffled(size_t count, uint64_t seed, int repetition) {
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), size_t{0});
  std::mt19937_64 random(seed * 1000003 + static_cast<uint64_t>(repetition));
  for (size_t i = count; i > 1; --i) std::swap(order[i - 1], order[random() % i]);
  return order;
}

class Runner {
 public:
  Runner(Program& program, const RunWords& words, const Communicator& comm)
      : program_(program), words_(words), comm_(comm), progress_(words.progress && comm->rank() == 0) {}

  Result<TimedRun> run(const Scratch& scratch, nlohmann::json where) {
    run_.np = comm_->size();
    run_.repetitions_asked = words_.repetitions;
    run_.seed = words_.seed;
    run_.provenance = std::move(where);
    PENSTOCK_TRY(program_.prepare(comm_, scratch.folder(), words_));
    turns_ = program_.turns();
    run_.cases = program_.cases();
    progress_.start(static_cast<int>(turns_.size()) * (words_.repetitions + 1));
    const double start = now();
    for (int repetition = 0; repetition <= words_.repetitions; ++repetition) {
      PENSTOCK_ASSIGN(const bool over, time_is_over(now() - start, repetition));
      if (over) break;
      PENSTOCK_TRY(repeat(repetition));
      run_.repetitions = repetition;
      run_.complete = repetition == words_.repetitions;
      if (comm_->rank() == 0 && !words_.json.empty() && repetition > 0)
        PENSTOCK_TRY(write_json(words_.json, to_json(run_)));
    }
    run_.complete = true;
    progress_.done();
    return std::move(run_);
  }

 private:
  Status repeat(int repetition) {
    nlohmann::json order = nlohmann::json::array();
    for (const size_t turn : shuffled(turns_.size(), words_.seed, repetition)) {
      order.push_back(turns_[turn]);
      const double start = now();
      PENSTOCK_TRY(program_.take(comm_, turn, repetition, run_));
      progress_.run(turns_[turn], Operation::write, repetition, now() - start);
    }
    run_.order.push_back(std::move(order));
    return {};
  }

  Result<bool> time_is_over(double elapsed, int repetition) {
    int64_t over =
        words_.time_limit_seconds > 0 && repetition > 1 && elapsed + elapsed / repetition > words_.time_limit_seconds;
    PENSTOCK_TRY(comm_->all_reduce_max(std::span(&over, 1)));
    if (over != 0) run_.stopped = "time limit";
    return over != 0;
  }

  Program& program_;
  const RunWords& words_;
  const Communicator& comm_;
  Progress progress_;
  TimedRun run_;
  std::vector<std::string> turns_;
};

Result<bool> measure(const ProgramKind& kind, Program& program, const RunWords& words, const Launch& launch,
                     std::vector<std::string> arguments) {
  const Communicator& comm = *launch.communicator();
  Options options;  // for the record's provenance
  options.directory = words.directory;
  options.json = words.json;
  options.arguments = std::move(arguments);
  PENSTOCK_TRY(check_preconditions(comm, options));
  PENSTOCK_ASSIGN(nlohmann::json where, provenance(comm, options, launch.library()));
  PENSTOCK_ASSIGN(const Scratch scratch, Scratch::create(comm, words.directory));
  const auto measured = Runner(program, words, comm).run(scratch, std::move(where));
  PENSTOCK_TRY(scratch.remove(comm));
  if (!measured) return measured.status().in(kind.name);
  Status status;
  int64_t good = 1;
  if (comm->rank() == 0) {
    if (!words.progress) fmt::print("{}", to_table(*measured));
    if (!words.json.empty()) status = write_json(words.json, to_json(*measured));
    good = measured->ok();
  }
  PENSTOCK_TRY(from_root(comm, status));
  PENSTOCK_TRY(comm->all_reduce_min(std::span(&good, 1)));
  return good != 0;
}

}  // namespace

std::span<const ProgramKind> programs() { return table; }

const ProgramKind* find_program(int argc, char** argv) {
  for (const ProgramKind& kind : table)
    if (argc > 1 && kind.name == argv[1]) return &kind;
  return nullptr;
}

int run_program(const ProgramKind& kind, const Launch& launch, int argc, char** argv) {
  const std::unique_ptr<Program> program = kind.make();
  CLI::App app{std::string(kind.summary), fmt::format("penstock-bench {}", kind.name)};
  RunWords words;
  program->declare(app);
  declare_run(app, words);
  try {
    app.parse(argc - 1, argv + 1);
  } catch (const CLI::CallForHelp&) {
    if ((*launch.communicator())->rank() == 0) fmt::print("{}", app.help());
    return success;
  } catch (const CLI::ParseError& error) {
    return complain(launch, fmt::format("{}: {} (see --help)", kind.name, error.what()), usage);
  }
  const auto good = measure(kind, *program, words, launch, std::vector<std::string>(argv, argv + argc));
  if (!good) return complain(launch, good.status().message(), good.status().code() == Code::invalid ? usage : failure);
  return *good ? success : failure;
}

}  // namespace penstock::bench
