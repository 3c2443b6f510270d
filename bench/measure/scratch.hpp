// Scratch: the bench's own folder on the file system under measurement, and its page cache.
#pragma once

#include <cstdint>
#include <string>

#include <penstock/communicator.hpp>
#include <penstock/status.hpp>

namespace penstock::bench {

// Bytes free to this user on the file system of FOLDER.
Result<int64_t> free_bytes(const std::string& folder);

// A new folder under the one asked for, removed in the end. Every method has a folder of its own in it, so that
// whatever it writes beside its file is found again.
class Scratch {
 public:
  // Collective. Rank 0 makes the folder.
  static Result<Scratch> create(const Communicator& comm, const std::string& directory);

  const std::string& folder() const { return folder_; }
  // Where method number INDEX writes a file with EXTENSION.
  std::string path(size_t index, const std::string& extension) const;

  // Collective, outside of every clock: removes what method INDEX left behind and makes an empty folder for it;
  // or only removes.
  Status prepare(const Communicator& comm, size_t index) const;
  Status discard(const Communicator& comm, size_t index) const;
  // Collective: all dirty pages of the file system are on the device, so that nobody pays for somebody else's.
  Status settle(const Communicator& comm) const;
  // Collective: asks the kernel to drop the pages of method INDEX's files.
  Status drop_cache(const Communicator& comm, size_t index) const;
  // Collective: which fraction of method INDEX's files lies in this node's page cache, by mincore; the largest over all
  // ranks.
  Result<double> resident(const Communicator& comm, size_t index) const;
  // Collective: removes the whole folder.
  Status remove(const Communicator& comm) const;

 private:
  explicit Scratch(std::string folder) : folder_(std::move(folder)) {}
  std::string method_folder(size_t index) const;
  std::string folder_;
};

}  // namespace penstock::bench
