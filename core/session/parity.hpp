// Parity: the exclusive or of a set's files, byte by byte, from which any one of them can be made again.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/session/output.hpp"
#include "core/session/state.hpp"

namespace penstock {

// A file that is read from its first byte to its last.
struct Source {
  std::string path;
  int64_t bytes = 0;
  uint64_t sum = 0;  // crc64 of all of it, once it was read
};

// The file that is written: it exists at its full size.
struct Combined {
  std::string path;
  int64_t bytes = 0;
  Io io = Io::buffered;
  bool sync = true;
};

// Collective. Writes TARGET as the exclusive or of all ranks' SOURCES, each with zeros behind it; every rank fills in
// the sums of its own. Windows of WINDOW bytes, of which a rank holds two, are added up along a tree of the ranks that
// have sources, and written by each of those in turn.
Status combine(const Communicator& comm, Storage& storage, std::vector<Source>& sources, const Combined& target,
               int64_t window);
// The bytes of such a window in STATE's memory.
int64_t combine_window(const File::State& state);

// Whose FILE it is to be read, of COUNT that all RANKS know.
inline int reader_of(size_t file, size_t count, int ranks) {
  return static_cast<int>(file * static_cast<size_t>(ranks) / count);
}

// What the sum of the parity file must be.
uint64_t parity_sum(const std::vector<FileSum>& parts, int64_t bytes);

// Collective, when all parts are written, synced and as long as they stay. Nothing where the set has no parity. Rank
// 0's contents say where it is.
Status write_parity(File::State& state, Output& output);
// Collective. The same of the parts MINE of this rank, in the order of all ranks those of CONTENTS, into PATH, with IO.
Status make_parity(File::State& state, std::vector<Source> mine, const std::string& path, Io io,
                   std::vector<std::string>& created, Contents& contents);

}  // namespace penstock
