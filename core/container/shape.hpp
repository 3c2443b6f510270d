// Shape: the location of each stream in the files of a container, computed without per-rank storage.
#pragma once

#include <cstdint>

namespace penstock::container {

// The next bytes of a stream are always in one chunk: SIONlib's layout (Frings, Wolf, Petkov, SC09). File f holds the
// streams first(f) to first(f + 1) - 1, its group. Chunk k of the i-th of them begins at data_offset + (k * group + i)
// * chunk_bytes.
struct Shape {
  int64_t streams = 1;
  int64_t files = 1;  // at most the number of streams
  int64_t chunk_bytes = 0;
  int64_t data_offset = 0;  // of each file, after its header

  int64_t first(int64_t file) const { return file * streams / files; }
  int64_t group(int64_t file) const { return first(file + 1) - first(file); }
  int64_t file_of(int64_t stream) const { return ((stream + 1) * files - 1) / streams; }

  // The location of byte AT of STREAM in its file, and the number of contiguous bytes from there.
  struct Place {
    int64_t offset, bytes;
  };
  Place place(int64_t stream, int64_t at) const {
    const int64_t file = file_of(stream), chunk = at / chunk_bytes, within = at % chunk_bytes;
    return {data_offset + (chunk * group(file) + stream - first(file)) * chunk_bytes + within, chunk_bytes - within};
  }
  // The end of STREAM with BYTES bytes; data_offset if it is empty; -1 if beyond 2^62.
  int64_t end(int64_t stream, int64_t bytes) const {
    if (bytes == 0) return data_offset;
    const auto chunks = static_cast<__int128>((bytes - 1) / chunk_bytes + 1);
    if (chunks * group(file_of(stream)) * chunk_bytes + data_offset > int64_t{1} << 62) return -1;
    return place(stream, bytes - 1).offset + 1;
  }
};

}  // namespace penstock::container
