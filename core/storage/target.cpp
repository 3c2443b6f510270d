// Target: follows links, and names folders and files that are in the way.
#include "core/storage/target.hpp"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <mutex>
#include <random>

#include <fmt/format.h>

namespace penstock {

std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/') + 1); }

std::string resolve_link(std::string path) {
  char resolved[PATH_MAX];
  for (int links = 0; links < 40; ++links) {
    if (::realpath(path.c_str(), resolved) != nullptr) return resolved;
    const ssize_t length = ::readlink(path.c_str(), resolved, sizeof resolved);
    if (length <= 0 || length == sizeof resolved) break;
    const std::string target(resolved, static_cast<size_t>(length));
    path = target.starts_with('/') ? target : folder_of(path) + target;
  }
  return path;
}

Result<std::optional<FileStat>> existing_file(Storage& storage, const std::string& path) {
  auto there = storage.stat(path);
  if (there.ok()) return std::optional(*there);
  if (there.status().code() == Code::not_found) return std::optional<FileStat>();
  return there.status();
}

Result<std::optional<FileStat>> check_target(Storage& storage, const std::string& path, bool replaces_folder) {
  if (path.empty()) return Status(Code::invalid, "the path is empty");
  const auto refused = [&](Code code, const std::string& why) {
    return Status(code, fmt::format("cannot create '{}': {}", path, why));
  };
  const std::string folder = folder_of(path).empty() ? "." : folder_of(path);
  const auto place = storage.stat(folder);
  if (!place.ok()) return place.status().in(fmt::format("cannot create '{}'", path));
  if (!place->directory) return refused(Code::not_found, fmt::format("'{}' is no folder", folder));
  if (!place->writable) return refused(Code::denied, fmt::format("folder '{}' is not writable", folder));
  PENSTOCK_ASSIGN(auto there, existing_file(storage, path));
  if (there && there->directory && !replaces_folder) return refused(Code::exists, "it is a folder");
  if (there && !there->directory && !there->regular) return refused(Code::exists, "it is no regular file");
  if (path.ends_with('/')) return refused(Code::invalid, "it names a folder, not a file");
  return there;
}

namespace {

// What this process published last: a program may have two files open with the same target, which is not a conflict
// between jobs.
class OwnPublications {
 public:
  void add(const FileStat& file) {
    const std::lock_guard lock(mutex_);
    last_[next_++ % last_.size()] = file;
  }
  bool has(const FileStat& file) {
    const std::lock_guard lock(mutex_);
    return std::any_of(last_.begin(), last_.end(), [&](const auto& one) { return one && same_file(*one, file); });
  }

 private:
  std::mutex mutex_;
  std::array<std::optional<FileStat>, 64> last_;
  size_t next_ = 0;
};

OwnPublications& own_publications() {
  static OwnPublications own;
  return own;
}

std::string described(const std::optional<FileStat>& file) {
  if (!file) return "nothing";
  const std::time_t seconds = file->changed_at / 1'000'000'000;
  std::tm utc{};
  ::gmtime_r(&seconds, &utc);
  std::array<char, 32> time{};
  (void)std::strftime(time.data(), time.size(), "%F %T UTC", &utc);
  return fmt::format("inode {}, {} bytes, of {}", file->inode, file->bytes, time.data());
}

Status taken(const std::string& partial, const std::string& target, const std::optional<FileStat>& expected,
             const std::optional<FileStat>& there) {
  return {
      Code::exists,
      fmt::format("'{}' is no more what it was when this file was begun: {} then, {} now. Another job writes it too; "
                  "its file stays, and this one, '{}', is given up: give each job a file of its own",
                  target, described(expected), described(there), partial)};
}

Result<bool> put_where_nothing_is(Storage& storage, const std::string& partial, const std::string& target,
                                  const std::optional<FileStat>& expected) {
  const Status placed = storage.rename_new(partial, target);
  if (placed.code() != Code::exists) return placed.ok() ? Result<bool>(false) : placed;
  const auto there = existing_file(storage, target);
  return taken(partial, target, expected, there.ok() ? *there : std::nullopt);
}

// After an exchange: the file that came out must be WAS, otherwise it goes back. If none came out, the file system
// treated the exchange as a rename.
Result<bool> confirm(Storage& storage, const std::string& partial, const std::string& target, const FileStat& was,
                     const std::optional<FileStat>& expected) {
  const auto out = storage.stat(partial);
  if (out.ok() && same_file(*out, was)) return true;
  if (out.status().code() == Code::not_found) return false;
  const Status back = out.ok() ? storage.exchange(partial, target) : out.status();
  if (back.ok()) return taken(partial, target, expected, *out);
  return Status(Code::in_doubt,
                fmt::format("'{}' is in place, but what it replaced is perhaps of another job, and stays "
                            "at '{}': {}",
                            target, partial, back.message()));
}

Result<bool> swap_by_renames(Storage& storage, const std::string& partial, const std::string& target) {
  const std::string aside = partial + ".old";
  PENSTOCK_TRY(storage.rename(target, aside));
  if (const Status renamed = storage.rename(partial, target); !renamed.ok()) {
    (void)storage.rename(aside, target);
    return renamed;
  }
  PENSTOCK_TRY(storage.rename(aside, partial));
  return true;
}

Result<bool> replace(Storage& storage, const std::string& partial, const std::string& target,
                     const std::optional<FileStat>& expected, const FileStat& ours) {
  if (!expected) {  // no look before: the file system says if there is something now
    const Status placed = storage.rename_new(partial, target);
    if (placed.code() != Code::exists) return placed.ok() ? Result<bool>(false) : placed;
  }
  PENSTOCK_ASSIGN(const auto there, existing_file(storage, target));
  if (!there) return put_where_nothing_is(storage, partial, target, expected);
  if (!(expected && same_file(*expected, *there)) && !own_publications().has(*there))
    return taken(partial, target, expected, there);
  const Status exchanged = storage.exchange(partial, target);
  if (exchanged.ok()) return confirm(storage, partial, target, *there, expected);
  if (exchanged.code() == Code::not_found) return put_where_nothing_is(storage, partial, target, expected);
  if (exchanged.code() != Code::unsupported) return exchanged;
  if (ours.directory || there->directory) return swap_by_renames(storage, partial, target);
  PENSTOCK_TRY(storage.rename(partial, target));
  return false;
}

Result<bool> place(Storage& storage, const std::string& partial, const std::string& target,
                   const std::optional<FileStat>& expected, const FileStat& ours) {
  auto displaced = replace(storage, partial, target, expected, ours);
  if (displaced.ok()) own_publications().add(ours);
  return displaced;
}

}  // namespace

Result<bool> put_in_place(Storage& storage, const std::string& partial, const std::string& target,
                          const std::optional<FileStat>& expected) {
  PENSTOCK_ASSIGN(const FileStat ours, storage.stat(partial));
  return place(storage, partial, target, expected, ours);
}

Status publish(Storage& storage, const std::string& partial, const std::string& target,
               std::optional<FileStat>& expected, bool durable) {
  PENSTOCK_ASSIGN(const FileStat ours, storage.stat(partial));
  const auto displaced = place(storage, partial, target, expected, ours);
  if (displaced.ok() || displaced.status().code() == Code::in_doubt) expected = ours;
  PENSTOCK_TRY(displaced.status());
  const Status synced = durable ? storage.sync_directory(target) : Status();
  // Rename would have removed it. If removal fails it is a leftover, not an error. It may be a folder.
  if (*displaced && !storage.remove(partial).ok()) (void)storage.remove_tree(partial);
  if (synced.ok()) return {};
  return {Code::in_doubt,
          fmt::format("it is in place, but whether it would survive a power loss is unknown: {}", synced.message())};
}

uint64_t random_token() {
  std::random_device device;
  return (uint64_t{device()} << 32) | device();
}

}  // namespace penstock
