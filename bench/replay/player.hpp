// Player: makes the calls of one variant on one rank; the caller takes the time.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include <penstock/communicator.hpp>

#include "bench/replay/pattern.hpp"

namespace penstock::bench {

// Files are FOLDER/0, FOLDER/1, ...
std::string file_path(const std::string& folder, int file);

// DATA has the bytes of all reads and writes, in the order of the steps: data to write, and room for data to read.
class Player {
 public:
  virtual ~Player() = default;
  // All collective. A rank that fails continues where others would wait for it, and returns the failure at the end.
  virtual Status open() = 0;
  virtual Status play(std::span<std::byte> data) = 0;
  virtual Status close() = 0;
};

// For a variant that outlives it; the second function exists in builds with MPI only.
std::unique_ptr<Player> play_posix(const Communicator& comm, const Variant& variant, std::string folder);
std::unique_ptr<Player> play_mpiio(const Communicator& comm, const Variant& variant, std::string folder);

}  // namespace penstock::bench
