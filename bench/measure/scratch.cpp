// Scratch: folders, sync, fadvise and mincore.
#include "bench/measure/scratch.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <fmt/format.h>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "bench/shared_status.hpp"
#include "core/base/file_descriptor.hpp"

namespace penstock::bench {

namespace {

namespace fs = std::filesystem;

std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  fs::recursive_directory_iterator entry(folder, error), end;
  for (; !error && entry != end; entry.increment(error))
    if (entry->is_regular_file(error)) files.push_back(entry->path().string());
  return files;
}

Status remove_all(const std::string& folder) {
  std::error_code error;
  fs::remove_all(folder, error);
  return error ? Status::from_errno(error.value(), fmt::format("removing {}", folder)) : Status();
}

struct Pages {
  int64_t all = 0, resident = 0;
};

Status count_pages(const std::string& path, Pages& pages) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat about{};
  if (file.get() < 0 || ::fstat(file.get(), &about) != 0)
    return Status::from_errno(errno, fmt::format("opening {}", path));
  if (about.st_size == 0) return {};
  const auto length = static_cast<size_t>(about.st_size);
  void* map = ::mmap(nullptr, length, PROT_READ, MAP_SHARED, file.get(), 0);
  if (map == MAP_FAILED) return Status::from_errno(errno, fmt::format("mapping {}", path));
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> in_core((length + page - 1) / page);
  const int code = ::mincore(map, length, in_core.data());
  const int reason = errno;
  ::munmap(map, length);
  if (code != 0) return Status::from_errno(reason, fmt::format("mincore of {}", path));
  pages.all += static_cast<int64_t>(in_core.size());
  for (unsigned char bits : in_core) pages.resident += bits & 1;
  return {};
}

}  // namespace

Result<int64_t> free_bytes(const std::string& folder) {
  struct statvfs about{};
  if (::statvfs(folder.c_str(), &about) != 0) return Status::from_errno(errno, fmt::format("statvfs of {}", folder));
  return static_cast<int64_t>(about.f_bavail) * static_cast<int64_t>(about.f_frsize);
}

Result<Scratch> Scratch::create(const Communicator& comm, const std::string& directory) {
  std::string folder = directory + "/penstock-bench.XXXXXX";
  Status status;
  if (comm->rank() == 0 && ::mkdtemp(folder.data()) == nullptr)
    status = Status::from_errno(errno, fmt::format("making a folder in {}", directory));
  PENSTOCK_TRY(from_root(comm, status));
  PENSTOCK_ASSIGN(folder, from_root(comm, folder));
  return Scratch(std::move(folder));
}

std::string Scratch::method_folder(size_t index) const { return fmt::format("{}/method{:02}", folder_, index); }

std::string Scratch::path(size_t index, const std::string& extension) const {
  return method_folder(index) + "/data" + extension;
}

Status Scratch::prepare(const Communicator& comm, size_t index) const {
  Status status;
  if (comm->rank() == 0) {
    status = remove_all(method_folder(index));
    std::error_code error;
    if (status.ok() && !fs::create_directory(method_folder(index), error) && error)
      status = Status::from_errno(error.value(), fmt::format("making {}", method_folder(index)));
  }
  return from_root(comm, status);
}

Status Scratch::discard(const Communicator& comm, size_t index) const {
  return from_root(comm, comm->rank() == 0 ? remove_all(method_folder(index)) : Status());
}

Status Scratch::settle(const Communicator& comm) const {
  // By every rank, since other nodes have their own dirty pages.
  const FileDescriptor folder(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  Status status;
  if (folder.get() < 0 || ::syncfs(folder.get()) != 0)
    status = Status::from_errno(errno, fmt::format("syncfs of {}", folder_));
  return agree(comm, status);
}

Status Scratch::drop_cache(const Communicator& comm, size_t index) const {
  Status status;
  for (const std::string& path : files_in(method_folder(index))) {
    const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    const int error = file.get() >= 0 ? ::posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED) : errno;
    if (error != 0 && status.ok()) status = Status::from_errno(error, fmt::format("dropping the pages of {}", path));
  }
  return agree(comm, status);
}

Result<double> Scratch::resident(const Communicator& comm, size_t index) const {
  Pages pages;
  Status status;
  for (const std::string& path : files_in(method_folder(index)))
    if (status.ok()) status = count_pages(path, pages);
  PENSTOCK_TRY(agree(comm, status));
  int64_t millionths = pages.all > 0 ? pages.resident * 1000000 / pages.all : 0;
  PENSTOCK_TRY(comm->all_reduce_max(std::span(&millionths, 1)));
  return static_cast<double>(millionths) * 1e-6;
}

int64_t Scratch::stored_bytes(size_t index) const {
  int64_t sum = 0;
  for (const std::string& path : files_in(method_folder(index))) {
    std::error_code error;
    const auto size = fs::file_size(path, error);
    if (!error) sum += static_cast<int64_t>(size);
  }
  return sum;
}

Status Scratch::remove(const Communicator& comm) const {
  return from_root(comm, comm->rank() == 0 ? remove_all(folder_) : Status());
}

}  // namespace penstock::bench
