// Methods as JSON ("penstock.methods/1"): the methods of this build, for `penstock methods`.
#include "bench/report/methods.hpp"

#include "core/methods/methods.hpp"

namespace penstock::bench {

namespace {

using Json = nlohmann::json;

std::string type_name(Parameter::Type type) {
  switch (type) {
    case Parameter::Type::integer: return "integer";
    case Parameter::Type::bytes: return "bytes";
    case Parameter::Type::choice: return "choice";
    case Parameter::Type::boolean: return "boolean";
    case Parameter::Type::text: return "text";
  }
  return {};
}

Json describe(const Descriptor& descriptor) {
  Json parameters = Json::array();
  for (const Parameter& p : descriptor.parameters)
    parameters.push_back({{"name", p.name},
                          {"type", type_name(p.type)},
                          {"allowed", p.allowed},
                          {"default", p.fallback},
                          {"help", p.help}});
  return {{"name", descriptor.name},
          {"summary", descriptor.summary},
          {"missing", descriptor.missing},
          {"hints", descriptor.hints},
          {"parameters", std::move(parameters)}};
}

Json describe(const std::vector<const Descriptor*>& list) {
  Json json = Json::array();
  for (const Descriptor* descriptor : list) json.push_back(describe(*descriptor));
  return json;
}

}  // namespace

nlohmann::json methods_json() {
  const Vocabulary& all = vocabulary();
  Json methods = Json::array();
  for (const MethodRow& row : method_table())
    methods.push_back({{"plan", row.plan}, {"summary", row.summary}, {"refused", row.refused}});
  Json short_names = Json::array();
  for (const Alias& alias : aliases())
    short_names.push_back(
        {{"name", alias.name}, {"transport", alias.transport}, {"parameters", alias.parameters}, {"help", alias.help}});
  return {{"schema", "penstock.methods/1"},
          {"formats", describe(all.formats)},
          {"placements", describe(all.placements)},
          {"transports", describe(all.transports)},
          {"engines", describe(all.engines)},
          {"common", describe(*all.common)},
          {"engine_common", describe(*all.engine_common)},
          {"aliases", std::move(short_names)},
          {"methods", std::move(methods)}};
}

}  // namespace penstock::bench
