// Private file: O_TMPFILE, else mkstemp and unlink; and a search for data that skips holes.
#include "core/format/hdf5/private_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <random>

#include "core/base/owner.hpp"

namespace penstock::hdf5 {
namespace {

std::string path_of(int fd) { return "/proc/self/fd/" + std::to_string(fd); }

// Never named, so that a kill leaves nothing behind at any time. Not every file system supports this, and without /proc
// of this process there is no path to the file.
int make_nameless(const char* folder) {
  const int fd = ::open(folder, O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
  if (fd < 0 || ::access(path_of(fd).c_str(), R_OK | W_OK) == 0) return fd;
  ::close(fd);
  return -1;
}

int make_named(const char* folder, std::string& path) {
  std::random_device device;
  const uint64_t token = uint64_t{device()} << 32 | device();
  path = std::string(folder) + "/" + partial_name("penstock-image", token, text(this_process()));
  return ::open(path.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
}

// It is not possible to ask whether files there are sparse; the search for holes finds out.
constexpr int64_t largest_search = int64_t{1} << 30;

}  // namespace

Result<PrivateFile> PrivateFile::make() {
  std::string path;
  const char* temporary = std::getenv("TMPDIR");
  for (const char* folder : {"/dev/shm", temporary, "/tmp"}) {
    if (folder == nullptr || *folder == '\0') continue;
    if (const int fd = make_nameless(folder); fd >= 0) return PrivateFile(fd, path_of(fd), false);
    if (const int fd = make_named(folder, path); fd >= 0) return PrivateFile(fd, path, true);
  }
  return Status::from_errno(errno, "making a private file in /dev/shm, TMPDIR or /tmp");
}

void PrivateFile::unlink_name() {
  if (named_) ::unlink(path_.c_str());
  named_ = false;
}

Result<int64_t> PrivateFile::size() const {
  struct stat info{};
  if (::fstat(fd(), &info) != 0) return Status::from_errno(errno, "fstat of a private file");
  return static_cast<int64_t>(info.st_size);
}

Result<std::vector<std::byte>> PrivateFile::read(int64_t begin, int64_t end) const {
  std::vector<std::byte> bytes(static_cast<size_t>(end - begin));  // past the end of the file: zeros
  if (read_at(fd(), bytes, begin) < 0) return Status::from_errno(errno, "reading a private file");
  return bytes;
}

Result<int64_t> PrivateFile::end_of_nonzero(int64_t begin, int64_t end) const {
  int64_t last = begin, searched = 0;
  for (int64_t at = begin; at < end;) {
    const off_t data = ::lseek(fd(), at, SEEK_DATA);
    if (data < 0 && errno == ENXIO) break;
    if (data < 0) return Status::from_errno(errno, "looking for data in a private file");
    const off_t hole = ::lseek(fd(), data, SEEK_HOLE);
    if (hole < 0) return Status::from_errno(errno, "looking for holes in a private file");
    for (at = data; at < std::min<int64_t>(hole, end);) {
      const int64_t stop = std::min({int64_t{hole}, end, at + (int64_t{1} << 20)});
      PENSTOCK_ASSIGN(const std::vector<std::byte> bytes, read(at, stop));
      const auto found = std::find_if(bytes.rbegin(), bytes.rend(), [](std::byte b) { return b != std::byte{0}; });
      if (found != bytes.rend()) last = at + (bytes.rend() - found);
      searched += stop - at;
      if (searched > largest_search) return Status(Code::unsupported, "neither /dev/shm nor TMPDIR keeps files sparse");
      at = stop;
    }
    at = hole;
  }
  return last;
}

}  // namespace penstock::hdf5
