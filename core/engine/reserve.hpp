// Reserve: space for what an engine is about to write, since MPI-IO libraries hang or lose data on a full disk.
#pragma once

#include <cstdint>
#include <string>

#include <penstock/status.hpp>

namespace penstock {

// Local. The first byte in [BEGIN, END) of the file at PATH that was never written, or was written as zeros on a file
// system that does not store those; -1 where there is none, or the file system does not say.
int64_t first_hole(const std::string& path, int64_t begin, int64_t end);

// Local. What a library reports that could not create the file at PATH: the file system's own reason where it has one,
// since netCDF-4 calls everything "permission denied"; else LIBRARY, and a file may be there.
Status creation_error(const std::string& path, const Status& library);

// Local, rank 0. Makes the file at PATH at least BYTES long with its blocks allocated; Code::no_space where the disk
// has not so much. Where the file system cannot allocate, its free space is looked at.
Status reserve(const std::string& path, int64_t bytes);
// Local, rank 0. Code::io where the file at PATH is shorter than BYTES.
Status check_size(const std::string& path, int64_t bytes);

}  // namespace penstock
