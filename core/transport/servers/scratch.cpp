// Scratch: unnamed files, and the ranges written to them.
#include "core/transport/servers/scratch.hpp"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>

#include <fmt/format.h>

#include "core/base/owner.hpp"
#include "core/base/units.hpp"
#include "core/storage/aligned.hpp"
#include "core/storage/target.hpp"

namespace penstock {
namespace {

constexpr int64_t copy_bytes = 4 << 20;

// If a file system does not support O_TMPFILE, the name exists for a moment.
FileDescriptor unnamed_file(const std::string& folder) {
  FileDescriptor fd(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (fd.get() >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)) return fd;
  const std::string name = folder + "/" + partial_name("penstock-scratch", random_token(), text(this_process()));
  fd = FileDescriptor(::open(name.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600));
  if (fd.get() >= 0) ::unlink(name.c_str());
  return fd;
}

}  // namespace

Result<std::unique_ptr<ScratchFile>> ScratchFile::create(Storage& storage, const std::string& folder) {
  FileDescriptor fd = unnamed_file(folder);
  if (fd.get() < 0) return Status::from_errno(errno, fmt::format("making a file in scratch folder '{}'", folder));
  auto file = storage.open(fmt::format("/proc/self/fd/{}", fd.get()), Io::buffered, true);
  if (!file.ok()) return file.status().in(fmt::format("scratch folder '{}'", folder));
  return std::unique_ptr<ScratchFile>(new ScratchFile(std::move(fd), *std::move(file)));
}

Status ScratchFile::write(int64_t offset, std::span<const std::byte> bytes) {
  PENSTOCK_TRY(file_->write(offset, bytes));
  int64_t begin = offset, end = offset + static_cast<int64_t>(bytes.size());
  auto at = written_.upper_bound(begin);
  if (at != written_.begin() && std::prev(at)->second >= begin) --at;
  while (at != written_.end() && at->first <= end) {
    begin = std::min(begin, at->first);
    end = std::max(end, at->second);
    at = written_.erase(at);
  }
  written_.emplace(begin, end);
  return {};
}

Status ScratchFile::copy_to(StorageFile& target) {
  const AlignedMemory memory = aligned_memory(copy_bytes + direct_alignment);
  if (!memory) return {Code::memory, "no memory to copy a scratch file to its target"};
  for (const auto& [begin, end] : written_) {
    const int64_t phase = begin % direct_alignment;  // the same in memory and file, for direct calls
    for (int64_t at = begin; at < end;) {
      const int64_t inside = at == begin ? phase : 0;
      const std::span<std::byte> bytes(memory.get() + inside,
                                       static_cast<size_t>(std::min(copy_bytes - inside, end - at)));
      PENSTOCK_TRY(file_->read(at, bytes));
      PENSTOCK_TRY(target.write(at, bytes));
      at += static_cast<int64_t>(bytes.size());
    }
  }
  return {};
}

Status check_space(const std::string& folder, int64_t needed, std::string_view what) {
  struct statvfs space{};
  if (::statvfs(folder.c_str(), &space) != 0)
    return Status::from_errno(errno, fmt::format("asking for the free space of {} folder '{}'", what, folder));
  const auto free = static_cast<int64_t>(space.f_bavail) * static_cast<int64_t>(space.f_frsize);
  if (free >= needed) return {};
  return {Code::no_space, fmt::format("{} folder '{}' has {} free, {} are needed", what, folder, format_bytes(free),
                                      format_bytes(needed))};
}

}  // namespace penstock
