// traced_storage: writes a trace record for each call to the inner storage.
#include "core/storage/traced.hpp"

#include <type_traits>
#include <utility>

namespace penstock {
namespace {

class TimedFile : public StorageFile {
 public:
  TimedFile(StorageFilePtr inner, Trace& trace, uint32_t path)
      : inner_(std::move(inner)), trace_(&trace), path_(path) {}
  Status write(int64_t offset, std::span<const std::byte> bytes) override {
    Tracing tracing(trace_, Operation::write, path_, offset, std::ssize(bytes));
    return tracing.passed(inner_->write(offset, bytes));
  }
  Status read(int64_t offset, std::span<std::byte> bytes) override {
    Tracing tracing(trace_, Operation::read, path_, offset, std::ssize(bytes));
    return tracing.passed(inner_->read(offset, bytes));
  }
  Status sync() override {
    Tracing tracing(trace_, Operation::sync, path_);
    return tracing.passed(inner_->sync());
  }
  Status close() override {
    Tracing tracing(trace_, Operation::close, path_);
    return tracing.passed(inner_->close());
  }

 private:
  StorageFilePtr inner_;
  Trace* trace_;
  uint32_t path_;
};

class TracedStorage : public Storage {
 public:
  TracedStorage(std::shared_ptr<Storage> inner, Trace& trace) : inner_(std::move(inner)), trace_(&trace) {}

  Result<StorageFilePtr> create(const std::string& path, int64_t bytes, Io io, bool preallocate,
                                Access access) override {
    return opened(Operation::create, path, bytes, [&] { return inner_->create(path, bytes, io, preallocate, access); });
  }
  Result<StorageFilePtr> open(const std::string& path, IoMode mode, bool writable) override {
    return opened(Operation::open, path, 0, [&] { return inner_->open(path, mode, writable); });
  }
  Status permit_like(const std::string& path, const std::string& model) override {
    return one(Operation::attributes, path, [&] { return inner_->permit_like(path, model); });
  }
  Status truncate(const std::string& path, int64_t bytes) override {
    return one(Operation::truncate, path, [&] { return inner_->truncate(path, bytes); });
  }
  Status rename(const std::string& from, const std::string& to) override {
    return two(Operation::rename, from, to, [&] { return inner_->rename(from, to); });
  }
  Status rename_new(const std::string& from, const std::string& to) override {
    return two(Operation::rename, from, to, [&] { return inner_->rename_new(from, to); });
  }
  Status link(const std::string& from, const std::string& to) override {
    return two(Operation::link, from, to, [&] { return inner_->link(from, to); });
  }
  Status remove(const std::string& path) override {
    return one(Operation::remove, path, [&] { return inner_->remove(path); });
  }
  Status remove_tree(const std::string& path) override {
    return one(Operation::remove, path, [&] { return inner_->remove_tree(path); });
  }
  Status exchange(const std::string& a, const std::string& b) override {
    return two(Operation::exchange, a, b, [&] { return inner_->exchange(a, b); });
  }
  Status sync_directory(const std::string& path) override {
    return one(Operation::sync_folder, path, [&] { return inner_->sync_directory(path); });
  }
  Status set_time(const std::string& path, int64_t at) override {
    return one(Operation::attributes, path, [&] { return inner_->set_time(path, at); });
  }
  void free_removed_files() override { inner_->free_removed_files(); }
  Result<FileStat> stat(const std::string& path) override {
    return one(Operation::stat, path, [&] { return inner_->stat(path); });
  }
  Result<std::vector<std::string>> list(const std::string& folder, size_t most) override {
    return one(Operation::list, folder, [&] { return inner_->list(folder, most); });
  }

 private:
  template <typename Call>
  std::invoke_result_t<Call> one(Operation operation, const std::string& path, const Call& call) {
    Tracing tracing(trace_, operation, path);
    return tracing.passed(call());
  }
  template <typename Call>
  Status two(Operation operation, const std::string& from, const std::string& to, const Call& call) {
    Tracing tracing(trace_, operation, from, trace_->path_number(to));
    return tracing.passed(call());
  }
  template <typename Call>
  Result<StorageFilePtr> opened(Operation operation, const std::string& path, int64_t bytes, const Call& call) {
    Tracing tracing(trace_, operation, path, 0, bytes);
    PENSTOCK_ASSIGN(StorageFilePtr file, tracing.passed(call()));
    return StorageFilePtr(std::make_unique<TimedFile>(std::move(file), *trace_, tracing.call().path));
  }

  std::shared_ptr<Storage> inner_;
  Trace* trace_;
};

}  // namespace

std::shared_ptr<Storage> traced_storage(std::shared_ptr<Storage> inner, Trace& trace) {
  return std::make_shared<TracedStorage>(std::move(inner), trace);
}

}  // namespace penstock
