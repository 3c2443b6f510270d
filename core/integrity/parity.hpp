// Parity: the exclusive or of a set's files, byte by byte, from which any one of them can be rebuilt.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/publication/output.hpp"

namespace penstock {

// A file that is read from its first byte to its last.
struct Source {
  std::string path;
  int64_t bytes = 0;
  uint64_t sum = 0;  // crc64 of the whole file, after reading
};

// The output file: it exists with its full size.
struct Combined {
  std::string path;
  int64_t bytes = 0;
  Io io = Io::buffered;
  bool sync = true;
};

// Collective. Writes TARGET as the exclusive or of all ranks' SOURCES, each padded with zeros; every rank fills in the
// sums of its own sources. Windows of WINDOW bytes, two per rank, are combined along a tree of the ranks with sources;
// these ranks write them in turn.
Status combine(const Communicator& comm, Storage& storage, std::vector<Source>& sources, const Combined& target,
               int64_t window);
// The size of such a window in TARGET's buffer.
int64_t combine_window(const Target& target);

// Whether this rank reads FILE, one of COUNT files that all ranks know.
inline bool is_reader(const Target& target, size_t file, size_t count) {
  return static_cast<int>(file * static_cast<size_t>(target.comm->size()) / count) == target.comm->rank();
}

// The expected checksum of the parity file.
uint64_t parity_sum(const std::vector<FileSum>& parts, int64_t bytes);

// Collective, after all parts are written, synced and cut to their final length. Does nothing if the set has no parity.
// Rank 0's contents name the parity file.
Status write_parity(const Target& target, Output& output);
// Collective. Same for the parts MINE of this rank: writes parity to PATH with IO. In rank order MINE are those of
// CONTENTS.
Status make_parity(const Target& target, std::vector<Source> mine, const std::string& path, Io io,
                   std::vector<std::string>& created, Contents& contents);

}  // namespace penstock
