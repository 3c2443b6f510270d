// Shape: computes the location of a stream's bytes.
#include "core/container/shape.hpp"

namespace penstock::container {

Shape::Place Shape::place(int64_t stream, int64_t at) const {
  const int64_t file = file_of(stream), chunk = at / chunk_bytes, within = at % chunk_bytes;
  return {data_offset + (chunk * group(file) + stream - first(file)) * chunk_bytes + within, chunk_bytes - within};
}

int64_t Shape::end(int64_t stream, int64_t bytes) const {
  if (bytes == 0) return data_offset;
  const int64_t chunks = (bytes - 1) / chunk_bytes + 1;
  if (static_cast<__int128>(chunks) * group(file_of(stream)) * chunk_bytes + data_offset > int64_t{1} << 62) return -1;
  return place(stream, bytes - 1).offset + 1;
}

}  // namespace penstock::container
