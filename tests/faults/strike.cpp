// The table of faults, and the pages in shared memory.
#include "tests/faults/strike.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace penstock::test {

namespace {

constexpr int slow_microseconds = 20000;
constexpr unsigned growing = call_create | call_write | call_allocate;

// A disk says ENOSPC where it allocates late: when it syncs or closes. "full" and "gone" go on until the end. A file
// that was only read closes without an error: HDF5 would crash at the end of the program (docs/known-faults.md), and
// Linux reports none there.
constexpr Fault table[] = {
    {"kill_before", fault_kill_before, 0, call_any},
    {"kill_after", fault_kill_after, 0, call_any},
    {"short", fault_short, 0, call_write},
    {"eintr", fault_error, EINTR, call_open | growing | call_sync},
    {"slow", fault_slow, 0, call_any},
    {"enospc", fault_error, ENOSPC, growing | call_sync | call_close | call_rename},
    {"edquot", fault_error, EDQUOT, growing | call_sync | call_close},
    {"eio_write", fault_error, EIO, call_write | call_allocate},
    {"eio_sync", fault_error, EIO, call_sync},
    {"eio_rename", fault_error, EIO, call_rename},
    {"eio_close", fault_error, EIO, call_close},
    {"eio_open", fault_error, EIO, call_open | call_create | call_map},
    {"eio_unlink", fault_error, EIO, call_unlink},
    {"full", fault_error, ENOSPC, growing, true},
    {"command", fault_command, EIO, call_any},
    {"power", fault_power, EIO, call_any, true},
    {"power_kill", fault_power_kill, EIO, call_any, true},
    {"gone", fault_error, EIO, call_any & ~call_close_read, true},
};

fault_page* map_page(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  void* at = MAP_FAILED;
  if (fd >= 0 && ::ftruncate(fd, sizeof(fault_page)) == 0)
    at = ::mmap(nullptr, sizeof(fault_page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) {
    std::perror(path.c_str());
    std::exit(2);
  }
  ::close(fd);
  return static_cast<fault_page*>(at);
}

void set_active(fault_page& page, int active) { __atomic_store_n(&page.active, active, __ATOMIC_RELEASE); }

}  // namespace

bool Fault::harmless() const { return kind == fault_short || kind == fault_slow || error == EINTR; }

std::span<const Fault> all_faults() { return table; }

const Fault* find_fault(std::string_view name) {
  const auto* at = std::find_if(std::begin(table), std::end(table), [&](const Fault& f) { return f.name == name; });
  return at == std::end(table) ? nullptr : at;
}

std::string_view call_name(int call) {
  switch (call) {
    case call_open: return "open";
    case call_create: return "create";
    case call_write: return "write";
    case call_allocate: return "allocate";
    case call_sync: return "sync";
    case call_close: return "close";
    case call_close_read: return "close after reading";
    case call_rename: return "rename";
    case call_unlink: return "unlink";
    case call_map: return "map";
    case call_end: return "the end";
    default: return "none";
  }
}

Pages::Pages(const std::string& prefix, int size) {
  for (int rank = 0; rank < size; ++rank) pages_.push_back(map_page(prefix + "." + std::to_string(rank)));
}

Pages::~Pages() {
  for (fault_page* page : pages_) ::munmap(page, sizeof(fault_page));
}

void Pages::watch(const std::string& folder) {
  for (fault_page* page : pages_) {
    set_active(*page, 0);
    std::memset(page, 0, offsetof(fault_page, log));
    std::snprintf(page->folder, sizeof page->folder, "%s", folder.c_str());
    page->slow_microseconds = slow_microseconds;
    set_active(*page, 1);
  }
}

void Pages::order(int rank, const Fault& fault, int64_t at) {
  fault_page& page = *pages_[static_cast<size_t>(rank)];
  set_active(page, 0);
  page.calls = fault.calls;
  page.fault = fault.kind;
  page.error = fault.error;
  page.sticky = fault.sticky ? 1 : 0;
  page.at = at;
  set_active(page, 1);
}

void Pages::stop() {
  for (fault_page* page : pages_) set_active(*page, 0);
}

bool cut_power(const std::string& folder) {
  const int fd = ::open(folder.c_str(), O_RDONLY | O_CLOEXEC);
  uint32_t how = power_without_log;
  const bool cut = fd >= 0 && ::ioctl(fd, power_ioctl, &how) == 0;
  if (fd >= 0) ::close(fd);
  return cut;
}

void Pages::set_command(const std::string& command) {
  for (fault_page* page : pages_) std::snprintf(page->command, sizeof page->command, "%s", command.c_str());
}

void Pages::strike_at_end(int rank) {
  fault_page& page = *pages_[static_cast<size_t>(rank)];
  page.struck = 1;
  page.struck_call = call_end;
}

int64_t Pages::points(int rank, const Fault& fault) const {
  const fault_page& page = of(rank);
  return std::count_if(page.log, page.log + std::min<int64_t>(page.logged, page_log),
                       [&](uint16_t call) { return (call & fault.calls) != 0; });
}

std::vector<int64_t> spread(int64_t count, int64_t most) {
  std::vector<int64_t> list;
  const int64_t n = most == 0 ? count : std::min(count, most);
  for (int64_t i = 0; i < n; ++i) list.push_back(n == 1 ? (count + 1) / 2 : 1 + i * (count - 1) / (n - 1));
  return list;
}

}  // namespace penstock::test
