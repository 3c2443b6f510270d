// OutputProfile: a list of rules in TOML, of which the first that names a dataset counts.
#include "core/methods/output_profile.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <ranges>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/crc64.hpp"
#include "core/base/nearest.hpp"
#include "core/base/words.hpp"
#include "core/model/settings.hpp"
#include "core/plan/hints.hpp"
#include "core/plan/override.hpp"
#include "core/plan/toml_line.hpp"

namespace penstock {
namespace {

using ValueKind = TomlValue::Kind;

constexpr int64_t max_step = 1'000'000'000;
constexpr std::string_view own_keys[] = {"name", "files", "write", "every", "mean", "box", "steps"};

bool matches(const std::string& pattern, const std::string& text) {
  return ::fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
}

Status expected(std::string_view key, std::string_view what) {
  return {Code::invalid, fmt::format("'{}' must be {}", key, what)};
}

Result<std::vector<std::string>> texts_of(const std::string& key, const TomlValue& value) {
  if (value.kind == ValueKind::text) return std::vector<std::string>{value.text};
  std::vector<std::string> list;
  for (const TomlValue& one : value.list)
    if (one.kind == ValueKind::text) list.push_back(one.text);
  if (list.empty() || list.size() != value.list.size()) return expected(key, "a string, or a list of strings");
  return list;
}

// Whole numbers from LEAST on, one for each dimension.
Result<std::vector<int64_t>> numbers_of(const std::string& key, const TomlValue& value, int64_t least, int64_t most) {
  std::vector<int64_t> list;
  for (const TomlValue& one : value.list)
    if (one.kind == ValueKind::integer && one.integer >= least && one.integer <= most) list.push_back(one.integer);
  if (list.empty() || list.size() != value.list.size() || list.size() > max_rank)
    return expected(key, fmt::format("a list of 1 to {} whole numbers from {} to {}", max_rank, least, most));
  return list;
}

Result<std::vector<int64_t>> steps_of(const std::string& key, const TomlValue& value) {
  const auto list = value.kind == ValueKind::integer
                        ? numbers_of(key, {ValueKind::list, {}, 0, {value}, {}}, 1, max_step)
                        : numbers_of(key, value, 1, max_step);
  if (list.ok()) return list;
  return expected(key, fmt::format("a whole number from 1 to {}, or a list of them, one for each dimension", max_step));
}

Result<Box> box_of(const TomlValue& value) {
  std::optional<Dims> start, count;
  for (const TomlEntry& entry : value.table) {
    auto* place = entry.key == "start" ? &start : entry.key == "count" ? &count : nullptr;
    if (place == nullptr || *place) return expected("box", "{ start = [0, 0], count = [10, 10] }, each of them once");
    PENSTOCK_ASSIGN(const std::vector<int64_t> numbers,
                    numbers_of("box." + entry.key, entry.value, entry.key == "start" ? 0 : 1, INT64_MAX / 2));
    *place = Dims(std::span<const int64_t>(numbers));
  }
  if (!start || !count || start->rank() != count->rank())
    return expected("box", "{ start = [0, 0], count = [10, 10] }, with a number for each dimension in both");
  return Box{*start, *count};
}

class Reader {
 public:
  explicit Reader(OutputProfile& profile) : profile_(profile) {}

  Status read() {
    int number = 0;
    for (std::string_view text : split(profile_.text, '\n')) {
      if (++number == 1 && text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);  // some editors' mark for UTF-8
      PENSTOCK_TRY(wrong(number, read_line(number, TomlLine(text))));
    }
    return end_rule();
  }

 private:
  Status wrong(int line, const Status& status) const { return status.in(fmt::format("{}:{}", profile_.file, line)); }

  Status read_line(int number, TomlLine line) {
    if (line.at_end()) return {};
    if (line.take_header() == "dataset" && line.at_end()) {
      PENSTOCK_TRY(end_rule());
      profile_.rules.emplace_back().line = number;
      keys_.clear();
      return {};
    }
    const std::string key(line.take_key());
    if (key.empty() || !line.take('='))
      return {Code::invalid, "an output profile has lines KEY = VALUE, in [[dataset]] entries"};
    if (!keys_.insert(key).second) return {Code::invalid, fmt::format("'{}' is there twice", key)};
    const auto value = line.take_value();
    if (!value || !line.at_end())
      return expected(key, "one value on one line: a string, a number, true, false, [1, 2] or { a = [1, 2] }");
    if (!profile_.rules.empty()) return take(profile_.rules.back(), key, *value);
    if (key != "files")
      return {Code::invalid, fmt::format("'{}' before the first [[dataset]]: only 'files' is known there", key)};
    return take_texts(profile_.files, key, *value);
  }

  static Status take_texts(std::vector<std::string>& place, const std::string& key, const TomlValue& value) {
    PENSTOCK_ASSIGN(place, texts_of(key, value));
    return {};
  }

  static Status take(OutputRule& rule, const std::string& key, const TomlValue& value) {
    if (key == "name") {
      if (value.kind != ValueKind::text || value.text.empty())
        return expected(key, "the name of a dataset, or a pattern");
      rule.name = value.text.starts_with('/') ? value.text.substr(1) : value.text;
    } else if (key == "files") {
      return take_texts(rule.files, key, value);
    } else if (key == "write") {
      if (value.kind != ValueKind::boolean) return expected(key, "true or false");
      rule.write = value.integer != 0;
    } else if (key == "every" || key == "mean") {
      PENSTOCK_ASSIGN((key == "mean" ? rule.mean : rule.every), steps_of(key, value));
    } else if (key == "box") {
      PENSTOCK_ASSIGN(rule.box, box_of(value));
    } else if (key == "steps") {
      if (value.kind != ValueKind::integer || value.integer < 1) return expected(key, "a whole number from 1");
      rule.steps = value.integer;
    } else {
      return take_option(rule, key, value);
    }
    return {};
  }

  static Status take_option(OutputRule& rule, const std::string& key, const TomlValue& value) {
    const auto& options = dataset_descriptor().parameters;
    const auto option = std::ranges::find(options, key, &Parameter::name);
    if (option == options.end()) {
      std::vector<std::string> names(std::begin(own_keys), std::end(own_keys));
      for (const Parameter& one : options) names.emplace_back(one.name);
      return {Code::invalid, fmt::format("'{}' is unknown: a [[dataset]] has {}{}", key, fmt::join(names, ", "),
                                         did_you_mean(key, names))};
    }
    if (value.kind == ValueKind::list || value.kind == ValueKind::table) return expected(key, "one value");
    Settings settings;
    PENSTOCK_TRY(settings.set(*option, value.text));
    rule.options += fmt::format("{}{}={}", rule.options.empty() ? "" : ",", key, value.text);
    return {};
  }

  Status end_rule() const {
    if (profile_.rules.empty()) return {};
    const OutputRule& last = profile_.rules.back();
    const auto refuse = [&](const char* why) { return wrong(last.line, {Code::invalid, why}); };
    if (last.name.empty()) return refuse("this [[dataset]] has no 'name'");
    if (!last.every.empty() && !last.mean.empty())
      return refuse("this [[dataset]] has 'every' and 'mean': one of them is possible");
    const size_t rank = last.box ? static_cast<size_t>(last.box->start.rank()) : 0;
    for (const auto* steps : {&last.every, &last.mean})
      if (rank > 0 && steps->size() > 1 && steps->size() != rank)
        return refuse("this [[dataset]] has a box of other dimensions than 'every' or 'mean'");
    return {};
  }

  OutputProfile& profile_;
  std::set<std::string> keys_;
};

bool is_for(const std::vector<std::string>& files, const std::string& path) {
  return files.empty() || std::ranges::any_of(files, [&](const auto& pattern) { return matches_path(pattern, path); });
}

}  // namespace

const OutputRule* OutputProfile::rule_for(const std::string& name) const {
  const auto found = std::ranges::find_if(rules, [&](const OutputRule& rule) { return matches(rule.name, name); });
  return found == rules.end() ? nullptr : &*found;
}

bool OutputProfile::leaves_out(const std::string& name, int64_t step) const {
  const OutputRule* rule = rule_for(name);
  return rule != nullptr && (!rule->write || (step >= 0 && step % rule->steps != 0));
}

std::vector<std::string> OutputProfile::without_use(const std::set<std::string>& datasets) const {
  constexpr std::ptrdiff_t most = 20;  // names in a warning
  std::vector<std::string> warnings;
  for (const OutputRule& rule : rules) {
    if (std::ranges::any_of(datasets, [&](const std::string& name) { return matches(rule.name, name); })) continue;
    const auto end = std::next(datasets.begin(), std::min<std::ptrdiff_t>(std::ssize(datasets), most));
    warnings.push_back(
        fmt::format("{}: name = '{}' matches no dataset of this file, which has {}{}", place_of(rule), rule.name,
                    datasets.empty() ? "none" : fmt::format("{}", fmt::join(datasets.begin(), end, ", ")),
                    std::ssize(datasets) > most ? fmt::format(", ... ({} in all)", datasets.size()) : ""));
  }
  return warnings;
}

std::string OutputProfile::place_of(const OutputRule& rule) const { return fmt::format("{}:{}", file, rule.line); }

std::string OutputProfile::signature() const {
  return fmt::format("{}, crc64 {:016x}", file.substr(file.find_last_of('/') + 1),
                     crc64(std::as_bytes(std::span(text))));
}

Result<std::optional<OutputProfile>> read_output_profile(const char* const* environment) {
  const auto file = find_setting(environment, "PENSTOCK_PROFILE");
  if (!file || file->empty()) return std::optional<OutputProfile>();
  OutputProfile profile;
  profile.file = *file;
  std::ifstream in(profile.file, std::ios::binary);
  profile.text.assign(std::istreambuf_iterator<char>(in), {});
  if (!in.is_open() || in.bad())
    return Status(Code::not_found, profile.file + ": this output profile, of PENSTOCK_PROFILE, cannot be read");
  return std::optional(std::move(profile));
}

Status parse_output_profile(OutputProfile& profile) { return Reader(profile).read(); }

Status choose_rules(OutputProfile& profile, const std::string& path, const Plan& plan) {
  std::erase_if(profile.rules,
                [&](const OutputRule& rule) { return !is_for(profile.files, path) || !is_for(rule.files, path); });
  for (const OutputRule& rule : profile.rules)
    if (rule.write) PENSTOCK_TRY(parse_dataset_options(rule.options, plan).status().in(profile.place_of(rule)));
  return {};
}

Result<std::optional<Subset>> subset_of(const OutputRule& rule, const ElementType& type, const Dims& shape, bool rows) {
  const std::vector<int64_t>& steps = rule.mean.empty() ? rule.every : rule.mean;
  const int rank = shape.rank();
  if (!rule.thins() || (rank == 0 && steps.size() <= 1 && !rule.box)) return std::optional<Subset>();
  const bool of_another_rank =
      (steps.size() > 1 && std::ssize(steps) != rank) || (rule.box && rule.box->start.rank() != rank);
  if (of_another_rank)
    return Status(Code::invalid, fmt::format("the dataset has {} dimensions, the profile {} numbers", rank,
                                             rule.box ? rule.box->start.rank() : static_cast<int>(steps.size())));
  if (rows && (rule.box || !rule.mean.empty()))
    return Status(Code::invalid,
                  fmt::format("{} of ragged rows: only 'every' is possible", rule.box ? "a box" : "means"));
  if (!rule.mean.empty() && !is_floating(type))
    return Status(Code::invalid, fmt::format("means of {}: only floating-point numbers have them", name(type)));
  Subset subset{shape, Dims::filled(rank, 0), shape, Dims::filled(rank, 1), !rule.mean.empty(), rows};
  if (rule.box) {
    subset.start = rule.box->start;
    subset.count = rule.box->count;
  }
  for (int d = 0; d < rank; ++d) {
    if (subset.start[d] > shape[d] || subset.count[d] > shape[d] - subset.start[d])
      return Status(Code::invalid, fmt::format("the box {} from {} leaves the dataset {}", describe(subset.count),
                                               describe(subset.start), describe(shape)));
    if (steps.size() > 1) subset.step[d] = steps[static_cast<size_t>(d)];
    if (steps.size() == 1 && (d == 0 || !rows)) subset.step[d] = steps[0];
  }
  const bool all = subset.count == shape && subset.step == Dims::filled(rank, 1);
  return all ? std::optional<Subset>() : std::optional(subset);
}

Result<DatasetOptions> options_of(const OutputRule& rule, const ElementType& type, std::string_view program,
                                  const Plan& plan) {
  PENSTOCK_ASSIGN(const DatasetOptions asked, parse_dataset_options(rule.options, plan));
  PENSTOCK_ASSIGN(const auto own, split_parameters(rule.options));
  PENSTOCK_ASSIGN(const auto said, split_parameters(program));
  const bool rounds = asked.precision.keep_bits > 0 || (asked.precision.type && is_floating(*asked.precision.type));
  const bool concerns = is_floating(type) || !rounds;
  bool codec = false, numbers = false;
  for (const auto& [option, value] : own) (is_of_codec(option) ? codec : numbers) = true;
  std::string text;
  const auto add = [&](const auto& options, bool of_codec, bool of_numbers) {
    for (const auto& [option, value] : options)
      if (is_of_codec(option) ? of_codec : of_numbers)
        text += fmt::format("{}{}={}", text.empty() ? "" : ",", option, value);
  };
  numbers = numbers && concerns;
  add(own, true, numbers);
  add(said, !codec, !numbers);
  return parse_dataset_options(text, plan);
}

}  // namespace penstock
