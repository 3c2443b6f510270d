// Background: who waits for what, and what is handed over.
#include "bindings/mpiio/background.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cstdlib>

#include <fmt/format.h>
#include <penstock/phase.hpp>

#include "bindings/mpiio/file.hpp"
#include "bindings/mpiio/locks.hpp"
#include "bindings/mpiio/settings.hpp"
#include "bindings/mpiio/writer.hpp"
#include "core/base/guarded.hpp"

namespace penstock::mpiio {
namespace {

constexpr int64_t least_part = 64 << 10, most_part = 4 << 20;  // of a write, each handed over if there is room
constexpr int64_t few_writers = 4;                             // of a node, as two_phase chooses them

int ranks_of_node(const File& file) {
  for (const char* name : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"})
    if (const char* value = std::getenv(name); value != nullptr && std::atoi(value) > 0) return std::atoi(value);
  return std::max(1, file.comm->node_size());
}

Writer& writer() { return Writer::of_process(); }

// Adds the time of its life to what the program waited for its own data.
class Waited {
 public:
  explicit Waited(Statistics& statistics) : statistics_(statistics), start_(now()) {}
  ~Waited() {
    const std::lock_guard lock(statistics_.mutex);
    statistics_.background.waited += now() - start_;
  }
  Waited(const Waited&) = delete;
  Waited& operator=(const Waited&) = delete;

 private:
  Statistics& statistics_;
  double start_;
};
}  // namespace

class Background::Wrapped : public StorageFile {
 public:
  Wrapped(std::shared_ptr<Background> owner, std::shared_ptr<Opened> opened)
      : owner_(std::move(owner)), opened_(std::move(opened)) {}
  Status write(int64_t offset, std::span<const std::byte> bytes) override {
    if (!owner_->handing_) return opened_->file->write(offset, bytes);
    const auto most = static_cast<size_t>(std::clamp(owner_->most_ / 4, least_part, most_part));
    for (size_t at = 0; at < bytes.size(); at += most) {
      const auto part = bytes.subspan(at, std::min(most, bytes.size() - at));
      PENSTOCK_TRY(writer().hand_over(owner_, opened_, offset + static_cast<int64_t>(at), part));
    }
    return {};
  }
  Status read(int64_t offset, std::span<std::byte> bytes) override { return opened_->file->read(offset, bytes); }
  Status sync() override { return opened_->file->sync(); }
  Status close() override { return opened_ == owner_->opened_ ? Status() : writer().close(owner_, opened_); }

 private:
  std::shared_ptr<Background> owner_;
  std::shared_ptr<Opened> opened_;
};

std::shared_ptr<Background> Background::begin(File& file, int64_t node_bytes, std::string& why_not) {
  const auto made = std::make_shared<Background>();
  const int64_t ranks = ranks_of_node(file);
  made->statistics_ = file.statistics;
  made->path_ = file.path;
  made->each_ = node_bytes / ranks;
  made->few_ = node_bytes / std::min(ranks, few_writers);
  const std::string held = fmt::format("/proc/self/fd/{}", file.held.get());
  made->lock_ = FileDescriptor(::open(held.c_str(), (file.writable() ? O_RDWR : O_RDONLY) | O_CLOEXEC));
  // A byte of its own for each rank shows whether there are locks, and whether other nodes see them.
  const int fd = made->lock_.get();
  const int64_t own = lock_span + 1 + file.comm->rank();
  bool works = fd >= 0 && is_locked(fd, own, own + 1) == 0;
  if (works && file.writable()) works = lock_range(fd, own, own + 1) == 0;
  int64_t failed = !works;
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT64_T, MPI_MAX, file.native);
  if (failed == 0 && file.writable() && file.comm->node_size() < file.comm->size()) {
    const bool looks = file.comm->node_rank() == 0 && file.comm->rank() != 0;  // for the lock of rank 0
    failed = looks && is_locked(fd, lock_span + 1, lock_span + 2) != 1 ? 2 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT64_T, MPI_MAX, file.native);
  }
  if (fd >= 0) (void)unlock_range(fd, own, own + 1);
  if (failed != 0) {
    why_not =
        failed == 1 ? "its file system has no locks of ranges" : "its file system's locks are not seen on other nodes";
    return nullptr;
  }
  return made;
}

Result<StorageFilePtr> Background::open(File& file, IoMode mode, bool writable) {
  const bool plain = mode.io == Io::buffered && mode.queue_depth == 1 && writable == file.writable();
  std::shared_ptr<Opened> opened = plain ? opened_ : nullptr;
  if (opened == nullptr) {
    PENSTOCK_ASSIGN(auto inner, statistics_->storage->open(path_now(file), mode, writable));
    opened = std::make_shared<Opened>(std::move(inner));
    if (plain) opened_ = opened;
  }
  return StorageFilePtr(std::make_unique<Wrapped>(shared_from_this(), std::move(opened)));
}

Status Background::drain() {
  const Waited waited(*statistics_);
  return writer().wait(this, {INT64_MIN, INT64_MAX}, path_);
}

Status Background::wait_for(const Hull& hull) {
  if (hull.first >= hull.last) return {};
  const Waited waited(*statistics_);
  PENSTOCK_TRY(writer().wait(this, hull, path_));
  return wait_for_locks(lock_.get(), std::max<int64_t>(hull.first, 0), std::min(hull.last, lock_span), path_);
}

Status Background::wait_for_others_behind(int64_t offset) {
  const Waited waited(*statistics_);
  return wait_for_locks(lock_.get(), std::max(offset, noted_end()), lock_span, path_);
}

Status Background::failure() { return writer().failure(*this); }

Status Background::end() {
  writer().end(*this);
  const auto opened = std::exchange(opened_, nullptr);
  return opened == nullptr ? Status() : writer().close(shared_from_this(), opened);
}

void Background::note(const Hull& hull) {
  if (hull.first >= hull.last) return;
  Hull all = hull;
  for (auto next = noted_.lower_bound(all.first); next != noted_.end() && next->second <= all.last;) {
    all.add({next->second, next->first});
    next = noted_.erase(next);
  }
  noted_.emplace(all.last, all.first);
}

bool Background::meets(const Hull& hull) const {
  const auto next = noted_.upper_bound(hull.first);
  return hull.first < hull.last && next != noted_.end() && next->second < hull.last;
}

Handing::Handing(File& file, bool allowed, bool exchanged) {
  if (file.background == nullptr || !allowed) return;
  background_ = file.background.get();
  background_->most_ = exchanged ? background_->few_ : background_->each_;
  background_->handing_ = true;
}

void Handing::stop() {
  if (background_ != nullptr) background_->handing_ = false;
  background_ = nullptr;
}

Result<StorageFilePtr> open_storage(File& file, IoMode mode, bool writable) {
  if (file.background != nullptr) return file.background->open(file, mode, writable);
  return file.statistics->storage->open(path_now(file), mode, writable);
}

Status wait_for_background(File& file, const Hull& hull) {
  if (file.background == nullptr || file.background->is_handing()) return {};
  return file.background->wait_for(hull);
}

void wait_for_path(const std::string& path) {
  struct stat info{};
  if (!run_settings().has_servers() || ::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return;
  FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd.get() < 0) fd = FileDescriptor(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (fd.get() >= 0) (void)wait_for_locks(fd.get(), 0, lock_span, path);
}

void drain_process() { writer().drain(); }

Status lost_in_background() {
  const auto lost = writer().take_lost();
  for (const auto& [statistics, status] : lost) statistics->fail("MPI_File_open: " + status.message());
  return lost.empty() ? Status() : lost.front().second;
}

Status end_background() {
  const auto lost = writer().take_lost();
  for (const auto& [statistics, status] : lost) {
    statistics->fail("MPI_Finalize: " + status.message());
    const std::lock_guard lock(statistics->mutex);
    statistics->background.untold = true;
  }
  return lost.empty() ? Status() : lost.front().second;
}

void end_ledger() { writer().end_ledger(); }

Status drain_together(File& file) {
  if (file.background == nullptr) return {};
  Status status = file.background->drain();
  if (status.ok()) status = file.background->failure();
  status = agree(file.comm, status);
  file.background->forget();
  return status;
}

}  // namespace penstock::mpiio
