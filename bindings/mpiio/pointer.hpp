// Pointer: the shared file pointer of a view that MPI was not told of. Independent calls use it, so it is a number in a
// hidden file beside the program's, as ROMIO's is.
#pragma once

#include <cstdint>
#include <string>

#include <penstock/status.hpp>

#include "core/base/file_descriptor.hpp"

namespace penstock::mpiio {

class SharedPointer {
 public:
  // Local. Those of view number VIEW of an opening of PATH; TOKEN is the opening's. All the same on all ranks.
  SharedPointer(const std::string& path, const std::string& token, int view);
  // Whether each rank of an opening of PATH can have it.
  static bool is_possible(const std::string& path);

  // Local, in etypes. Atomic: the position before it was advanced by COUNT.
  Result<int64_t> advance(int64_t count);
  Result<int64_t> position();

 private:
  std::string path_;
  int64_t at_;
  FileDescriptor file_;
};

// Local, when all ranks have closed their file, or MPI has ended. Removes the hidden files that this rank has made: for
// the opening with TOKEN, or all for "".
void remove_pointers(const std::string& token);

}  // namespace penstock::mpiio
