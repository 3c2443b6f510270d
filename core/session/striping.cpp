// Striping: passes the plan's parameters to the function that creates files.
#include "core/session/striping.hpp"

#include <sys/stat.h>

#include <map>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "core/storage/filesystem.hpp"
#include "core/storage/target.hpp"

namespace penstock {

FileSystemKind find_file_system(const std::string& path) {
  static std::mutex mutex;
  static std::map<std::pair<std::string, dev_t>, FileSystemKind> known;  // folders without stripes, by their devices
  constexpr size_t most = 256;
  const std::string folder = folder_of(path).empty() ? "." : folder_of(path);
  struct stat there{};
  if (::stat(folder.c_str(), &there) != 0) return {};
  const std::lock_guard lock(mutex);
  if (const auto found = known.find({folder, there.st_dev}); found != known.end()) return found->second;
  const auto info = detect_file_system(folder, *system_calls());
  if (!info.ok()) return {};
  const FileSystemKind kind{info->text(), info->has_stripes()};
  if (!kind.has_stripes && known.size() < most) known.emplace(std::pair(folder, there.st_dev), kind);
  return kind;
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
      posix_storage([striping](const std::string& path) { return create_striped(path, striping, *system_calls()); },
                    state.target.comm->threads_allowed()));
  return {};
}

}  // namespace penstock
