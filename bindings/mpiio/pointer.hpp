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
  // Local. ID is that of the opening and the view, the same on all ranks.
  SharedPointer(const std::string& path, const std::string& id);

  // Local, in etypes. Atomic: the position before it was advanced by COUNT.
  Result<int64_t> advance(int64_t count);
  Result<int64_t> position();

 private:
  std::string path_;
  FileDescriptor file_;
};

// Local, when all ranks have closed their files. Removes the files that this rank has made.
void remove_pointers();

}  // namespace penstock::mpiio
