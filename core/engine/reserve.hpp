// Reserve: allocates space before an engine writes, since MPI-IO libraries hang or lose data on a full disk.
#pragma once

#include <cstdint>
#include <string>

#include <penstock/status.hpp>

namespace penstock {

// Local. The first byte in [BEGIN, END) of the file at PATH that was never written, or was written as zeros on a file
// system that does not store zeros. -1 if there is none or the file system does not report holes.
int64_t first_hole(const std::string& path, int64_t begin, int64_t end);

// Local. The error of a library that could not create the file at PATH. Returns the reason of the file system if there
// is one, since netCDF-4 reports everything as "permission denied"; otherwise LIBRARY, and a file may exist.
Status creation_error(const std::string& path, const Status& library);

// Local, rank 0. Extends the file at PATH to BYTES with its blocks allocated; Code::no_space if the disk does not have
// enough. If the file system cannot allocate, checks its free space.
Status reserve(const std::string& path, int64_t bytes);
// Local, rank 0. Code::io if the file at PATH is shorter than BYTES.
Status check_size(const std::string& path, int64_t bytes);

}  // namespace penstock
