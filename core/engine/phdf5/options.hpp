// Options: the parameters of phdf5 as one value, and the resulting property lists.
#pragma once

#include <optional>

#include "core/engine/engine.hpp"
#include "core/hdf5/handles.hpp"

namespace penstock::phdf5 {

struct Options {
  bool collective = false, chunked = false, fill = false, multi = false, coll_metadata = false, preallocate = true;
  std::optional<Dims> chunk;  // for datasets with as many dimensions; others get the largest block of any rank,
  int64_t chunk_bytes = 0;    // halved until it has at most this many bytes
  std::string filter;
  bool shuffle = false;
  int64_t level = 0;
  H5F_libver_t oldest = H5F_LIBVER_EARLIEST;
  int64_t alignment = 1, alignment_threshold = 1, meta_block_size = 2048, sieve_buf_size = 65536;
};

// Code::unsupported for what parallel HDF5, or this release, does not support; Code::invalid for contradictory options.
Result<Options> parse_options(const Settings& settings);

// Collective. The access properties with which all ranks of PROBLEM open its file.
Result<hdf5::Properties> file_access(const EngineJob& job, const Hints& hints, const Options& options);
Result<hdf5::Properties> transfer(const Options& options);
// No CHUNK: contiguous storage.
Result<hdf5::Properties> dataset_creation(const std::optional<Dims>& chunk, bool fill, const Options& options);
// The extents of DATASET's chunks; nothing for contiguous storage. LARGEST is the block of the rank that has most.
std::optional<Dims> chunk_of(const Dataset& dataset, const Dims& largest, const Options& options);

}  // namespace penstock::phdf5
