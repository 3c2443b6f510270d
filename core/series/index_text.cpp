// Index text: JSON with its own checksum; statements are accepted only if they are possible.
#include <cmath>
#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include "core/base/crc64.hpp"
#include "core/format/json_text.hpp"
#include "core/series/index.hpp"

namespace penstock {
namespace {

constexpr std::string_view sum_key = ",\n \"crc64\": ";

uint64_t sum_of(std::string_view text) { return crc64(std::as_bytes(std::span(text))); }

std::string json_string(std::string_view text) {
  std::string out;
  append_json(out, text);
  return out;
}

bool is_whole(std::string_view text, const nlohmann::json& root) {
  const auto sum = root.find("crc64");
  const size_t at = text.rfind(sum_key);
  std::vector<uint64_t> words;
  return sum != root.end() && sum->is_string() && at != std::string_view::npos &&
         words_of(sum->get_ref<const std::string&>(), words) && words.size() == 1 &&
         words[0] == sum_of(text.substr(0, at));
}

Status lies(const Pattern& pattern, std::string_view why) {
  return {Code::damaged, fmt::format("the index '{}' is refused: {}; without it, it is made again from the files",
                                     pattern.index_path(), why)};
}

Status read_number(const nlohmann::json& object, const char* key, int64_t& value) {
  const auto at = object.find(key);
  if (at == object.end()) return {Code::damaged, fmt::format("a step has no '{}'", key)};
  PENSTOCK_ASSIGN(value, natural_from_json(*at, key));
  return {};
}

Result<Step> step_from_json(const nlohmann::json& object, const Pattern& pattern) {
  if (!object.is_object()) return Status(Code::damaged, "a step is no object");
  Step step;
  PENSTOCK_TRY(read_number(object, "iteration", step.iteration));
  PENSTOCK_TRY(read_number(object, "branch", step.branch));
  PENSTOCK_TRY(read_number(object, "first", step.first));
  PENSTOCK_TRY(read_number(object, "number", step.number));
  PENSTOCK_TRY(read_number(object, "bytes", step.bytes));
  PENSTOCK_TRY(read_number(object, "changed_at", step.changed_at));
  const auto time = object.find("time"), file = object.find("file");
  if (time == object.end() || !time->is_number() || !std::isfinite(time->get<double>()))
    return Status(Code::damaged, "a step's 'time' is no number");
  step.time = time->get<double>();
  if (file == object.end() || !file->is_string()) return Status(Code::damaged, "a step's 'file' is no text");
  PENSTOCK_ASSIGN(step.name, from_json_string(file->get_ref<const std::string&>()));
  if (pattern.iteration_of(step.name) != step.iteration)
    return Status(Code::damaged, fmt::format("'{}' is not the file of iteration {}", step.name, step.iteration));
  return step;
}

}  // namespace

std::string encode_index(const Pattern& pattern, std::span<const Step> steps) {
  std::string out = fmt::format("{{\"schema\": \"{}\",\n \"pattern\": {},\n \"steps\": [", series_schema,
                                json_string(pattern.text()));
  for (size_t i = 0; i < steps.size(); ++i) {
    const Step& step = steps[i];
    fmt::format_to(
        std::back_inserter(out),
        "{}\n  {{\"iteration\": {}, \"time\": {}, \"file\": {}, \"number\": {}, \"branch\": {}, \"first\": {}, "
        "\"bytes\": {}, \"changed_at\": {}}}",
        i == 0 ? "" : ",", step.iteration, step.time, json_string(step.name), step.number, step.branch, step.first,
        step.bytes, step.changed_at);
  }
  out += "\n ]";
  const uint64_t sum = sum_of(out);
  return out + std::string(sum_key) + json_string(hexadecimal(std::span(&sum, 1))) + "}\n";
}

Result<std::optional<std::vector<Step>>> decode_index(std::string_view text, const Pattern& pattern) {
  using Found = std::optional<std::vector<Step>>;
  const auto root = nlohmann::json::parse(text, nullptr, false);
  if (!root.is_object() || !is_whole(text, root)) return Found();
  const auto schema = root.find("schema"), of = root.find("pattern"), list = root.find("steps");
  if (schema == root.end() || *schema != std::string(series_schema))
    return lies(pattern, fmt::format("its schema is not '{}'", series_schema));
  if (of == root.end() || !of->is_string() || list == root.end() || !list->is_array())
    return lies(pattern, "it has no 'pattern' or no 'steps'");
  PENSTOCK_ASSIGN(const std::string owner, from_json_string(of->get_ref<const std::string&>()));
  if (owner != pattern.text())
    return Status(Code::exists,
                  fmt::format("'{}' is the index of series '{}': give '{}' another name, or another folder",
                              pattern.index_path(), owner, pattern.text()));
  std::vector<Step> steps;
  for (const auto& object : *list) {
    auto step = step_from_json(object, pattern);
    if (!step.ok()) return lies(pattern, step.status().message());
    if (!steps.empty() && steps.back().iteration >= step->iteration)
      return lies(pattern, "its steps do not ascend in iterations");
    steps.push_back(*std::move(step));
  }
  return Found(std::move(steps));
}

}  // namespace penstock
