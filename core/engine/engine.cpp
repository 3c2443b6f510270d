// Engine: functions common to engines, and the stub for engines that are not built.
#include "core/engine/engine.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace penstock {

std::vector<Claim> by_dataset(std::vector<Claim> claims) {
  std::erase_if(claims, [](const Claim& claim) { return claim.selection.count() == 0; });
  std::ranges::stable_sort(claims, {}, &Claim::dataset);
  return claims;
}

Result<Contents> Engine::contents(const std::string& path) const {
  return Status(Code::internal, fmt::format("engine {} does not describe '{}'", describe().name, path));
}

const Engine* recognising_engine(const std::string& path) {
  for (const Engine* engine : engines())
    if (engine->recognises(path)) return engine;
  return nullptr;
}

AbsentEngine::AbsentEngine(Descriptor descriptor, std::string_view missing) : descriptor_(std::move(descriptor)) {
  descriptor_.missing = missing;
}

Status AbsentEngine::absence() const {
  return {Code::unsupported, fmt::format("engine '{}' is not built: {}", descriptor_.name, descriptor_.missing)};
}

}  // namespace penstock
