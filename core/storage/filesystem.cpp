// File systems: statfs and mountinfo for all, ioctls for Lustre.
#include "core/storage/filesystem.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/uio.h>
#include <unistd.h>

#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/storage/file_descriptor.hpp"
#include "core/storage/lustre.hpp"

namespace penstock {
namespace {

constexpr size_t reply_bytes = 64 << 10;  // Lustre's own limit for a layout with all its objects

struct Magic {
  uint32_t number;
  std::string_view name;
};
// From linux/magic.h, Lustre and GPFS. Several file systems share one number, so mountinfo has precedence.
constexpr Magic magics[] = {
    {0xEF53, "ext4"},     {0x58465342, "xfs"},    {0x9123683E, "btrfs"},    {0x01021994, "tmpfs"},
    {0x6969, "nfs"},      {0x65735546, "fuse"},   {0x00C36400, "ceph"},     {0x794C7630, "overlay"},
    {0xFF534D42, "cifs"}, {0xFE534D42, "smb3"},   {0x01021997, "9p"},       {lustre::super_magic, "lustre"},
    {0x47504653, "gpfs"}, {0x19830326, "beegfs"}, {0x20030528, "orangefs"},
};

class SystemCalls : public FileSystemCalls {
 public:
  int statfs(const char* path, struct statfs* result) const override { return ::statfs(path, result); }
  std::string mountinfo() const override {
    std::ifstream file("/proc/self/mountinfo");
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }
  int open(const char* path, int flags, int mode) const override { return ::open(path, flags, mode); }
  int ioctl(int fd, unsigned long request, void* argument) const override { return ::ioctl(fd, request, argument); }
  int close(int fd) const override { return ::close(fd); }
  int unlink(const char* path) const override { return ::unlink(path); }
};

std::string magic_name(uint32_t number) {
  for (const Magic& magic : magics)
    if (magic.number == number) return std::string(magic.name);
  return fmt::format("0x{:x}", number);
}

// mountinfo writes blanks and backslashes as three octal digits.
std::string unescaped(const std::string& word) {
  std::string text;
  for (size_t i = 0; i < word.size(); ++i) {
    unsigned value = 0;
    if (word[i] == '\\' && i + 3 < word.size() &&
        std::from_chars(&word[i + 1], &word[i + 4], value, 8).ptr == &word[i + 4]) {
      text += static_cast<char>(value);
      i += 3;
    } else {
      text += word[i];
    }
  }
  return text;
}

bool lies_below(const std::string& path, const std::string& folder) {
  return folder == "/" || path == folder || path.starts_with(folder + "/");
}

// The type of the mount of PATH: the deepest; among equals the latest, which hides the others.
std::string mount_type(const std::string& mountinfo, const std::string& path) {
  std::istringstream lines(mountinfo);
  std::string line, type;
  size_t deepest = 0;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string skipped, mount, word;
    words >> skipped >> skipped >> skipped >> skipped >> mount;
    while (words >> word && word != "-") continue;
    mount = unescaped(mount);
    if (!(words >> word) || !lies_below(path, mount) || mount.size() < deepest) continue;
    deepest = mount.size();
    type = word;
  }
  return type;
}

class OpenFile {
 public:
  OpenFile(const FileSystemCalls& calls, const std::string& path, int flags, mode_t mode = 0)
      : calls_(calls), fd_(calls.open(path.c_str(), flags | O_CLOEXEC, static_cast<int>(mode))) {}
  ~OpenFile() { (void)close(); }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  int get() const { return fd_; }
  int close() {
    const int fd = fd_;
    fd_ = -1;
    return fd < 0 ? 0 : calls_.close(fd);
  }

 private:
  const FileSystemCalls& calls_;
  int fd_;
};

void read_stripes(const std::string& path, const FileSystemCalls& calls, FileSystemInfo& info) {
  const OpenFile file(calls, path, O_RDONLY | O_NONBLOCK);
  if (file.get() < 0) return;
  std::vector<std::byte> reply(reply_bytes);
  lustre::Layout layout{};
  layout.magic = lustre::layout_v1;
  std::memcpy(reply.data(), &layout, sizeof layout);
  // ENODATA: the folder has no default of its own.
  if (calls.ioctl(file.get(), lustre::get_stripe, reply.data()) < 0) return;
  std::memcpy(&layout, reply.data(), sizeof layout);
  info.source += ", Lustre ioctl";
  if (layout.magic != lustre::layout_v1 && layout.magic != lustre::layout_v3) {
    info.source += fmt::format(" (a layout of kind {:#x}, not read)", layout.magic);
    return;
  }
  info.stripe_bytes = layout.stripe_bytes;
  info.stripe_count = layout.stripe_count == lustre::all_targets ? -1 : layout.stripe_count;
}

}  // namespace

std::shared_ptr<const FileSystemCalls> system_calls() {
  static const auto calls = std::make_shared<const SystemCalls>();
  return calls;
}

std::string FileSystemInfo::text() const {
  std::string out = fmt::format("{}, blocks of {} bytes", type, block_bytes);
  if (stripe_count != 0) {
    const std::string count = stripe_count < 0 ? "stripes over all targets" : fmt::format("{} stripes", stripe_count);
    out += fmt::format(", {} of {} bytes", count, stripe_bytes);
  }
  return out + fmt::format(" ({})", source);
}

Result<FileSystemInfo> detect_file_system(const std::string& path, const FileSystemCalls& calls) {
  struct statfs found{};
  if (calls.statfs(path.c_str(), &found) != 0) return failed("statfs of", path);
  FileSystemInfo info;
  info.block_bytes = found.f_bsize;
  info.source = fmt::format("{}statfs", calls.source_prefix());
  const auto magic = static_cast<uint32_t>(found.f_type);
  info.type = magic_name(magic);
  std::error_code ignored;
  const std::string whole = std::filesystem::weakly_canonical(path, ignored).string();
  const std::string mounted = mount_type(calls.mountinfo(), whole.empty() ? path : whole);
  if (!mounted.empty() && magic != lustre::super_magic) {
    info.type = mounted;
    info.source += ", mountinfo";
  }
  if (magic == lustre::super_magic) read_stripes(path, calls, info);
  return info;
}

Result<FileSystemInfo> known_file_system(const std::string& folder) {
  static std::mutex mutex;
  static std::map<std::pair<std::string, dev_t>, FileSystemInfo> known;
  constexpr size_t most = 256;
  struct stat there{};
  if (::stat(folder.c_str(), &there) != 0) return failed("looking at", folder);
  const std::lock_guard lock(mutex);
  if (const auto found = known.find({folder, there.st_dev}); found != known.end()) return found->second;
  PENSTOCK_ASSIGN(FileSystemInfo info, detect_file_system(folder, *system_calls()));
  if (!info.has_stripes() && known.size() < most) known.emplace(std::pair(folder, there.st_dev), info);
  return info;
}

bool is_in_page_cache(const std::string& path) {
  constexpr int samples = 16;
  const FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat there{};
  if (fd.get() < 0 || ::fstat(fd.get(), &there) != 0 || !S_ISREG(there.st_mode) || there.st_size == 0) return false;
  for (int i = 0; i < samples; ++i) {
    char byte = 0;
    const iovec place{&byte, 1};
    if (::preadv2(fd.get(), &place, 1, (there.st_size - 1) / (samples - 1) * i, RWF_NOWAIT) != 1) return false;
  }
  return true;
}

Status check_striping(const Striping& striping) {
  if (striping.bytes < 0 || striping.bytes % lustre::stripe_unit != 0 || striping.bytes > UINT32_MAX)
    return {Code::invalid,
            fmt::format("stripe_bytes={}: Lustre takes multiples of 64 KiB below 4 GiB", striping.bytes)};
  if (striping.count < -1 || striping.count >= lustre::all_targets)
    return {Code::invalid, fmt::format("stripe_count={}: -1 for all targets, or up to 65534", striping.count)};
  if (striping.offset < -1 || striping.offset >= lustre::any_target)
    return {Code::invalid, fmt::format("stripe_offset={}: -1 for any target, or up to 65534", striping.offset)};
  return {};
}

Status create_striped(const std::string& path, mode_t mode, const Striping& striping, const FileSystemCalls& calls) {
  PENSTOCK_TRY(check_striping(striping));
  OpenFile file(calls, path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | lustre::delay_create, mode);
  if (file.get() < 0) return failed("creating", path);
  lustre::Layout layout{};
  layout.magic = lustre::layout_v1;
  layout.stripe_bytes = static_cast<uint32_t>(striping.bytes);
  layout.stripe_count = striping.count < 0 ? lustre::all_targets : static_cast<uint16_t>(striping.count);
  layout.stripe_offset = striping.offset < 0 ? lustre::any_target : static_cast<uint16_t>(striping.offset);
  Status status;
  if (calls.ioctl(file.get(), lustre::set_stripe, &layout) < 0) status = failed("setting the stripes of", path);
  if (file.close() != 0 && status.ok()) status = failed("closing", path);
  if (!status.ok()) calls.unlink(path.c_str());
  return status;
}

}  // namespace penstock
