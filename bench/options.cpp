// Options: the command line, parsed and checked before anything runs.
#include "bench/options.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <algorithm>

#include "bench/workload/workload.hpp"
#include "core/base/units.hpp"
#include "core/engine/engine.hpp"
#include "core/format/format.hpp"
#include "core/plan/plan.hpp"
#include "core/session/methods.hpp"

namespace penstock::bench {

namespace {

constexpr std::string_view baseline_method = "raw/per_process";

// What CLI11 fills, before it is understood.
struct Raw {
  std::string total = "512MiB", type = "real64", order = "C", regime = "durable";
  std::vector<std::string> methods;
  std::vector<std::string> decompositions;
  bool control = false, control_given = false;  // --aa, --no-aa
};

std::string footer() {
  std::string text = "workloads:\n";
  for (const WorkloadKind& kind : workloads()) text += fmt::format("  {:<10} {}\n", kind.name, kind.summary);
  return text;
}

void declare(CLI::App& app, Raw& raw, Options& options) {
  app.add_option("workload", options.workload, "the pattern of datasets and decompositions, see below");
  app.add_flag("--methods-json", options.list_methods, "print every method and parameter of this build as JSON");
  app.add_option("--total", raw.total, "bytes of the whole workload (block2d)")->capture_default_str();
  app.add_option("--type", raw.type, "element: real32 or real64")->capture_default_str();
  app.add_option("--order", raw.order, "C or Fortran")->capture_default_str();
  app.add_option("--map", options.map, "E3SM decomposition map, a netCDF file (map)");
  app.add_option("--decomposition", raw.decompositions, "only these decompositions of the map: D1, D2, ...")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--variables", options.variables, "datasets per decomposition (map)")->capture_default_str();
  app.add_option("--methods", raw.methods, "FORMAT/TRANSPORT[:name=value,...],..., ENGINE[:...], or all")
      ->allow_extra_args(false);
  app.add_option("--regime", raw.regime, "durable (sync inside the clock) or cached")->capture_default_str();
  app.add_option("--repetitions", options.repetitions, "of every method; under 6 give no 95 % interval")
      ->capture_default_str();
  app.add_option("--seed", options.seed, "of the order of runs and of the contents")->capture_default_str();
  app.add_option("--readers", options.readers, "ranks that read back; by default one less than write");
  app.add_option("--time-limit", options.time_limit_seconds,
                 "start no repetition that would end after so many seconds");
  app.add_option("--compute", options.compute_seconds,
                 "write in the background of a compute phase of so many seconds, and count only the time that the "
                 "write adds to it");
  app.add_flag("--put", options.put, "put, which copies the data, instead of lend");
  app.add_option("--threads", options.threads, "MPI's thread level: funneled or multiple")->capture_default_str();
  app.add_option("--dir", options.directory, "an existing folder on the file system to measure");
  app.add_option("--json", options.json, "file for the results");
  app.add_flag("--progress", options.progress, "one JSON line per run on standard output");
  app.add_flag("--keep", options.keep, "keep the files of the last repetition");
  app.add_flag("--aa,!--no-aa", raw.control,
               "run the baseline twice per repetition, to learn the smallest difference "
               "that may be claimed (default from 6 repetitions on)");
  app.footer(footer());
}

Status invalid(std::string message) { return Status(Code::invalid, std::move(message)); }

Result<Method> make_method(const std::string& label, Regime regime) {
  if (label.find("durability=") != std::string::npos)
    return invalid(fmt::format("method '{}': durability is set by --regime", label));
  Method method;
  method.label = label;
  method.plan = label + (label.find(':') == std::string::npos ? ":" : ",") +
                (regime == Regime::durable ? "durability=full" : "durability=none");
  const auto plan = parse_plan(method.plan, "hdf5", catalog());
  if (!plan) return plan.status().in(fmt::format("method '{}'", label));
  if (plan->engine.empty()) {
    const Format& format = *find_format(plan->format);
    const bool set = !format.self_contained() || plan->placement != "single";
    method.format = plan->format;
    method.extension = set ? format.master_extension() : format.extension();
  } else {
    method.format = find_engine(plan->engine)->format();
    method.extension = find_engine(plan->engine)->extension();
  }
  return method;
}

// "all" is every method that this build has.
std::vector<std::string> named_methods(const std::string& text) {
  if (text != "all") return split_methods(text);
  std::vector<std::string> names;
  for (const MethodRow& row : method_table())
    if (row.refused.empty()) names.push_back(row.plan);
  return names;
}

Status choose_methods(const Raw& raw, Options& options) {
  for (const std::string& text : raw.methods)
    for (const std::string& label : named_methods(text)) {
      const auto same = [&](const Method& m) { return m.label == label; };
      if (std::any_of(options.methods.begin(), options.methods.end(), same))
        return invalid(fmt::format("method '{}' is given twice; --aa runs the baseline twice", label));
      PENSTOCK_ASSIGN(Method method, make_method(label, options.regime));
      options.methods.push_back(std::move(method));
    }
  if (options.methods.empty()) return invalid("--methods names no method");
  const auto found = std::find_if(options.methods.begin(), options.methods.end(),
                                  [](const Method& m) { return m.label == baseline_method; });
  options.baseline = found == options.methods.end() ? 0 : static_cast<size_t>(found - options.methods.begin());
  if (raw.control_given ? raw.control : options.repetitions >= 6) {
    Method control = options.methods[options.baseline];
    control.label += " (A/A)";
    control.control = true;
    options.methods.push_back(std::move(control));
  }
  return {};
}

Status understand(const Raw& raw, Options& options) {
  if (options.workload.empty()) return invalid("which workload? (see --help)");
  if (options.directory.empty()) return invalid("--dir names the folder to measure in (see --help)");
  const auto known = [&](const WorkloadKind& kind) { return kind.name == options.workload; };
  if (std::none_of(workloads().begin(), workloads().end(), known)) {
    std::string names;
    for (const WorkloadKind& kind : workloads()) names += fmt::format("{}{}", names.empty() ? "" : ", ", kind.name);
    return invalid(fmt::format("no workload '{}'; there are {}", options.workload, names));
  }
  PENSTOCK_ASSIGN(options.total_bytes, parse_bytes(raw.total));
  if (options.total_bytes <= 0) return invalid("--total must be positive");
  if (raw.type != "real32" && raw.type != "real64")
    return invalid(fmt::format("--type is real32 or real64, not '{}'", raw.type));
  options.type = ElementType{raw.type == "real32" ? Kind::f32 : Kind::f64};
  if (raw.order != "C" && raw.order != "Fortran")
    return invalid(fmt::format("--order is C or Fortran, not '{}'", raw.order));
  options.fortran = raw.order == "Fortran";
  if (raw.regime != "durable" && raw.regime != "cached")
    return invalid(fmt::format("--regime is durable or cached, not '{}'", raw.regime));
  options.regime = raw.regime == "durable" ? Regime::durable : Regime::cached;
  if (options.repetitions < 1) return invalid("--repetitions must be at least 1");
  if (options.variables < 1) return invalid("--variables must be at least 1");
  if (options.readers < 0) return invalid("--readers must be at least 1");
  if (options.time_limit_seconds < 0) return invalid("--time-limit must be positive");
  if (options.compute_seconds < 0) return invalid("--compute must be positive");
  if (options.threads != "funneled" && options.threads != "multiple")
    return invalid(fmt::format("--threads is funneled or multiple, not '{}'", options.threads));
  options.decompositions = raw.decompositions;
  return choose_methods(raw, options);
}

}  // namespace

std::string_view name(Regime regime) { return regime == Regime::durable ? "durable" : "cached"; }

std::vector<std::string> split_methods(std::string_view text) {
  std::vector<std::string> methods;
  while (!text.empty()) {
    const size_t comma = std::min(text.find_first_of(",; "), text.size());
    const std::string_view piece = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    if (piece.empty()) continue;
    const size_t mark = piece.find_first_of("=/:");
    const bool parameter = mark != std::string_view::npos && piece[mark] == '=';
    if (parameter && !methods.empty())
      methods.back().append(",").append(piece);
    else
      methods.emplace_back(piece);
  }
  return methods;
}

Result<Options> parse_options(int argc, char** argv) {
  CLI::App app{"Measures ways of writing and reading one workload, and proves that every byte arrived.",
               "penstock-bench"};
  Raw raw;
  Options options;
  options.arguments.assign(argv, argv + argc);
  declare(app, raw, options);
  try {
    app.parse(argc, argv);
    raw.control_given = app.count("--aa") > 0;
  } catch (const CLI::CallForHelp&) {
    options.help = app.help();
    return options;
  } catch (const CLI::ParseError& error) {
    return invalid(fmt::format("{} (see --help)", error.what()));
  }
  if (options.list_methods) return options;
  PENSTOCK_TRY(understand(raw, options));
  return options;
}

}  // namespace penstock::bench
