// Permissions: derived from the umask and from default access control lists.
#include "core/storage/permissions.hpp"

#include <sys/stat.h>
#include <sys/xattr.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>

namespace penstock {
namespace {

constexpr mode_t new_file = 0666;

// umask(2) can only be read by setting it, which other threads would notice.
mode_t process_umask() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (word == "Umask:" && status >> word) return static_cast<mode_t>(std::strtoul(word.c_str(), nullptr, 8)) & 0777;
  const mode_t mask = ::umask(077);
  ::umask(mask);
  return mask;
}

// linux/posix_acl_xattr.h: little-endian, like all machines that this library supports.
struct AclEntry {
  uint16_t tag, permissions;
  uint32_t id;
};
enum : uint16_t { acl_owner = 1, acl_group = 4, acl_mask = 16, acl_others = 32 };

std::optional<mode_t> default_list_mode(const std::string& folder) {
  std::array<char, 4096> list{};
  const ssize_t size = ::getxattr(folder.c_str(), "system.posix_acl_default", list.data(), list.size());
  if (size < static_cast<ssize_t>(sizeof(uint32_t) + sizeof(AclEntry))) return std::nullopt;
  mode_t owner = 0, group = 0, others = 0;
  bool masked = false;
  for (size_t at = sizeof(uint32_t); at + sizeof(AclEntry) <= static_cast<size_t>(size); at += sizeof(AclEntry)) {
    AclEntry entry{};
    std::memcpy(&entry, list.data() + at, sizeof entry);
    if (entry.tag == acl_owner) owner = entry.permissions;
    if (entry.tag == acl_others) others = entry.permissions;
    if (entry.tag == acl_mask || (entry.tag == acl_group && !masked)) group = entry.permissions;
    masked = masked || entry.tag == acl_mask;
  }
  return (owner << 6 | group << 3 | others) & new_file;
}

}  // namespace

mode_t new_file_mode(const std::string& folder) {
  if (const auto listed = default_list_mode(folder)) return *listed;
  return new_file & ~process_umask();
}

}  // namespace penstock
