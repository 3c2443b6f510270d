// System calls of other libraries: made unchanged, between two clock readings.
#include "core/trace/system_calls.hpp"

#include <aio.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdarg>
#include <map>
#include <mutex>

#include <fmt/format.h>

#include "core/trace/redirect.hpp"
#include "core/trace/trace.hpp"

namespace penstock {
namespace {

Trace* tracing = nullptr;

constexpr std::string_view makers[] = {"libhdf5", "libnetcdf", "libpnetcdf", "libmpi",
                                       "mca_io_", "mca_fbtl_", "mca_fcoll_", "mca_fs_"};
constexpr std::string_view loaders[] = {"libopen-pal", "libltdl", "libmpi", "mca_dl_"};
constexpr std::string_view of_the_system[] = {"/dev/", "/proc/", "/sys/", "/etc/", "/usr/", "/lib"};

template <size_t N>
bool begins_with(std::string_view text, const std::string_view (&list)[N]) {
  return std::ranges::any_of(list, [&](std::string_view begin) { return text.starts_with(begin); });
}

// For descriptors: the number of their path in the trace; none for other than regular files.
constexpr uint32_t none = UINT32_MAX;
std::mutex mutex;
std::map<int, uint32_t>& descriptors() {
  static auto& all = *new std::map<int, uint32_t>;
  return all;
}

uint32_t look(int fd) {
  struct stat info{};
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) return none;
  std::array<char, PATH_MAX> path{};
  const ssize_t length = ::readlink(fmt::format("/proc/self/fd/{}", fd).c_str(), path.data(), path.size());
  const std::string_view name(path.data(), static_cast<size_t>(std::max<ssize_t>(0, length)));
  if (name.empty() || begins_with(name, of_the_system)) return none;
  return tracing->path_number(name);
}

uint32_t path_of(int fd) {
  const std::lock_guard lock(mutex);
  const auto [at, is_new] = descriptors().try_emplace(fd, none);
  if (is_new) at->second = look(fd);
  return at->second;
}

void forget(int fd) {
  const std::lock_guard lock(mutex);
  descriptors().erase(fd);
}

// Traces CALL, which returns below 0 on failure; the length is the number of bytes moved.
template <typename Call>
auto timed(Operation operation, uint32_t path, int64_t offset, const Call& call) {
  if (path == none) return call();
  Tracing record(tracing, operation, path, offset);
  const auto result = call();
  const int error = errno;
  record.call().failed = result < 0 ? 1 : 0;
  record.call().length = std::max<int64_t>(0, result);
  record.done();
  errno = error;
  return result;
}

int opened(const char* path, int flags, mode_t mode) {
  TracedCall call;
  call.start = tracing->time();
  const int fd = ::open(path, flags, mode);
  const int error = errno;
  call.nanoseconds = tracing->time() - call.start;
  call.operation = (flags & O_CREAT) != 0 ? Operation::create : Operation::open;
  if (fd >= 0) forget(fd);
  call.path = fd >= 0 ? path_of(fd) : none;
  if (call.path != none) tracing->add(call);
  errno = error;
  return fd;
}

int open_instead(const char* path, int flags, ...) {  // NOLINT(cert-dcl50-cpp): as the C library has it
  va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? static_cast<mode_t>(va_arg(more, int)) : 0;
  va_end(more);
  return opened(path, flags, mode);
}

int close_instead(int fd) {
  const uint32_t path = path_of(fd);
  forget(fd);
  return timed(Operation::close, path, 0, [&] { return ::close(fd); });
}

ssize_t pread_instead(int fd, void* to, size_t bytes, off_t offset) {
  return timed(Operation::read, path_of(fd), offset, [&] { return ::pread(fd, to, bytes, offset); });
}
ssize_t pwrite_instead(int fd, const void* from, size_t bytes, off_t offset) {
  return timed(Operation::write, path_of(fd), offset, [&] { return ::pwrite(fd, from, bytes, offset); });
}
ssize_t preadv_instead(int fd, const iovec* list, int count, off_t offset) {
  return timed(Operation::read, path_of(fd), offset, [&] { return ::preadv(fd, list, count, offset); });
}
ssize_t pwritev_instead(int fd, const iovec* list, int count, off_t offset) {
  return timed(Operation::write, path_of(fd), offset, [&] { return ::pwritev(fd, list, count, offset); });
}

int64_t position(int fd, uint32_t path) { return path == none ? 0 : ::lseek(fd, 0, SEEK_CUR); }
ssize_t read_instead(int fd, void* to, size_t bytes) {
  const uint32_t path = path_of(fd);
  return timed(Operation::read, path, position(fd, path), [&] { return ::read(fd, to, bytes); });
}
ssize_t write_instead(int fd, const void* from, size_t bytes) {
  const uint32_t path = path_of(fd);
  return timed(Operation::write, path, position(fd, path), [&] { return ::write(fd, from, bytes); });
}

int fsync_instead(int fd) {
  return timed(Operation::sync, path_of(fd), 0, [&] { return ::fsync(fd); });
}
int fdatasync_instead(int fd) {
  return timed(Operation::sync, path_of(fd), 0, [&] { return ::fdatasync(fd); });
}
int ftruncate_instead(int fd, off_t bytes) {
  return timed(Operation::truncate, path_of(fd), 0, [&] { return ::ftruncate(fd, bytes); });
}

// Traces only the submission: threads of the C library move the bytes.
int begun(Operation operation, aiocb* control, int (*call)(aiocb*)) {
  const uint32_t path = path_of(control->aio_fildes);
  if (path == none) return call(control);
  Tracing record(tracing, operation, path, control->aio_offset, static_cast<int64_t>(control->aio_nbytes));
  const int result = call(control);
  const int error = errno;
  record.call().failed = result < 0 ? 1 : 0;
  record.done();
  errno = error;
  return result;
}
int aio_read_instead(aiocb* control) { return begun(Operation::read, control, ::aio_read); }
int aio_write_instead(aiocb* control) { return begun(Operation::write, control, ::aio_write); }

void* dlopen_instead(const char* library, int how);

const auto& calls() {
  static const std::array list = {
      Redirection{"open", reinterpret_cast<void*>(open_instead)},
      Redirection{"open64", reinterpret_cast<void*>(open_instead)},
      Redirection{"close", reinterpret_cast<void*>(close_instead)},
      Redirection{"read", reinterpret_cast<void*>(read_instead)},
      Redirection{"write", reinterpret_cast<void*>(write_instead)},
      Redirection{"pread", reinterpret_cast<void*>(pread_instead)},
      Redirection{"pread64", reinterpret_cast<void*>(pread_instead)},
      Redirection{"pwrite", reinterpret_cast<void*>(pwrite_instead)},
      Redirection{"pwrite64", reinterpret_cast<void*>(pwrite_instead)},
      Redirection{"preadv", reinterpret_cast<void*>(preadv_instead)},
      Redirection{"preadv64", reinterpret_cast<void*>(preadv_instead)},
      Redirection{"pwritev", reinterpret_cast<void*>(pwritev_instead)},
      Redirection{"pwritev64", reinterpret_cast<void*>(pwritev_instead)},
      Redirection{"aio_read", reinterpret_cast<void*>(aio_read_instead)},
      Redirection{"aio_read64", reinterpret_cast<void*>(aio_read_instead)},
      Redirection{"aio_write", reinterpret_cast<void*>(aio_write_instead)},
      Redirection{"aio_write64", reinterpret_cast<void*>(aio_write_instead)},
      Redirection{"fsync", reinterpret_cast<void*>(fsync_instead)},
      Redirection{"fdatasync", reinterpret_cast<void*>(fdatasync_instead)},
      Redirection{"ftruncate", reinterpret_cast<void*>(ftruncate_instead)},
      Redirection{"ftruncate64", reinterpret_cast<void*>(ftruncate_instead)},
  };
  return list;
}

bool redirect_all() {
  static const std::array loading = {Redirection{"dlopen", reinterpret_cast<void*>(dlopen_instead)}};
  return redirect(loading, [](std::string_view library) { return begins_with(library, loaders); }) &&
         redirect(calls(), [](std::string_view library) { return begins_with(library, makers); });
}

// Open MPI loads its I/O modules when the first file is opened.
void* dlopen_instead(const char* library, int how) {
  void* handle = ::dlopen(library, how);
  if (handle != nullptr && library != nullptr) redirect_all();
  return handle;
}

}  // namespace

bool trace_system_calls(Trace& trace) {
  tracing = &trace;
  return redirect_all();
}

}  // namespace penstock
