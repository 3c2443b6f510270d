// phdf5: its name and parameters, in every build.
#include "core/model/descriptor.hpp"

namespace penstock {

Descriptor phdf5_descriptor() {
  using Type = Parameter::Type;
  return {
      "phdf5",
      "parallel HDF5 used the ordinary way: what most codes do, and chunks and filters",
      {
          {"collective", Type::boolean, "true|false", "false", "collective data transfer; else each rank for itself"},
          {"chunked", Type::boolean, "true|false", "false", "chunks instead of one contiguous run of bytes"},
          {"chunk", Type::text, "block|AxBxC|1MiB", "block",
           "block: the largest rank's block; extents, for datasets of as many dimensions, others as with 1MiB; or a "
           "size: the "
           "largest rank's block halved until it is no larger"},
          {"filter", Type::choice, "none|deflate|zstd|blosc", "none", "compression; needs chunked and collective"},
          {"shuffle", Type::boolean, "true|false", "false",
           "deflate and zstd: sort the bytes of elements by their place first, which makes most numbers smaller"},
          {"level", Type::integer, "0", "4", "of the compression"},
          {"fill", Type::boolean, "true|false", "false", "write zeros before the data"},
          {"multi_dataset", Type::choice, "auto|true|false", "auto",
           "several datasets in one call, where HDF5 is 1.14 or newer"},
          {"coll_metadata", Type::boolean, "true|false", "false", "metadata by collective reads and writes"},
          {"libver", Type::choice, "earliest|v110|latest", "earliest", "the oldest library that must read the file"},
          {"alignment", Type::bytes, "1", "1", "objects of at least alignment_threshold begin at a multiple of this"},
          {"alignment_threshold", Type::bytes, "0", "1", "see alignment"},
          {"meta_block_size", Type::bytes, "0", "2048", "metadata is allocated in blocks of this size"},
          {"sieve_buf_size", Type::bytes, "0", "65536", "of the buffer for small pieces of contiguous data"},
          {"preallocate", Type::boolean, "true|false", "true",
           "reserve the file's space before data is written; without, a full disk may hang MPI-IO"},
      },
      "",
      true};
}

}  // namespace penstock
