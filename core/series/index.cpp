// Index: a cache of data in the steps, so that opening a series opens few of its files.
#include "core/series/index.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "core/access/recognise.hpp"
#include "core/base/guarded.hpp"
#include "core/format/regular_file.hpp"

namespace penstock {
namespace {

constexpr int64_t max_index_bytes = int64_t{1} << 28;
constexpr size_t max_warnings = 20;
constexpr std::string_view of_iteration = "iteration", of_time = "time", of_place = "series";

// An attribute of the file; null if it is not of COUNT elements of TYPE.
const Attribute* find(const Catalogue& catalogue, std::string_view name, ElementType type, int64_t count) {
  const Attribute* found = catalogue.attribute("", name);
  return found != nullptr && found->type == type && elements(found->shape) == count ? found : nullptr;
}

void warn(Steps& steps, std::string text) {
  if (steps.warnings.size() < max_warnings) steps.warnings.push_back(std::move(text));
}

// The steps in the index; nothing if there is no intact index.
Result<std::vector<Step>> read_index_file(const Pattern& pattern, Steps& steps) {
  const std::string path = pattern.index_path();
  const auto text = read_regular_file(path, max_index_bytes);
  if (text.status().code() == Code::not_found) return std::vector<Step>();
  if (!text.ok()) {
    warn(steps, fmt::format("the index of the series is made again from its files: {}", text.status().message()));
    return std::vector<Step>();
  }
  PENSTOCK_ASSIGN(auto found, decode_index(*text, pattern));
  if (found) return *std::move(found);
  warn(steps, fmt::format("the index '{}' is damaged, and is made again from the files", path));
  return std::vector<Step>();
}

Result<Step> read_step(Storage& storage, const std::string& path, int64_t iteration) {
  PENSTOCK_ASSIGN(const Contents contents, recognise_and_read(storage, path));
  const auto step = step_of(contents.catalogue);
  if (!step || step->iteration != iteration)
    return Status(Code::not_found, "it has not the attributes of this step: it is left alone");
  return *step;
}

}  // namespace

void drop_replaced(Steps& steps) {
  const auto lives = [&](const Step& step) {
    return std::ranges::none_of(
        steps.list, [&](const Step& other) { return other.branch > step.branch && other.first <= step.iteration; });
  };
  std::vector<Step> living;
  for (const Step& step : steps.list)
    if (lives(step))
      living.push_back(step);
    else
      steps.replaced.push_back(step.name);
  steps.list = std::move(living);
}

std::vector<Attribute> attributes_of(const Step& step) {
  const int64_t place[3] = {step.branch, step.first, step.number};
  return {make_attribute(std::string(of_iteration), {Kind::i64}, &step.iteration, -1),
          make_attribute(std::string(of_time), {Kind::f64}, &step.time, -1),
          make_attribute(std::string(of_place), {Kind::i64}, place, 3)};
}

std::optional<Step> step_of(const Catalogue& catalogue) {
  const Attribute* iteration = find(catalogue, of_iteration, {Kind::i64}, 1);
  const Attribute* time = find(catalogue, of_time, {Kind::f64}, 1);
  const Attribute* place = find(catalogue, of_place, {Kind::i64}, 3);
  if (iteration == nullptr || time == nullptr || place == nullptr) return std::nullopt;
  Step step;
  int64_t where[3] = {};
  std::memcpy(&step.iteration, iteration->value.data(), sizeof step.iteration);
  std::memcpy(&step.time, time->value.data(), sizeof step.time);
  std::memcpy(where, place->value.data(), sizeof where);
  step.branch = where[0];
  step.first = where[1];
  step.number = where[2];
  if (step.iteration < 0 || step.branch < 0 || step.first < 0 || step.first > step.iteration || step.number < 0)
    return std::nullopt;
  return step;
}

Result<Steps> find_steps(Storage& storage, const Pattern& pattern) {
  Steps steps;
  PENSTOCK_ASSIGN(const std::vector<Step> known, read_index_file(pattern, steps));
  const auto names = storage.list(pattern.folder.empty() ? "." : pattern.folder);
  if (!names.ok()) return names.status();
  for (const std::string& name : *names) {
    const auto iteration = pattern.iteration_of(name);
    if (!iteration) continue;
    const std::string path = pattern.folder + name;
    const auto info = storage.stat(path);
    if (!info.ok()) continue;  // it was removed in the meantime
    const auto at = std::ranges::lower_bound(known, *iteration, {}, &Step::iteration);
    if (at != known.end() && at->iteration == *iteration && at->name == name && at->bytes == info->bytes &&
        at->changed_at == info->changed_at) {
      steps.list.push_back(*at);
      continue;
    }
    Result<Step> step = Status(Code::internal, "");
    const Status guard = guarded([&]() -> Status {
      step = read_step(storage, path, *iteration);
      return step.status();
    });
    if (!guard.ok()) {
      warn(steps, fmt::format("'{}' was skipped: {}", path, guard.message()));
      continue;
    }
    step->name = name;
    step->bytes = info->bytes;
    step->changed_at = info->changed_at;
    steps.list.push_back(*std::move(step));
  }
  std::ranges::stable_sort(steps.list, {}, &Step::iteration);
  const auto twice = [](const Step& a, const Step& b) { return a.iteration == b.iteration; };
  steps.list.erase(std::unique(steps.list.begin(), steps.list.end(), twice), steps.list.end());
  drop_replaced(steps);
  return steps;
}

}  // namespace penstock
