// The methods that there are, from the same tables that the parser and the help read.
#include "tests/conformance/method.hpp"

#include <array>
#include <string_view>

#include "core/session/methods.hpp"

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
  }
  std::erase_if(list, [&](const std::string& value) { return value == parameter.fallback; });
  return list;
}

}  // namespace

std::vector<Method> methods() {
  const Catalog& all = catalog();
  std::vector<Method> bases, variants;
  const auto built = [](const Descriptor* d) { return d->missing.empty(); };
  for (const Descriptor* format : all.formats)
    for (const Descriptor* transport : all.transports)
      for (const Descriptor* placement : all.placements) {
        if (!built(format) || !built(transport) || !built(placement)) continue;
        const std::string way = std::string(format->name) + "/" + std::string(transport->name);
        const std::string place = placement->name == "single" ? "" : "placement=" + std::string(placement->name);
        const std::string extension = format->name == "hdf5" ? ".h5" : "." + std::string(format->name);
        const std::string reader(transport->name);
        const auto plan = [&](std::string parameters) {
          if (!place.empty() && !parameters.empty()) parameters = "," + parameters;
          const std::string list = place + parameters;
          return list.empty() ? way : way + ":" + list;
        };
        bases.push_back({plan(""), reader, extension, true, false});
        for (const auto* parameters : {&placement->parameters, &transport->parameters, &format->parameters})
          for (const Parameter& parameter : *parameters)
            for (const std::string& value : values(parameter)) {
              const std::string setting = std::string(parameter.name) + "=" + value;
              const bool reads = parameters == &transport->parameters;
              variants.push_back(
                  {plan(setting), reads ? reader + ":" + setting : reader, extension, false, parameter.name == "io"});
            }
        for (const Parameter& parameter : all.common->parameters) {
          // Parameters of every plan: once for each format and transport is enough. The placements are the
          // loop around this.
          if (!place.empty() || parameter.name == "placement") continue;
          for (const std::string& value : values(parameter))
            variants.push_back({plan(std::string(parameter.name) + "=" + value), reader, extension, false, true});
        }
      }
  bases.insert(bases.end(), variants.begin(), variants.end());
  return bases;
}

}  // namespace penstock::test
