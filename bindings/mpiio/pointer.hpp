// Pointer: the shared file pointer of a view that MPI was not told of. Independent calls use it, so it is a number in a
// hidden file beside the program's, as ROMIO's is.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include <penstock/status.hpp>

#include "core/base/file_descriptor.hpp"

namespace penstock::mpiio {

class SharedPointer {
 public:
  // Local. That of view number VIEW, in the file HIDDEN; both are the same on all ranks.
  SharedPointer(std::string hidden, int view) : path_(std::move(hidden)), at_(int64_t{sizeof(int64_t)} * view) {}

  // Local, in etypes. Atomic: the position before it was advanced by COUNT.
  Result<int64_t> advance(int64_t count);
  Result<int64_t> position();

 private:
  std::string path_;
  int64_t at_;
  FileDescriptor file_;
};

// The name of the hidden file for an opening of PATH that has this TOKEN.
std::string hidden_file(const std::string& path, int64_t token);
// Local. Whether this rank can make it.
bool can_hide_file(const std::string& path);
// Local, when all ranks have closed their file, or MPI has ended. Removes HIDDEN, or all for "", if this rank made it.
void remove_pointers(const std::string& hidden);

}  // namespace penstock::mpiio
