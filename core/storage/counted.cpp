// CountedStorage: counts calls.
#include <atomic>
#include <utility>

#include "core/storage/storage.hpp"

namespace penstock {

struct CountedStorage::Counters {
  std::atomic<int64_t> writes{0}, write_bytes{0}, reads{0}, read_bytes{0}, metadata{0};
};

namespace {

class CountedFile : public StorageFile {
 public:
  CountedFile(StorageFilePtr inner, std::shared_ptr<CountedStorage::Counters> counters)
      : inner_(std::move(inner)), counters_(std::move(counters)) {}
  Status write(int64_t offset, std::span<const std::byte> bytes) override {
    ++counters_->writes;
    counters_->write_bytes += static_cast<int64_t>(bytes.size());
    return inner_->write(offset, bytes);
  }
  Status read(int64_t offset, std::span<std::byte> bytes) override {
    ++counters_->reads;
    counters_->read_bytes += static_cast<int64_t>(bytes.size());
    return inner_->read(offset, bytes);
  }
  Status sync() override {
    ++counters_->metadata;
    return inner_->sync();
  }
  Status close() override {
    ++counters_->metadata;
    return inner_->close();
  }

 private:
  StorageFilePtr inner_;
  std::shared_ptr<CountedStorage::Counters> counters_;
};

}  // namespace

CountedStorage::CountedStorage(std::shared_ptr<Storage> inner)
    : inner_(std::move(inner)), counters_(std::make_shared<Counters>()) {}
CountedStorage::~CountedStorage() = default;

StorageCounts CountedStorage::counts() const {
  const Counters& c = *counters_;
  return {c.writes, c.write_bytes, c.reads, c.read_bytes, c.metadata};
}

Result<StorageFilePtr> CountedStorage::create(const std::string& path, int64_t bytes, Io io, bool preallocate) {
  ++counters_->metadata;
  PENSTOCK_ASSIGN(auto file, inner_->create(path, bytes, io, preallocate));
  return StorageFilePtr(std::make_unique<CountedFile>(std::move(file), counters_));
}

Result<StorageFilePtr> CountedStorage::open(const std::string& path, IoMode mode, bool writable) {
  ++counters_->metadata;
  PENSTOCK_ASSIGN(auto file, inner_->open(path, mode, writable));
  return StorageFilePtr(std::make_unique<CountedFile>(std::move(file), counters_));
}

Status CountedStorage::permit(const std::string& path) {
  ++counters_->metadata;
  return inner_->permit(path);
}

Status CountedStorage::permit_like(const std::string& path, const std::string& model) {
  ++counters_->metadata;
  return inner_->permit_like(path, model);
}

Status CountedStorage::truncate(const std::string& path, int64_t bytes) {
  ++counters_->metadata;
  return inner_->truncate(path, bytes);
}

Status CountedStorage::rename(const std::string& from, const std::string& to) {
  ++counters_->metadata;
  return inner_->rename(from, to);
}

Status CountedStorage::rename_new(const std::string& from, const std::string& to) {
  ++counters_->metadata;
  return inner_->rename_new(from, to);
}

Status CountedStorage::link(const std::string& from, const std::string& to) {
  ++counters_->metadata;
  return inner_->link(from, to);
}

Status CountedStorage::remove(const std::string& path) {
  ++counters_->metadata;
  return inner_->remove(path);
}

Status CountedStorage::remove_tree(const std::string& path) {
  ++counters_->metadata;
  return inner_->remove_tree(path);
}

Status CountedStorage::exchange(const std::string& a, const std::string& b) {
  ++counters_->metadata;
  return inner_->exchange(a, b);
}

Status CountedStorage::sync_directory(const std::string& path) {
  ++counters_->metadata;
  return inner_->sync_directory(path);
}

Status CountedStorage::set_time(const std::string& path, int64_t nanoseconds) {
  ++counters_->metadata;
  return inner_->set_time(path, nanoseconds);
}

Result<FileStat> CountedStorage::stat(const std::string& path) {
  ++counters_->metadata;
  return inner_->stat(path);
}

Result<std::vector<std::string>> CountedStorage::list(const std::string& folder, size_t most) {
  ++counters_->metadata;
  return inner_->list(folder, most);
}

}  // namespace penstock
