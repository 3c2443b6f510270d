// Options: the command line, parsed and checked before anything runs.
#include "bench/options.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "bench/case_options.hpp"
#include "bench/cases.hpp"
#include "bench/estimates.hpp"
#include "bench/program/program.hpp"
#include "bench/report/methods.hpp"
#include "core/base/units.hpp"
#include "core/methods/methods.hpp"

namespace penstock::bench {

namespace {

// Values stored by CLI11, before interpretation.
struct Raw {
  CaseWords words;
  std::string cases;
  bool count_only = false, dry_run = false;
  CountRequest count;
  std::string stripe = "1MiB";
  double half_width = 0;  // percent
};

std::string footer() {
  std::string text = "workloads:\n";
  for (const WorkloadKind& kind : workloads()) text += fmt::format("  {:<10} {}\n", kind.name, kind.summary);
  text += "data:\n";
  for (const DataKind& kind : data_kinds()) text += fmt::format("  {:<10} {}\n", kind.name, kind.summary);
  text += "programs, each with options of its own (penstock-bench NAME --help):\n";
  for (const ProgramKind& kind : programs()) text += fmt::format("  {:<10} {}\n", kind.name, kind.summary);
  return text;
}

// Adds the options of APP to LIST.
void describe(const CLI::App& app, nlohmann::json& list) {
  for (const CLI::Option* option : app.get_options()) {
    nlohmann::json names = nlohmann::json::array();
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    if (!names.empty())
      list.push_back({{"names", std::move(names)},
                      {"group", option->get_group()},
                      {"value", option->get_items_expected_min() > 0},
                      {"help", option->get_description()}});
  }
}

// Every option of APP and of the programs. An option of a program is in a group that has the program's name.
nlohmann::json options_json(const CLI::App& app) {
  nlohmann::json list = nlohmann::json::array();
  describe(app, list);
  for (const ProgramKind& kind : programs()) {
    CLI::App of_program;
    of_program.set_help_flag();
    of_program.option_defaults()->group(std::string(kind.name));
    const std::unique_ptr<Program> program = kind.make();
    program->declare(of_program);
    describe(of_program, list);
  }
  return {{"schema", "penstock.options/1"}, {"options", std::move(list)}};
}

void declare_answers(CLI::App& app, Options& options) {
  app.add_flag_callback(
      "--methods-json", [&options] { options.answer = methods_json().dump(1) + '\n'; },
      "print every method and parameter of this build as JSON");
  app.add_flag_callback(
      "--options-json", [&app, &options] { options.answer = options_json(app).dump(1) + '\n'; },
      "print every option of this build as JSON");
  app.add_option_function<int64_t>(
         "--plans-to-try",
         [&options](int64_t ranks) { options.answer = nlohmann::json(plans_to_try(ranks)).dump() + '\n'; },
         "print the transports, with parameters, that a planner tries on so many ranks, as JSON")
      ->check(CLI::PositiveNumber);
  app.add_flag_callback(
      "--stripes-to-try", [&options] { options.answer = nlohmann::json(stripes_to_try()).dump() + '\n'; },
      "print the default plan with other stripe counts, which a planner tries for new files on Lustre, as JSON");
  app.add_option("--estimates", options.problem,
                 "print the seconds that each plan should take for this problem (docs/wisdom.md), as JSON");
}

void declare_run(CLI::App& app, Raw& raw, Options& options) {
  app.option_defaults()->group("Run");
  app.add_option("--cases", raw.cases,
                 "a JSON file with cases to measure in one interleaved run, see docs/campaigns.md");
  app.add_option("--repetitions", options.repetitions, "of every method; under 6 give no 95 % interval")
      ->capture_default_str();
  app.add_option("--seed", options.seed, "of the order of runs and of the contents")->capture_default_str();
  app.add_option("--readers", options.readers, "ranks that read back; by default one less than write");
  app.add_option("--time-limit", options.time_limit_seconds,
                 "start no repetition that would end after so many seconds");
  app.add_option("--half-width", raw.half_width,
                 "stop once every interval's half-width is under so many percent of its median");
  app.add_option("--threads", options.threads, "MPI's thread level: funneled or multiple")->capture_default_str();
  app.add_option("--dir", options.directory, "an existing folder on the file system to measure");
  app.add_option("--json", options.json, "file for the results");
  app.add_flag("--progress", options.progress, "one JSON line per run on standard output");
  app.add_flag("--keep", options.keep, "keep the files of the last repetition");
}

void declare_count(CLI::App& app, Raw& raw, Options& options) {
  app.option_defaults()->group("Counts");
  app.add_flag(
      "--count-only", raw.count_only,
      "write nothing: one process plans for --np-virtual ranks and counts messages, bytes of plans, bytes moved "
      "and calls on metadata, of FORMAT/two_phase and of textbook two-phase writing");
  app.add_flag("--dry-run", raw.dry_run,
               "measure nothing: one process prints, as JSON, what runs on --np-virtual ranks would move and need");
  app.add_flag("--problems", options.problems_only,
               "of --dry-run: print only what the runs ask of their plans (docs/wisdom.md)");
  app.add_option("--np-virtual", raw.count.ranks, "of --count-only and --dry-run: ranks, 64,256,1024,4096")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--stripe", raw.stripe, "of --count-only: the file system's stripes; the plan's block too")
      ->capture_default_str();
}

Status check_run(const Options& options) {
  if (options.directory.empty()) return invalid("--dir names the folder to measure in (see --help)");
  if (options.repetitions < 1) return invalid("--repetitions must be at least 1");
  if (options.readers < 0) return invalid("--readers must be at least 1");
  if (options.half_width < 0 || options.half_width >= 1) return invalid("--half-width is a percentage, from 0 to 100");
  if (options.time_limit_seconds < 0) return invalid("--time-limit must be positive");
  if (options.threads != "funneled" && options.threads != "multiple")
    return invalid(fmt::format("--threads is funneled or multiple, not '{}'", options.threads));
  return {};
}

// A list of cases has words of its own.
Status refuse_case_words(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options())
    if (option->count() > 0 && is_of_case(*option))
      return invalid(fmt::format("--cases brings its own cases: {} cannot stand beside it",
                                 option->nonpositional() ? option->get_name() : "a workload"));
  if (app.count("--keep") > 0) return invalid("--cases has files of many cases: --keep cannot stand beside it");
  return {};
}

Status take_cases(const CLI::App& app, const Raw& raw, Options& options) {
  PENSTOCK_TRY(refuse_case_words(app));
  PENSTOCK_ASSIGN(CaseList list, read_cases(raw.cases, options.repetitions));
  options.listed = true;
  options.cases = std::move(list.cases);
  options.unavailable = std::move(list.unavailable);
  options.slow_factor = list.slow_factor;
  return {};
}

// Rejects options that apply only to counts, or only to measurements.
Status check_count_words(const CLI::App& app, bool counting, bool dry) {
  for (const char* option : {"--np-virtual", "--stripe"})
    if (!counting && !dry && app.count(option) > 0) return invalid(fmt::format("{} belongs to --count-only", option));
  if (counting && dry) return invalid("--count-only and --dry-run: one of them");
  for (const char* option :
       {"--cases", "--time-limit", "--repetitions", "--readers", "--own-ranks", "--compute", "--ghosts"})
    if (counting && app.count(option) > 0)
      return invalid(fmt::format("--count-only measures nothing: {} cannot stand beside it", option));
  return {};
}

Status understand_count(Raw& raw, Options& options) {
  if (raw.words.methods.empty()) raw.words.methods = {"hdf5/two_phase"};
  PENSTOCK_ASSIGN(raw.count.what, make_case(raw.words));
  PENSTOCK_ASSIGN(raw.count.stripe, parse_bytes(raw.stripe));
  raw.count.ranks_per_node = raw.words.given.request.ranks_per_node;
  PENSTOCK_TRY(check(raw.count));
  options.count = std::move(raw.count);
  return {};
}

Status understand(const CLI::App& app, Raw& raw, Options& options) {
  options.half_width = raw.half_width / 100;
  PENSTOCK_TRY(check_count_words(app, raw.count_only, raw.dry_run));
  PENSTOCK_TRY(check_case_words(app, raw.words));
  if (raw.count_only) return understand_count(raw, options);
  if (raw.dry_run) options.dry_run_ranks = raw.count.ranks.empty() ? std::vector{1} : raw.count.ranks;
  for (const int ranks : options.dry_run_ranks)
    if (ranks < 1) return invalid(fmt::format("--np-virtual {}: at least 1", ranks));
  if (!raw.cases.empty()) {
    PENSTOCK_TRY(take_cases(app, raw, options));
    return check_run(options);
  }
  if (app.count("--aa") == 0) raw.words.control = options.repetitions >= 6;
  PENSTOCK_ASSIGN(Case made, make_case(raw.words));
  if (made.own_ranks && options.readers > 0)
    return invalid("--own-ranks: all that write read, so --readers says nothing");
  options.listed = made.competitors > 0;
  options.cases = beside_competitors(std::move(made));
  return check_run(options);
}

}  // namespace

Result<Options> parse_options(int argc, char** argv) {
  CLI::App app{"Measures ways of writing and reading one workload, and proves that every byte arrived.",
               "penstock-bench"};
  Raw raw;
  Options options;
  options.arguments.assign(argv, argv + argc);
  declare_answers(app, options);
  declare_case(app, raw.words);
  declare_run(app, raw, options);
  declare_count(app, raw, options);
  app.footer(footer());
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    options.answer = app.help();
    return options;
  } catch (const CLI::ParseError& error) {
    return invalid(fmt::format("{} (see --help)", error.what()));
  }
  if (!options.problem.empty()) {
    PENSTOCK_ASSIGN(const nlohmann::json estimates, estimates_json(options.problem));
    options.answer = estimates.dump(1) + '\n';
  }
  if (!options.answer.empty()) return options;
  PENSTOCK_TRY(understand(app, raw, options));
  return options;
}

Status make_workloads(Options& options, int ranks) {
  for (Case& one : options.cases) {
    one.request.ranks = ranks;
    PENSTOCK_ASSIGN(one.workload, make_workload(one.workload_name, one.request));
    PENSTOCK_ASSIGN(one.data, find_data(one.data_name)->make(one.workload->fields()));
  }
  return {};
}

}  // namespace penstock::bench
