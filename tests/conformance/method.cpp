// The methods that there are, from the same tables that the parser and the help read.
#include "tests/conformance/method.hpp"

#include <array>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include "core/codec/codec.hpp"
#include "core/engine/engine.hpp"
#include "core/format/format.hpp"
#include "core/methods/methods.hpp"
#include "core/plan/plan.hpp"
#include "core/transport/transport.hpp"

namespace penstock::test {

namespace {

std::vector<std::string> split(std::string_view choices) {
  std::vector<std::string> list;
  while (!choices.empty()) {
    const size_t bar = std::min(choices.find('|'), choices.size());
    list.emplace_back(choices.substr(0, bar));
    choices.remove_prefix(std::min(bar + 1, choices.size()));
  }
  return list;
}

// Values other than the fallback that are worth a run of their own.
std::vector<std::string> values(const Parameter& parameter) {
  std::vector<std::string> list;
  switch (parameter.type) {
    case Parameter::Type::choice: list = split(parameter.allowed); break;
    case Parameter::Type::boolean: list = {"true", "false"}; break;
    case Parameter::Type::bytes: list = {parameter.name == "block" ? "64KiB" : "65536"}; break;
    case Parameter::Type::integer: list = {"1", "2", "3"}; break;
    case Parameter::Type::text: break;
  }
  if (parameter.name == "round_runs") list = {"30"};  // 1 would be thousands of rounds; mpiio_test has it
  if (parameter.name == "keep_bits") list = {"52"};   // with fewer, other values are read than were put
  std::erase_if(list, [&](const std::string& value) { return value == parameter.fallback; });
  return list;
}

// Every choice of values for the parameters that combine, as "name=value,..." of those that are no fallbacks.
std::vector<std::string> combinations(const Descriptor& descriptor) {
  std::vector<std::string> list{""};
  for (const Parameter& parameter : descriptor.parameters) {
    if (!parameter.combines) continue;
    std::vector<std::string> longer = list;
    for (const std::string& value : values(parameter))
      for (const std::string& before : list)
        longer.push_back(before + (before.empty() ? "" : ",") + std::string(parameter.name) + "=" + value);
    list = std::move(longer);
  }
  list.erase(list.begin());  // nothing but fallbacks
  return list;
}

// Appended to plans of TRANSPORT: with 256 MiB to reserve and clear for each, most of the time would go there.
std::string small_buffer(const Descriptor& transport, std::string_view but_for) {
  return transport.name == "servers" && but_for != "buffer_bytes" ? ",buffer_bytes=4MiB" : "";
}

// Whether the transport of PLAN says that there is no such thing: those are no methods.
bool possible(const std::string& plan) {
  const auto parsed = parse_plan(plan, "raw", vocabulary());
  if (!parsed) return false;
  return find_transport(parsed->transport) != nullptr && check_transport(*parsed, Direction::write).ok() &&
         check_transport(*parsed, Direction::read).ok();
}

// Parameters of engines that only do something together. MAY_REFUSE: with libraries that have the filter, or the call.
struct Together {
  std::string_view engine, parameters;
  bool may_refuse = false;
};
constexpr Together together[] = {
    {"phdf5", "collective=true,chunked=true"},
    {"phdf5", "collective=true,chunked=true,chunk=5x7"},
    {"phdf5", "collective=true,coll_metadata=true"},
    {"phdf5", "collective=true,chunked=true,fill=true"},
    {"phdf5", "collective=true,multi_dataset=true", true},
    {"phdf5", "collective=true,chunked=true,filter=deflate,level=1"},
    {"phdf5", "collective=true,chunked=true,filter=deflate,shuffle=true"},
    {"phdf5", "collective=true,chunked=true,filter=zstd", true},
    {"phdf5", "collective=true,chunked=true,filter=blosc", true},
    {"phdf5", "alignment=65536,alignment_threshold=1024"},
};

// Where one of these differs from its fallback alone, a library may lack it.
bool depends(const Parameter& parameter) { return parameter.name == "filter" || parameter.name == "multi_dataset"; }

void add_engine(const Engine& engine, std::vector<Method>& bases, std::vector<Method>& variants) {
  const std::string name(engine.describe().name), extension = "." + std::string(engine.extension());
  const std::string format(engine.format());
  const std::string first = format.empty() ? name : format, second = format.empty() ? "" : name;
  // What the library adds to netCDF-4 files would be lost: they cannot be reopened.
  const std::string changing = name == "netcdf4" ? "" : format;
  bases.push_back({name, first, extension, true, false, changing, second, name});
  const auto add = [&](const std::string& parameters, bool may_refuse) {
    const std::string plan = name + ":" + parameters;
    variants.push_back({plan, first, extension, false, may_refuse, changing, plan, name});
  };
  for (const Parameter& parameter : engine.describe().parameters)
    for (const std::string& value : values(parameter))
      add(std::string(parameter.name) + "=" + value, depends(parameter));
  for (const Together& one : together)
    if (one.engine == name) add(std::string(one.parameters), one.may_refuse);
}

}  // namespace

std::vector<Method> methods() {
  const Vocabulary& all = vocabulary();
  std::vector<Method> bases, variants;
  const auto built = [](const Descriptor* d) { return d->missing.empty(); };
  std::map<const Descriptor*, std::vector<std::string>> left;  // of each transport's combinations
  for (const Descriptor* transport : all.transports) left[transport] = combinations(*transport);
  for (const Descriptor* format : all.formats)
    for (const Descriptor* transport : all.transports) {
      if (!built(format) || !built(transport)) continue;
      std::vector<std::string>& combined = left[transport];
      for (const Descriptor* placement : all.placements) {
        if (!built(placement)) continue;
        const std::string way = std::string(format->name) + "/" + std::string(transport->name);
        const std::string place = placement->name == "single" ? "" : "placement=" + std::string(placement->name);
        const std::string extension = "." + std::string(find_format(format->name)->extension());
        const std::string reader(transport->name);
        const auto plan = [&](std::string parameters) {
          if (!place.empty() && !parameters.empty()) parameters = "," + parameters;
          const std::string list = place + parameters;
          return list.empty() ? way : way + ":" + list;
        };
        bases.push_back({plan(""), reader, extension, true, false, plan("")});
        // Chunks so small that what is written here is encoded.
        for (const Codec* codec : codecs()) {
          const std::string encoded = plan(fmt::format("compression={},chunk_bytes=256", codec->describe().name));
          if (transport->name == "two_phase" && possible(encoded))
            bases.push_back({encoded, reader, extension, true, false, encoded, "", "", true});
        }
        // Each with the first format and placement that it can have. What the library at hand breaks is refused.
        std::erase_if(combined, [&](const std::string& settings) {
          if (!possible(plan(settings))) return false;
          variants.push_back({plan(settings), reader + ":" + settings, extension, false, true, plan(settings)});
          return true;
        });
        for (const auto* parameters : {&placement->parameters, &transport->parameters, &format->parameters})
          for (const Parameter& parameter : *parameters)
            for (const std::string& value : values(parameter)) {
              const bool reads = parameters == &transport->parameters;
              const bool may_refuse = parameter.name == "io" || parameter.name == "datarep" ||
                                      (parameter.name == "kind" && value == "ranks");
              const std::string setting =
                  std::string(parameter.name) + "=" + value + (reads ? small_buffer(*transport, parameter.name) : "");
              // A transport knows neither formats nor placements: each of its values with the first format in all
              // placements, and with the other formats in their first.
              if (reads && format != all.formats.front() && placement != all.placements.front()) continue;
              if (parameter.combines || !possible(plan(setting))) continue;
              variants.push_back({plan(setting), reads ? reader + ":" + setting : reader, extension, false, may_refuse,
                                  plan(setting)});
            }
        for (const Parameter& parameter : all.common->parameters) {
          // Parameters of every plan: once for each format and transport is enough; parity in all placements that make
          // sets. The placements are the loop around this.
          if ((!place.empty() && parameter.name != "parity") || parameter.name == "placement") continue;
          if (parameter.name == "compression" && !find_format(format->name)->encodes()) continue;
          if (parameter.name == "level" || parameter.name == "chunk_bytes") continue;  // of compression
          for (const std::string& value : values(parameter))
            variants.push_back({plan(std::string(parameter.name) + "=" + value), reader, extension, false, true, way});
        }
      }
    }
  for (const Engine* engine : engines())
    if (built(&engine->describe())) add_engine(*engine, bases, variants);
  bases.insert(bases.end(), variants.begin(), variants.end());
  return bases;
}

}  // namespace penstock::test
