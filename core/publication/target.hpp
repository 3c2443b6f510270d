// Target: the path that commits publish, what is there now, and how their files are named and written.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <penstock/communicator.hpp>

#include "core/methods/facts.hpp"
#include "core/publication/restart.hpp"
#include "core/storage/storage.hpp"
#include "core/storage/target.hpp"

namespace penstock {

struct Target {
  Communicator comm;
  std::shared_ptr<CountedStorage> storage;
  std::string path;    // with links resolved
  uint64_t token = 0;  // random, the same on all ranks: for partial names, generations and proofs
  std::string owner;   // of partial files, in the form used in names: rank 0's process
  // Rank 0: the file at the path as far as this file knows, first at create or open; empty if there is none. It serves
  // to detect a replacement by another process. A published file stays open, so that its inode number is not reused.
  std::optional<FileStat> expected_file;
  StorageFilePtr held;
  bool parts_beside = false;            // rank 0: there were parts at create, possibly of a set at the path
  std::optional<Restart> restart = {};  // if set, the next commit is published as one of these

  // Of the plan:
  MethodFacts method;
  bool set = false;  // a master is published, with parts beside it
  bool durable = true;
  bool preallocate = false;
  Access access = Access::ordinary;  // who may access new files
  bool parity = false;       // commits write a parity file: the plan says so, or the set that is changed has one
  int64_t buffer_bytes = 0;  // of the buffer through which data moves in pieces, where no transport moves it
};

// PATH, or PATH with the format's extension if the master of a set is not a file of the format.
std::string published_path(std::string path, const Target& target);
// The path of the hidden file that becomes the target.
std::string partial_path(const Target& target);
// The path of a part of a set. The generation keeps it apart from parts of the published file.
std::string part_path(const Target& target, std::string_view label);
// The path of the parity file beside the parts of GENERATION: made with them, or later by this file.
std::string parity_path(const Target& target, const std::string& generation);
// "run/heat.xmf" for "run/heat.h5".
std::string xdmf_path(const Target& target);
// The start of the names of a set's parts: "heat.h5" for "heat.h5", "heat" for the sidecar "heat.json", "heat.raw" for
// "heat.raw.json".
std::string stem_of(const Target& target);

// Collective. Names partial files after rank 0's process, also in a file that was opened for reading.
Status own_partial_files(Target& target);
// Local, for rank 0. Keeps the file at the target's path open.
Status hold(Target& target);
// Collective. Code::mismatch if another process replaced the file at the target's path.
Status check_held(const Target& target);
// Local. Same, by this rank's look at it; ok on ranks other than 0.
Status look_at_held(const Target& target);

}  // namespace penstock
