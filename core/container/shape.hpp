// Shape: which stream lies in which file of a container, and where; arithmetic, nothing stored for each rank.
#pragma once

#include <cstdint>

namespace penstock::container {

// A stream's next bytes are always in one chunk: SIONlib's layout (Frings, Wolf, Petkov, SC09). File f holds the
// streams of first(f) to first(f + 1) - 1, its group; chunk k of the i-th of them begins at
// data_offset + (k * group + i) * chunk_bytes.
struct Shape {
  int64_t streams = 1;
  int64_t files = 1;  // at most as many as there are streams
  int64_t chunk_bytes = 0;
  int64_t data_offset = 0;  // of each file: what lies before is its header

  int64_t first(int64_t file) const { return file * streams / files; }
  int64_t group(int64_t file) const { return first(file + 1) - first(file); }
  int64_t file_of(int64_t stream) const { return ((stream + 1) * files - 1) / streams; }

  // Where byte AT of STREAM lies in its file, and how many bytes follow it there in one piece.
  struct Place {
    int64_t offset, bytes;
  };
  Place place(int64_t stream, int64_t at) const;
  // The end of the last byte of STREAM when it has BYTES; data_offset without any; -1 where that is beyond 2^62.
  int64_t end(int64_t stream, int64_t bytes) const;
};

}  // namespace penstock::container
