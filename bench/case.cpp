// Case: parses and checks its words.
#include "bench/case.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "bench/measure/reference.hpp"
#include "bench/workload/element.hpp"
#include "core/base/units.hpp"
#include "core/engine/engine.hpp"
#include "core/format/format.hpp"
#include "core/methods/methods.hpp"
#include "core/plan/plan.hpp"

namespace penstock::bench {

namespace {

constexpr std::string_view baseline_method = "raw/per_process";

// "all" means every method of this build.
std::vector<std::string> named_methods(const std::string& text) {
  if (text != "all") return split_methods(text);
  std::vector<std::string> names;
  for (const MethodRow& row : method_table())
    if (row.refused.empty()) names.push_back(row.plan);
  return names;
}

Status check_workload(const std::string& name) {
  if (name.empty()) return invalid("which workload? (see --help)");
  if (std::ranges::count(workloads(), name, &WorkloadKind::name) > 0) return {};
  std::string names;
  for (const WorkloadKind& kind : workloads()) names += fmt::format("{}{}", names.empty() ? "" : ", ", kind.name);
  return invalid(fmt::format("no workload '{}'; there are {}", name, names));
}

Status check_data(const std::string& name) {
  if (find_data(name) != nullptr) return {};
  std::string names;
  for (const DataKind& kind : data_kinds()) names += fmt::format("{}{}", names.empty() ? "" : ", ", kind.name);
  return invalid(fmt::format("no data '{}'; there are {}", name, names));
}

Status understand_request(const CaseWords& words, WorkloadRequest& request) {
  PENSTOCK_ASSIGN(request.total_bytes, parse_bytes(words.total));
  if (request.total_bytes <= 0) return invalid("--total must be positive");
  if (!words.per_rank.empty()) {
    PENSTOCK_ASSIGN(request.bytes_per_rank, parse_bytes(words.per_rank));
    if (request.bytes_per_rank < 1) return invalid("--per-rank must be positive");
  }
  PENSTOCK_ASSIGN(request.type, parse_element(words.type));
  if (words.order != "C" && words.order != "Fortran")
    return invalid(fmt::format("--order is C or Fortran, not '{}'", words.order));
  request.fortran = words.order == "Fortran";
  PENSTOCK_ASSIGN(request.row_bytes, parse_bytes(words.row_bytes));
  if (request.row_bytes < 0) return invalid("--row-bytes must be positive");
  PENSTOCK_ASSIGN(request.dataset_bytes, parse_bytes(words.dataset_bytes));
  if (request.datasets < 1) return invalid("--datasets must be at least 1");
  PENSTOCK_ASSIGN(request.ior.block_bytes, parse_bytes(words.block));
  PENSTOCK_ASSIGN(request.ior.transfer_bytes, parse_bytes(words.transfer));
  return request.variables < 1 ? invalid("--variables must be at least 1") : Status();
}

}  // namespace

std::string_view name(Regime regime) { return regime == Regime::durable ? "durable" : "cached"; }

Result<Method> make_method(const std::string& label, Regime regime) {
  if (label.find("durability=") != std::string::npos)
    return invalid(fmt::format("method '{}': durability is set by --regime", label));
  Method method;
  method.label = label;
  if (is_reference(label)) {
    PENSTOCK_TRY(parse_reference(label).status());
    method.reference = true;
    return method;
  }
  method.plan = label + (label.find(':') == std::string::npos ? ":" : ",") +
                (regime == Regime::durable ? "durability=full" : "durability=none");
  const auto plan = parse_plan(method.plan, "hdf5", vocabulary());
  if (!plan) return plan.status().in(fmt::format("method '{}'", label));
  if (plan->settings.real("max_relative_error") > 0)
    return Status(Code::unsupported, fmt::format("method '{}': its values are compared as they are read, before the "
                                                 "largest one is known: name max_error",
                                                 label));
  if (plan->engine.empty()) {
    const Format& format = *find_format(plan->format);
    method.format = plan->format;
    method.extension = is_set(*plan) ? format.master_extension() : format.extension();
  } else {
    method.format = find_engine(plan->engine)->format();
    method.extension = find_engine(plan->engine)->extension();
  }
  method.parsed = *plan;
  return method;
}

std::vector<Bound> Method::bounds(const Workload& workload) const {
  std::vector<Bound> list;
  for (const Field& field : workload.fields()) list.push_back(bound_of(parsed, field.type));
  return list;
}

void add_control(Case& made) {
  Method control = made.methods[made.baseline];
  control.label += " (A/A)";
  control.control = true;
  control.rivals.clear();
  made.methods.push_back(std::move(control));
}

namespace {

// What this build, or a library that it found, lacks for METHOD.
Status lacking(const Method& method) {
  if (method.reference) return {};
  const Plan& plan = method.parsed;
  Status status = plan.engine.empty() ? check_transport(plan, Direction::write)
                                      : find_engine(plan.engine)->check({}, plan.settings);
  return status.code() == Code::unsupported ? status : Status();
}

}  // namespace

Status choose_methods(const std::vector<std::string>& methods, bool control, Case& made,
                      std::vector<Unavailable>* unavailable) {
  for (const std::string& text : methods)
    for (const std::string& label : named_methods(text)) {
      if (std::ranges::count(made.methods, label, &Method::label) > 0)
        return invalid(fmt::format("method '{}' is given twice; --aa runs the baseline twice", label));
      auto method = make_method(label, made.regime);
      if (method && unavailable != nullptr)
        if (const Status lacks = lacking(*method); !lacks.ok()) method = lacks;
      if (method)
        made.methods.push_back(*std::move(method));
      else if (unavailable != nullptr && method.status().code() == Code::unsupported)
        unavailable->push_back({made.name, label, method.status().message()});
      else
        return method.status();
    }
  if (made.methods.empty()) return unavailable != nullptr ? Status() : invalid("--methods names no method");
  const auto found = std::ranges::find(made.methods, baseline_method, &Method::label);
  made.baseline = found == made.methods.end() ? 0 : static_cast<size_t>(found - made.methods.begin());
  if (control) add_control(made);
  return {};
}

Result<Case> make_case(const CaseWords& words) {
  PENSTOCK_ASSIGN(Case made, make_case_without_methods(words));
  PENSTOCK_TRY(choose_methods(words.methods, words.control, made, nullptr));
  return made;
}

std::vector<Case> beside_competitors(Case made) {
  if (made.competitors == 0) return {std::move(made)};
  Case quiet = made;
  quiet.competitors = 0;
  made.name += " beside a competing job";
  return {std::move(quiet), std::move(made)};
}

Result<Case> make_case_without_methods(const CaseWords& words) {
  Case made = words.given;
  PENSTOCK_TRY(check_workload(words.workload));
  made.name = made.group = made.workload_name = words.workload;
  PENSTOCK_TRY(understand_request(words, made.request));
  PENSTOCK_TRY(check_data(made.data_name));
  if (words.regime != "durable" && words.regime != "cached")
    return invalid(fmt::format("--regime is durable or cached, not '{}'", words.regime));
  made.regime = words.regime == "durable" ? Regime::durable : Regime::cached;
  if (made.ghosts < 0) return invalid("--ghosts must be positive");
  const bool blocks = words.workload.starts_with("block") || words.workload == "many" || words.workload == "pencil" ||
                      words.workload == "checkpoint";
  if (made.ghosts > 0 && !blocks)
    return invalid(
        fmt::format("--ghosts: what {} writes is contiguous in memory, without ghost cells", words.workload));
  if (made.compute_seconds < 0) return invalid("--compute must be positive");
  if (words.compute_by != "flops" && words.compute_by != "sleep")
    return invalid(fmt::format("--compute-by is flops or sleep, not '{}'", words.compute_by));
  made.asleep = words.compute_by == "sleep";
  if (made.competitors < 0) return invalid("--interfere is a number of streams");
  return made;
}

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

}  // namespace penstock::bench
