// Striping: passes the plan's parameters to the function that creates files.
#include "core/session/striping.hpp"

#include <fmt/format.h>

#include "core/storage/filesystem.hpp"
#include "core/storage/target.hpp"

namespace penstock {

FileSystemKind find_file_system(const std::string& path) {
  const std::string folder = folder_of(path).empty() ? "." : folder_of(path);
  const auto info = known_file_system(folder);
  if (!info.ok()) return {};
  return {info->text(), info->has_stripes()};
}

Striping stripes_of(const Plan& plan) {
  return {plan.settings.integer("stripe_count"), plan.settings.integer("stripe_bytes"),
          plan.settings.integer("stripe_offset")};
}

Status set_striping(File::State& state, const FileSystemKind& file_system) {
  state.filesystem = file_system.text;
  if (!state.plan.settings.all().contains("stripe_count")) return {};  // an engine's hints set stripes
  const Striping striping = stripes_of(state.plan);
  const bool wanted = striping != Striping{};
  if (wanted) PENSTOCK_TRY(check_striping(striping));
  if (!wanted && !state.plan.open_transport) return {};
  if (!file_system.has_stripes) {
    if (!wanted) return {};
    state.warnings.push_back(
        fmt::format("stripe_count={}, stripe_bytes={}, stripe_offset={} are not applicable: '{}' is on {}",
                    striping.count, striping.bytes, striping.offset, state.target.path,
                    file_system.text.empty() ? "an unknown file system" : file_system.text));
    return {};
  }
  state.stripes = std::make_shared<Striping>(striping);
  const auto make = [asked = striping, stripes = state.stripes](const std::string& path, int64_t bytes,
                                                                mode_t mode) -> Result<bool> {
    constexpr int64_t small = 1 << 20;
    if (*stripes != asked && bytes >= small && create_striped(path, mode, *stripes, *system_calls()).ok()) return true;
    if (asked == Striping{}) return false;  // what nobody asked for may be refused
    PENSTOCK_TRY(create_striped(path, mode, asked, *system_calls()));
    return true;
  };
  state.target.storage = std::make_shared<CountedStorage>(posix_storage(make, state.target.comm->threads_allowed()));
  return {};
}

}  // namespace penstock
