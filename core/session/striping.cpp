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

Status set_striping(File::State& state, const FileSystemKind& file_system) {
  state.filesystem = file_system.text;
  if (!state.plan.settings.all().contains("stripe_count")) return {};  // an engine's hints set stripes
  const Striping striping{state.plan.settings.integer("stripe_count"), state.plan.settings.integer("stripe_bytes"),
                          state.plan.settings.integer("stripe_offset")};
  if (striping.count == 0 && striping.bytes == 0 && striping.offset < 0) return {};
  PENSTOCK_TRY(check_striping(striping));
  if (!file_system.has_stripes) {
    state.warnings.push_back(
        fmt::format("stripe_count={}, stripe_bytes={}, stripe_offset={} are not applicable: '{}' is on {}",
                    striping.count, striping.bytes, striping.offset, state.target.path,
                    file_system.text.empty() ? "an unknown file system" : file_system.text));
    return {};
  }
  state.target.storage = std::make_shared<CountedStorage>(
      posix_storage([striping](const std::string& path,
                               mode_t mode) { return create_striped(path, mode, striping, *system_calls()); },
                    state.target.comm->threads_allowed()));
  return {};
}

}  // namespace penstock
