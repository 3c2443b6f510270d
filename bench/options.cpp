// Options: the command line, parsed and checked before anything runs.
#include "bench/options.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>

#include "core/base/units.hpp"

namespace penstock::bench {

namespace {

// What CLI11 fills, before it is understood.
struct Raw {
  CaseWords words;
  std::string preset;
  std::vector<std::string> only;
  bool count_only = false;
  CountRequest count;
  std::string stripe = "1MiB";
  double half_width = 0;  // percent
};

// What a preset chooses for itself.
constexpr const char* of_one_case[] = {"workload",        "--methods",       "--regime",         "--compute",
                                       "--ghosts",        "--own-ranks",     "--row-bytes",      "--aa",
                                       "--variables",     "--keep",          "--decomposition",  "--datasets",
                                       "--put",           "--dataset-bytes", "--no-aa",          "--block-size",
                                       "--transfer-size", "--segment-count", "--random-offset",  "--domain",
                                       "--grouped",       "--steps",         "--tasks-per-node", "--per-rank"};

std::string footer() {
  std::string text = "workloads:\n";
  for (const WorkloadKind& kind : workloads()) text += fmt::format("  {:<10} {}\n", kind.name, kind.summary);
  return text;
}

void declare_case(CLI::App& app, Raw& raw) {
  CaseWords& words = raw.words;
  app.add_option("workload", words.workload, "the pattern of datasets and decompositions, see below");
  app.add_option("--total", words.total, "bytes of the whole workload (block2d, block3d, pencil, pic, particles)")
      ->capture_default_str();
  app.add_option("--per-rank", words.per_rank, "bytes of each rank instead: weak scaling");
  app.add_option("--type", words.type,
                 "elements: int8 to int64, uint8 to uint64, real32, real64, complex64, complex128")
      ->capture_default_str();
  app.add_option("--order", words.order, "C or Fortran")->capture_default_str();
  app.add_option("--row-bytes", words.row_bytes, "of each rank's contiguous rows in the file (block2d, block3d)");
  app.add_option("--ghosts", words.ghosts,
                 "layers of ghost cells around each rank's data in memory (block2d, block3d, many, pencil)");
  app.add_option("--datasets", words.datasets, "how many (many)")->capture_default_str();
  app.add_option("--dataset-bytes", words.dataset_bytes, "of each dataset (many)")->capture_default_str();
  app.add_option("--map", words.map, "E3SM decomposition map, a netCDF file (map)");
  app.add_option("--decomposition", words.decompositions, "only these decompositions of the map: D1, D2, ...")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--variables", words.variables, "datasets per decomposition (map)")->capture_default_str();
  app.add_option("-b,--block-size,--blockSize", words.block, "of each rank in a segment (ior)")->capture_default_str();
  app.add_option("-t,--transfer-size,--transferSize", words.transfer, "of one call (ior)")->capture_default_str();
  app.add_option("-s,--segment-count,--segmentCount", words.segments, "of blocks of all ranks (ior)")
      ->capture_default_str();
  app.add_flag("-z,--random-offset,--randomOffset", words.random, "each rank's transfers in shuffled order (ior)");
  app.add_option("--domain", words.domain, "cells in each direction (ramses-amr, ramses-hydro)")->capture_default_str();
  app.add_option("--grouped", words.grouped, "by level or by process (ramses-amr, ramses-hydro)")
      ->capture_default_str();
  app.add_option("--steps", words.steps, "of output (pic)")->capture_default_str();
  app.add_option("--tasks-per-node,--tasksPerNode", words.ranks_per_node,
                 "ranks of a node: the first of them writes (pic), or nodes are counted so (--count-only)")
      ->capture_default_str();
  app.add_option("--methods", words.methods, "FORMAT/TRANSPORT[:name=value,...],..., ENGINE[:...], or all")
      ->allow_extra_args(false);
  app.add_option("--regime", words.regime, "durable (sync inside the clock) or cached")->capture_default_str();
  app.add_flag("--own-ranks", words.own_ranks, "every rank reads back what it wrote itself");
  app.add_option("--compute", words.compute_seconds,
                 "write in the background of a compute phase of so many seconds, and count only the time that the "
                 "write adds to it");
  app.add_flag("--put", words.put, "put, which copies the data, instead of lend");
  app.add_flag("--aa,!--no-aa", words.control,
               "run the baseline twice per repetition, to learn the smallest difference "
               "that may be claimed (default from 6 repetitions on)");
}

void declare_run(CLI::App& app, Raw& raw, Options& options) {
  app.add_option("--preset", raw.preset, "many workloads in one interleaved run, and ratios from it: ratios");
  app.add_option("--only", raw.only, "of a preset: only these ratios, 1a,4 (4 is 4a, 4b and 4c)")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_flag("--methods-json", options.list_methods, "print every method and parameter of this build as JSON");
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

void declare_count(CLI::App& app, Raw& raw) {
  app.add_flag(
      "--count-only", raw.count_only,
      "write nothing: one process plans for --np-virtual ranks and counts messages, bytes of plans, bytes moved "
      "and calls on metadata, of FORMAT/two_phase and of textbook two-phase writing");
  app.add_option("--np-virtual", raw.count.ranks, "of --count-only: ranks, 64,256,1024,4096")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--stripe", raw.stripe, "of --count-only: the file system's stripes; the plan's block too")
      ->capture_default_str();
}

Status invalid(std::string message) { return Status(Code::invalid, std::move(message)); }

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

// Where the tests look for it too.
std::string map_at_hand() {
  const char* data = std::getenv("PENSTOCK_DATA");
  const std::string path = std::string(data != nullptr ? data : "../shared/data") + "/e3sm/map_f_case_16p.nc";
  std::error_code error;
  return std::filesystem::is_regular_file(path, error) ? path : "";
}

Status take_preset(const CLI::App& app, Raw& raw, const Launch& launch, Options& options) {
  for (const char* option : of_one_case)
    if (app.count(option) > 0)
      return invalid(fmt::format("--preset {} brings its own cases: {} cannot stand beside it", raw.preset,
                                 std::string_view(option) == "workload"
                                     ? fmt::format("the workload '{}'", raw.words.workload)
                                     : std::string(option)));
  if (raw.words.map.empty()) raw.words.map = map_at_hand();
  PENSTOCK_ASSIGN(ChosenPreset chosen, choose_preset(raw.preset, {raw.words, raw.only, launch.mpi_io()}));
  options.preset = chosen.preset;
  options.ratios = std::move(chosen.ratios);
  options.cases = std::move(chosen.cases);
  options.unavailable = std::move(chosen.unavailable);
  return {};
}

// What only says something of a count, or of a measurement.
Status check_count_words(const CLI::App& app, bool counting) {
  for (const char* option : {"--np-virtual", "--stripe"})
    if (!counting && app.count(option) > 0) return invalid(fmt::format("{} belongs to --count-only", option));
  for (const char* option :
       {"--preset", "--only", "--time-limit", "--repetitions", "--readers", "--own-ranks", "--compute", "--ghosts"})
    if (counting && app.count(option) > 0)
      return invalid(fmt::format("--count-only measures nothing: {} cannot stand beside it", option));
  if (app.count("--per-rank") > 0 && app.count("--total") > 0) return invalid("--per-rank and --total: one of them");
  return {};
}

Status understand_count(Raw& raw, Options& options) {
  if (raw.words.methods.empty()) raw.words.methods = {"hdf5/two_phase"};
  PENSTOCK_ASSIGN(raw.count.what, make_case(raw.words));
  PENSTOCK_ASSIGN(raw.count.stripe, parse_bytes(raw.stripe));
  raw.count.ranks_per_node = raw.words.ranks_per_node;
  PENSTOCK_TRY(check(raw.count));
  options.count = std::move(raw.count);
  return {};
}

Status understand(const CLI::App& app, Raw& raw, const Launch& launch, Options& options) {
  options.half_width = raw.half_width / 100;
  PENSTOCK_TRY(check_count_words(app, raw.count_only));
  if (raw.count_only) return understand_count(raw, options);
  if (!raw.preset.empty()) {
    PENSTOCK_TRY(take_preset(app, raw, launch, options));
    return check_run(options);
  }
  if (!raw.only.empty()) return invalid("--only chooses from a --preset");
  if (app.count("--aa") == 0) raw.words.control = options.repetitions >= 6;
  PENSTOCK_ASSIGN(Case made, make_case(raw.words));
  if (made.own_ranks && options.readers > 0)
    return invalid("--own-ranks: all that write read, so --readers says nothing");
  options.cases.push_back(std::move(made));
  return check_run(options);
}

}  // namespace

Result<Options> parse_options(int argc, char** argv, const Launch& launch) {
  CLI::App app{"Measures ways of writing and reading one workload, and proves that every byte arrived.",
               "penstock-bench"};
  Raw raw;
  Options options;
  options.arguments.assign(argv, argv + argc);
  declare_case(app, raw);
  declare_run(app, raw, options);
  declare_count(app, raw);
  app.footer(footer());
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    options.help = app.help();
    return options;
  } catch (const CLI::ParseError& error) {
    return invalid(fmt::format("{} (see --help)", error.what()));
  }
  if (options.list_methods) return options;
  PENSTOCK_TRY(understand(app, raw, launch, options));
  return options;
}

Status make_workloads(Options& options, int ranks) {
  for (Case& one : options.cases) {
    one.request.ranks = ranks;
    PENSTOCK_ASSIGN(one.workload, make_workload(one.workload_name, one.request));
  }
  return {};
}

}  // namespace penstock::bench
