// Scratch: the bench's own folder on the file system under measurement, and its page cache.
#pragma once

#include <cstdint>
#include <string>

#include <penstock/communicator.hpp>
#include <penstock/status.hpp>

namespace penstock::bench {

// Bytes free to this user on the file system of FOLDER.
Result<int64_t> free_bytes(const std::string& folder);

// A new folder inside the given one, removed at the end. Every method has its own folder in it, so that all its files
// are found again.
class Scratch {
 public:
  // Collective. Rank 0 creates the folder.
  static Result<Scratch> create(const Communicator& comm, const std::string& directory);

  const std::string& folder() const { return folder_; }
  // The path at which method number INDEX writes a file with EXTENSION.
  std::string path(size_t index, const std::string& extension) const;

  // Collective, untimed: removes the files of method INDEX and creates an empty folder for it; or only removes.
  Status prepare(const Communicator& comm, size_t index) const;
  Status discard(const Communicator& comm, size_t index) const;
  // Collective. Waits until all dirty pages of the file system are on the device, so that no method pays for another.
  Status settle(const Communicator& comm) const;
  // Collective. Asks the kernel to drop the pages of method INDEX's files.
  Status drop_cache(const Communicator& comm, size_t index) const;
  // Collective. The fraction of method INDEX's files in this node's page cache, by mincore; the maximum over all ranks.
  Result<double> resident(const Communicator& comm, size_t index) const;
  // Local. The size of method INDEX's files together.
  int64_t stored_bytes(size_t index) const;
  // Collective. Removes the whole folder.
  Status remove(const Communicator& comm) const;

 private:
  explicit Scratch(std::string folder) : folder_(std::move(folder)) {}
  std::string method_folder(size_t index) const;
  std::string folder_;
};

}  // namespace penstock::bench
