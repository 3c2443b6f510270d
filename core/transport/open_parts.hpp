// OpenParts: the files that one rank has open during a transfer.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "core/transport/transport.hpp"

namespace penstock {

// Opens each part at its first use; syncs and closes all of them at the end.
class OpenParts {
 public:
  OpenParts(std::shared_ptr<Files> files, IoMode mode, bool writable)
      : source_(std::move(files)), mode_(mode), writable_(writable) {}

  Result<StorageFile*> at(const std::string& path) {
    auto& file = files_[path];
    if (!file) {
      auto opened = source_->open(path, mode_, writable_);
      if (!opened.ok()) return opened.status();
      file = *std::move(opened);
    }
    return file.get();
  }

  // Closes every file, also after failures; returns the first failure.
  Status finish(bool sync) {
    Status first;
    for (auto& [path, file] : files_) {
      if (!file) continue;
      if (sync)
        if (Status status = file->sync(); first.ok()) first = status;
      if (Status status = file->close(); first.ok()) first = status;
    }
    files_.clear();
    return first;
  }

  bool any() const { return !files_.empty(); }

 private:
  std::shared_ptr<Files> source_;
  IoMode mode_;
  bool writable_;
  std::map<std::string, StorageFilePtr> files_;
};

inline constexpr Parameter queue_depth{"queue_depth", Parameter::Type::integer, "1", "1",
                                       "requests under way at once in a long write or read, where io_uring is found"};

// For transports with both parameters.
inline IoMode io_mode(const Job& job, const Settings& settings) {
  return {job.io.value_or(parse_io(settings.word("io"))), settings.integer("queue_depth")};
}

}  // namespace penstock
