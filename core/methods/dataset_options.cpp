// DatasetOptions: their table, and what they override in a plan.
#include "core/methods/dataset_options.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "core/base/words.hpp"
#include "core/methods/methods.hpp"

namespace penstock {
namespace {

constexpr std::string_view as_plan = "plan";

// Options that override parameters of the plan, where a codec is named.
constexpr std::pair<std::string_view, std::string_view> overrides[] = {{"compression", "compression"},
                                                                       {"level", "compression_level"},
                                                                       {"max_error", "max_error"},
                                                                       {"max_relative_error", "max_relative_error"}};

const Parameter& common_parameter(std::string_view name) {
  return *std::ranges::find(vocabulary().common->parameters, name, &Parameter::name);
}

Descriptor make_descriptor() {
  static const std::string codecs = fmt::format("{}|{}", as_plan, common_parameter("compression").allowed);
  return {"a dataset",
          "options of one dataset",
          {{"type", Parameter::Type::text, "a type of elements: f32, i16, ...", "",
            "in the file; by default that of the program"},
           {"keep_bits", Parameter::Type::integer, "0", "0",
            "bits of the mantissa that floating-point numbers keep; the others are rounded to zero; 0 is the plan's"},
           {"scale", Parameter::Type::text, "a number", "1", "stored is (value - offset) / scale; readers multiply"},
           {"offset", Parameter::Type::text, "a number", "0", "stored is (value - offset) / scale; readers add"},
           {"compression", Parameter::Type::choice, codecs, as_plan, "the codec, or none"},
           {"level", Parameter::Type::integer, "0", "0", "how hard the codec tries; 0 is its default"},
           {"max_error", Parameter::Type::text, "a number", "0", "of compression=zfp, as in a plan"},
           {"max_relative_error", Parameter::Type::text, "a number below 1", "0", "of compression=zfp, as in a plan"}},
          ""};
}

Result<double> number(const Settings& settings, std::string_view name) {
  const std::string& word = settings.word(name);
  const auto value = parse_number<double>(word);
  if (!value || !std::isfinite(*value)) return Status(Code::invalid, fmt::format("{}={} is no number", name, word));
  return *value;
}

Result<Precision> precision_of(const Settings& settings) {
  Precision precision;
  if (const std::string& word = settings.word("type"); !word.empty()) {
    PENSTOCK_ASSIGN(precision.type, parse_type(word));
  }
  precision.keep_bits = static_cast<int>(std::min<int64_t>(settings.integer("keep_bits"), 64));
  PENSTOCK_ASSIGN(precision.scale, number(settings, "scale"));
  PENSTOCK_ASSIGN(precision.offset, number(settings, "offset"));
  if (precision.scale == 0) return Status(Code::invalid, "scale=0: values are divided by it");
  precision.packed = precision.scale != 1 || precision.offset != 0;
  return precision;
}

std::string text_of(const Settings& settings) {
  std::string text;
  for (const Parameter& parameter : dataset_descriptor().parameters)
    if (const std::string& word = settings.word(parameter.name); word != parameter.fallback)
      text += fmt::format("{}{}={}", text.empty() ? "" : ",", parameter.name, word);
  return text;
}

}  // namespace

const Descriptor& dataset_descriptor() {
  static const Descriptor descriptor = make_descriptor();
  return descriptor;
}

Result<DatasetOptions> parse_dataset_options(std::string_view text, const Plan& plan) {
  PENSTOCK_ASSIGN(const Settings settings, parse_settings(text, dataset_descriptor()));
  DatasetOptions options{text_of(settings), {}};
  PENSTOCK_ASSIGN(options.precision, precision_of(settings));
  const std::string& codec = settings.word("compression");
  if (codec == as_plan || codec == "none")
    for (const std::string_view name : {"level", "max_error", "max_relative_error"})
      if (settings.word(name) != "0")
        return Status(Code::invalid,
                      fmt::format("{}={}: name the codec too, compression=...", name, settings.word(name)));
  if (codec == as_plan) return options;
  if (!plan.engine.empty())
    return Status(Code::unsupported, fmt::format("compression={}: engine {} stores all datasets in the way that its "
                                                 "plan says",
                                                 codec, plan.engine));
  PENSTOCK_TRY(check_compression(plan, encoding_settings(plan, options.text)));
  return options;
}

bool is_of_codec(std::string_view option) {
  return std::ranges::any_of(overrides, [&](const auto& one) { return one.first == option; });
}

bool allows_errors(const DatasetOptions& options) {
  const auto settings = parse_settings(options.text, dataset_descriptor());
  return settings.ok() && (settings->word("max_error") != "0" || settings->word("max_relative_error") != "0");
}

Precision default_precision(const Plan& plan, const ElementType& given) {
  Precision precision{.keep_bits = static_cast<int>(std::min<int64_t>(plan.settings.integer("keep_bits"), 64))};
  return stored_type(precision, given).ok() ? precision : Precision();
}

bool keeps_bits(const Plan& plan, std::string_view text) {
  if (!plan.engine.empty()) return false;
  const Settings settings = encoding_settings(plan, text);
  const Codec* codec = find_codec(settings.word("compression"));
  return codec != nullptr && !codec->lossy() && check_compression(plan, settings).ok();
}

Settings encoding_settings(const Plan& plan, std::string_view text) {
  Settings settings = plan.settings;
  const auto own = parse_settings(text, dataset_descriptor());
  if (!own || own->word("compression") == as_plan) return settings;
  for (const auto& [option, parameter] : overrides)
    (void)settings.set(common_parameter(parameter), own->word(option));  // both have the same values
  return settings;
}

}  // namespace penstock
