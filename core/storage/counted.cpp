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

Storage& CountedStorage::counted() {
  ++counters_->metadata;
  return *inner_;
}

Result<StorageFilePtr> CountedStorage::create(const std::string& path, int64_t bytes, Io io, bool preallocate,
                                              Access access) {
  PENSTOCK_ASSIGN(auto file, counted().create(path, bytes, io, preallocate, access));
  return StorageFilePtr(std::make_unique<CountedFile>(std::move(file), counters_));
}

Result<StorageFilePtr> CountedStorage::open(const std::string& path, IoMode mode, bool writable) {
  PENSTOCK_ASSIGN(auto file, counted().open(path, mode, writable));
  return StorageFilePtr(std::make_unique<CountedFile>(std::move(file), counters_));
}

}  // namespace penstock
