// Pointer: eight bytes of a file, under a lock.
#include "bindings/mpiio/pointer.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <climits>
#include <filesystem>
#include <mutex>
#include <vector>

#include <fmt/format.h>

namespace penstock::mpiio {
namespace {

struct Made {
  std::mutex mutex;
  std::vector<std::string> paths;
};

Made& made() {
  static Made& one = *new Made;
  return one;
}

Status failure(const std::string& path) {
  return Status::from_errno(
      errno, fmt::format("'{}', which holds the shared file pointer (--plan none leaves it to MPI)", path));
}

}  // namespace

std::string hidden_file(const std::string& path, int64_t token) {
  const std::filesystem::path file(path);
  return file.parent_path() / fmt::format(".{}.pointer-{:x}", file.filename().string(), token);
}

bool can_hide_file(const std::string& path) {
  constexpr size_t longest = NAME_MAX - 32;
  const std::filesystem::path file(path);
  return file.filename().string().size() <= longest && ::access(file.parent_path().c_str(), W_OK | X_OK) == 0;
}

Result<int64_t> SharedPointer::advance(int64_t count) {
  if (file_.get() < 0) {
    file_ = FileDescriptor(::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (file_.get() >= 0) {
      const std::lock_guard lock(made().mutex);
      made().paths.push_back(path_);
    } else if (errno == EEXIST) {
      file_ = FileDescriptor(::open(path_.c_str(), O_RDWR | O_CLOEXEC));
    }
    if (file_.get() < 0) return failure(path_);
  }
  struct flock lock{};  // of this descriptor, and all of the file
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  if (retrying([&] { return ::fcntl(file_.get(), F_OFD_SETLKW, &lock); }) != 0) return failure(path_);
  int64_t before = 0, after = 0;
  const auto got = ::pread(file_.get(), &before, sizeof before, at_);
  after = before + count;
  const bool done = got >= 0 && ::pwrite(file_.get(), &after, sizeof after, at_) == sizeof after;
  const Status status = done ? Status() : failure(path_);
  lock.l_type = F_UNLCK;
  (void)::fcntl(file_.get(), F_OFD_SETLK, &lock);
  if (!status.ok()) return status;
  return before;
}

Result<int64_t> SharedPointer::position() {
  if (file_.get() < 0 && ::access(path_.c_str(), F_OK) != 0) return 0;
  return advance(0);
}

void remove_pointers(const std::string& hidden) {
  const std::lock_guard lock(made().mutex);
  std::erase_if(made().paths, [&](const std::string& path) {
    return (hidden.empty() || path == hidden) && ::unlink(path.c_str()) <= 0;
  });
}

}  // namespace penstock::mpiio
