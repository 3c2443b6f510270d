// Methods: descriptors of formats, placements, transports and engines, and their combinations.
#include "core/methods/methods.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "core/base/words.hpp"
#include "core/codec/codec.hpp"
#include "core/engine/engine.hpp"
#include "core/format/format.hpp"
#include "core/placement/placement.hpp"
#include "core/transport/transport.hpp"

namespace penstock {
namespace {

const Parameter checksums{"checksums", Parameter::Type::choice, "crc64|none", "crc64",
                          "what is written with the data, so that damage is found later"};
const Parameter keep_bits{"keep_bits", Parameter::Type::integer, "0", "0",
                          "bits of the mantissa that floating-point numbers keep, rounded to nearest; 0 keeps all"};
const Parameter verify{
    "verify", Parameter::Type::choice, "never|first|always", "never",
    "whether what is read is compared with its checksums: never, when it is first read, or each time"};

// "none|auto|deflate".
const std::string& compressions() {
  static const std::string choices = [] {
    std::string text = "none|auto";
    for (const Codec* codec : codecs()) text += fmt::format("|{}", codec->describe().name);
    return text;
  }();
  return choices;
}

Descriptor make_common() {
  return {
      "common",
      "parameters of every plan",
      {{"placement", Parameter::Type::choice, "single|per_rank|parts|rank_order", "single",
        "in which files the data goes"},
       {"durability", Parameter::Type::choice, "full|none", "full", "none leaves out the syncs and nothing else"},
       {"learn", Parameter::Type::integer, "0", "0",
        "if no transport is named: try other plans on the program's own commits and reads; how many percent of their "
        "time this may cost; 0 tries none"},
       checksums,
       verify,
       {"lost_parts", Parameter::Type::choice, "refuse|zeros", "refuse",
        "reading a set that has lost parts: an error that says what is missing, or zeros there and warnings"},
       {"parity", Parameter::Type::choice, "0|1", "0",
        "of a set of files: 1 adds a file from which any one lost or damaged one is rebuilt (penstock verify "
        "--repair)"},
       {"compression", Parameter::Type::choice, compressions(), "none",
        "the codec for datasets of 64 KiB and more, in chunks with HDF5's filters (format hdf5 or raw, placement "
        "single)"},
       {"compression_level", Parameter::Type::integer, "0", "0", "how hard the codec tries; 0 is its default"},
       {"max_error", Parameter::Type::text, "a number", "0",
        "of compression=zfp: how far a stored f32 or f64 may be from what was put; 0: it is the same"},
       {"max_relative_error", Parameter::Type::text, "a number below 1", "0",
        "the same as a share of the largest absolute value of the dataset"},
       {"chunk_bytes", Parameter::Type::bytes, "64", "1MiB", "of a compressed chunk, at most, before it is encoded"},
       keep_bits,
       {"preallocate", Parameter::Type::boolean, "true|false", "true", "allocate a file's blocks before writing it"},
       {"block", Parameter::Type::bytes, "4096", "4KiB", "alignment of large datasets; no two writers share a block"},
       {"memory_bytes", Parameter::Type::bytes, "65536", "64MiB",
        "what the library holds on one rank beyond the program's data and captured puts, at most"},
       {"stripe_count", Parameter::Type::integer, "-1", "0", "Lustre: targets of a new file; -1 is all, 0 the default"},
       {"stripe_bytes", Parameter::Type::bytes, "0", "0", "Lustre: size of a stripe, by 64 KiB; 0 is the default"},
       {"stripe_offset", Parameter::Type::integer, "-1", "-1", "Lustre: the first target; -1 is any"}},
      ""};
}

const Descriptor engine_common{
    "engine_common",
    "parameters of every engine",
    {{"durability", Parameter::Type::choice, "full|none", "full", "none leaves out the syncs and nothing else"},
     checksums,
     verify,
     keep_bits},
    ""};

}  // namespace

const Vocabulary& vocabulary() {
  static const Vocabulary all = [] {
    Vocabulary c;
    for (const Format* format : formats()) c.formats.push_back(&format->describe());
    for (const Placement* placement : placements()) c.placements.push_back(&placement->describe());
    for (const Transport* transport : transports()) c.transports.push_back(&transport->describe());
    for (const Engine* engine : engines()) c.engines.push_back(&engine->describe());
    static const Descriptor common = make_common();
    c.common = &common;
    c.engine_common = &engine_common;
    return c;
  }();
  return all;
}

namespace {

// By extension. netCDF-4 writes HDF5.
constexpr std::pair<std::string_view, std::string_view> known_extensions[] = {
    {"h5", "hdf5"},     {"hdf5", "hdf5"}, {"he5", "hdf5"},   {"hdf", "hdf5"}, {"nc4", "hdf5"},
    {"vtkhdf", "hdf5"}, {"nc", "netcdf"}, {"cdf", "netcdf"}, {"raw", "raw"},  {"json", "raw"}};

// In lower case, before any numbers: "h5" of "out.H5.0001". "" where there is none.
std::string extension_of(std::string_view path) {
  path.remove_prefix(path.rfind('/') + 1);
  const size_t dot = path.rfind('.');
  if (dot == std::string_view::npos || dot == 0) return {};
  std::string extension(path.substr(dot + 1));
  if (extension.find_first_not_of("0123456789") == std::string::npos) return extension_of(path.substr(0, dot));
  std::ranges::transform(extension, extension.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return extension;
}

}  // namespace

std::string_view format_of_path(std::string_view path) {
  const std::string extension = extension_of(path);
  if (extension.empty()) return "hdf5";
  if (extension == "json") {
    const std::string inner = extension_of(path.substr(0, path.size() - 5));
    return inner == "nc" || inner == "cdf" ? "netcdf" : "raw";
  }
  for (const auto& [known, format] : known_extensions)
    if (known == extension) return format;
  return {};
}

std::string known_extensions_text() {
  std::map<std::string_view, std::string> of;
  for (const auto& [known, format] : known_extensions) of[format] += fmt::format(" .{}", known);
  std::string text;
  for (const auto& [format, list] : of) text += fmt::format("{}{} is{}", text.empty() ? "" : ", ", format, list);
  return text;
}

bool is_set(const Plan& plan) {
  return plan.engine.empty() &&
         !(find_format(plan.format)->self_contained() && find_placement(plan.placement)->one_file());
}

namespace {

constexpr int64_t max_chunk_bytes = 1 << 30;  // HDF5's are below 4 GiB

// CODEC: null for none.
Status check_errors(const Settings& settings, const Codec* codec) {
  constexpr std::string_view names[] = {"max_error", "max_relative_error"};
  for (const std::string_view name : names) {
    const std::string& text = settings.word(name);
    const auto value = parse_number<double>(text);
    const bool relative = name == names[1];
    if (!value || !std::isfinite(*value) || *value < 0 || (relative && *value >= 1))
      return {Code::invalid, fmt::format("{}={}: a number is needed that is 0 or above{}", name, text,
                                         relative ? ", and below 1" : "")};
    if (*value > 0 && (codec == nullptr || !codec->lossy()))
      return {Code::invalid, fmt::format("{}={} needs compression=zfp: other codecs have no error", name, text)};
  }
  if (settings.real(names[0]) > 0 && settings.real(names[1]) > 0)
    return {Code::invalid, "max_error and max_relative_error exclude each other: name one"};
  return {};
}

}  // namespace

Status check_compression(const Plan& plan, const Settings& settings) {
  const std::string& word = settings.word("compression");
  const bool automatic = word == "auto";
  const Codec* chosen = find_codec(word);
  if (chosen != nullptr && !chosen->describe().missing.empty())
    return {Code::unsupported, fmt::format("compression={} is not built: {}", word, chosen->describe().missing)};
  PENSTOCK_TRY(check_errors(settings, chosen));
  if (chosen == nullptr && !automatic) return {};
  if (!find_format(plan.format)->encodes())
    return {Code::unsupported,
            fmt::format("format {} stores numbers as they are: compression={} needs format hdf5 or raw", plan.format,
                        word)};
  if (!find_placement(plan.placement)->encodes())
    return {Code::unsupported, fmt::format("compression={} needs placement=single, not {}", word, plan.placement)};
  if (settings.integer("chunk_bytes") > max_chunk_bytes)
    return {Code::invalid, fmt::format("chunk_bytes={}: at most 1 GiB", settings.integer("chunk_bytes"))};
  const int64_t level = settings.integer("compression_level");
  if (level > 0 && automatic)
    return {Code::invalid,
            fmt::format("compression_level={}: compression=auto chooses the codec, with its default", level)};
  if (automatic) return {};
  const Codec& codec = *chosen;
  if (level > 0 && codec.max_level() == 0)
    return {Code::invalid, fmt::format("compression_level={}: {} has no levels", level, word)};
  if (level > codec.max_level())
    return {Code::invalid, fmt::format("compression_level={}: {} has levels up to {}", level, word, codec.max_level())};
  return {};
}

Status check_transport(const Plan& plan, Direction direction) {
  const Transport* transport = find_transport(plan.transport);
  if (transport == nullptr) return {};
  const Format& format = *find_format(plan.format);
  if (direction == Direction::write) PENSTOCK_TRY(check_compression(plan, plan.settings));
  return transport->check(
      plan.settings,
      {plan.format, format.big_endian(), !format.self_contained(), find_placement(plan.placement)->rank_order()},
      direction);
}

namespace {

std::string refusal(const std::string& text) {
  const auto plan = parse_plan(text, "raw", vocabulary());
  if (!plan) return plan.status().message();
  const Status status = check_transport(*plan, Direction::write);
  return status.ok() ? std::string() : status.message();
}

MethodRow row(std::string plan, std::string_view summary, std::string_view missing = {}) {
  std::string refused = missing.empty() ? refusal(plan) : std::string(missing);
  return {std::move(plan), std::string(summary), std::move(refused)};
}

// The cells of a transport's table. The way of requesting a cell (request) is not a cell.
void add_cells(const Transport& transport, std::vector<MethodRow>& rows) {
  std::vector<std::string> cells{""};
  for (const Parameter& parameter : transport.describe().parameters) {
    if (!parameter.combines || parameter.name == "request") continue;
    std::vector<std::string> longer;
    for (const std::string& cell : cells)
      for (const std::string_view value : split(parameter.allowed, '|'))
        longer.push_back(fmt::format("{}{}{}={}", cell, cell.empty() ? "" : ",", parameter.name, value));
    cells = std::move(longer);
  }
  if (cells.size() == 1) return;
  for (const std::string& cell : cells) {
    const std::string plan = fmt::format("raw/{}:{}", transport.describe().name, cell);
    MethodRow with_global = row(plan, transport.describe().summary, transport.describe().missing);
    MethodRow with_chunks = row(plan + ",layout=chunks", transport.describe().summary, transport.describe().missing);
    rows.push_back(with_global.refused.empty() || !with_chunks.refused.empty() ? with_global : with_chunks);
  }
}

// The variants of an engine that people compare.
constexpr std::string_view engine_ways[] = {"phdf5:collective=true", "phdf5:chunked=true,collective=true",
                                            "pnetcdf:mode=independent", "pnetcdf:mode=nonblocking",
                                            "netcdf4:mode=independent"};

}  // namespace

std::vector<std::string> plans_to_try(int64_t ranks) {
  std::vector<std::string> plans{std::string(default_transport)};
  if (ranks > 1) {
    plans.emplace_back("two_phase:writers=1");
    plans.push_back(fmt::format("two_phase:writers={}", ranks));
  }
  for (const char* plan :
       {"two_phase:io=buffered", "two_phase:io=direct", "two_phase:io=mmap", "two_phase:buffer_bytes=1MiB",
        "two_phase:buffer_bytes=4MiB", "two_phase:neighbours=messages", "two_phase:queue_depth=4", "independent",
        "independent:io=direct", "independent:io=mmap", "mpiio", "mpiio:coordination=independent"})
    plans.emplace_back(plan);
  std::erase_if(plans, [](const std::string& plan) {
    return !find_transport(plan.substr(0, plan.find(':')))->describe().missing.empty();
  });
  return plans;
}

std::vector<std::string> stripes_to_try() {
  std::vector<std::string> plans;
  for (const int count : {-1, 16, 64, 4}) plans.push_back(fmt::format("{}:stripe_count={}", default_transport, count));
  return plans;
}

std::vector<MethodRow> method_table() {
  std::vector<MethodRow> rows;
  for (const Format* format : formats()) {
    const std::string_view name = format->describe().name;
    for (const Transport* transport : transports())
      rows.push_back(row(fmt::format("{}/{}", name, transport->describe().name), transport->describe().summary,
                         transport->describe().missing));
    for (const Alias& alias : aliases()) rows.push_back(row(fmt::format("{}/{}", name, alias.name), alias.help));
    rows.push_back(row(fmt::format("{}/independent:layout=chunks", name), "each rank's blocks together in one file"));
  }
  for (const Transport* transport : transports()) add_cells(*transport, rows);
  for (const Engine* engine : engines()) {
    const Descriptor& d = engine->describe();
    rows.push_back(row(std::string(d.name), d.summary, d.missing));
    for (const std::string_view way : engine_ways)
      if (way.starts_with(fmt::format("{}:", d.name))) rows.push_back(row(std::string(way), d.summary, d.missing));
  }
  // A cell may be its transport's default, which is listed already.
  std::set<std::string> seen;
  std::erase_if(rows, [&](const MethodRow& r) {
    const auto plan = parse_plan(r.plan, "raw", vocabulary());
    return plan.ok() && !seen.insert(plan->text(vocabulary())).second;
  });
  return rows;
}

}  // namespace penstock
