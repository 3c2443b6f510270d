// Options: parsing, validation, property lists.
#include "core/engine/phdf5/options.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "core/base/units.hpp"
#include "core/comm/mpi/native.hpp"
#include "core/hdf5/decoding.hpp"
#include "core/hdf5/definitions.hpp"

namespace penstock::phdf5 {
namespace {

using hdf5::library_error;
using hdf5::Properties;

constexpr H5Z_filter_t blosc_id = 32001, zstd_id = 32015;  // as registered with the HDF Group; hdf5plugin has both

Result<Dims> parse_chunk(std::string_view text) {
  const Status wrong(Code::invalid,
                     fmt::format("chunk={}: it is 'block', extents such as 64x64, or a size such as 1MiB", text));
  Dims chunk;
  while (!text.empty()) {
    const size_t end = std::min(text.find('x'), text.size());
    int64_t extent = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + end, extent);
    if (error != std::errc{} || stop != text.data() + end || extent < 1 || chunk.rank() == max_rank ||
        end + 1 == text.size())
      return wrong;
    chunk.push_back(extent);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return chunk.rank() == 0 ? Result<Dims>(wrong) : Result<Dims>(chunk);
}

Status set_chunk(const std::string& word, Options& options) {
  options.chunk_bytes = hdf5::largest_chunk;
  if (word == "block") return {};
  if (word.ends_with('B')) {
    PENSTOCK_ASSIGN(const int64_t bytes, parse_bytes(word));
    options.chunk_bytes = std::clamp<int64_t>(bytes, 1, hdf5::largest_chunk);
    return {};
  }
  options.chunk_bytes = int64_t{1} << 20;
  PENSTOCK_ASSIGN(options.chunk, parse_chunk(word));
  return {};
}

H5Z_filter_t filter_id(std::string_view word) {
  return word == "zstd" ? zstd_id : word == "blosc" ? blosc_id : H5Z_FILTER_DEFLATE;
}

Status check_filter(const Options& options) {
  if (options.filter == "none") return {};
  if (!options.chunked || !options.collective)
    return {Code::unsupported,
            fmt::format("filter={}: parallel HDF5 filters chunked datasets in collective transfers only: add "
                        "chunked=true,collective=true",
                        options.filter)};
  const int64_t most = options.filter == "zstd" ? 22 : 9;
  if (options.level > most)
    return {Code::invalid, fmt::format("level={}: filter={} has levels 0 to {}", options.level, options.filter, most)};
  const H5Z_filter_t id = filter_id(options.filter);
  if (hdf5::can_encode(id)) return {};
  return {Code::unsupported,
          fmt::format("filter={}: this HDF5 has no filter {}: set HDF5_PLUGIN_PATH to a folder that has it, such as "
                      "hdf5plugin's",
                      options.filter, id)};
}

Status set_filter(hid_t creation, const Options& options) {
  const auto level = static_cast<unsigned>(options.level);
  const unsigned blosc[] = {0, 0, 0, 0, level, 1, 0};  // four places for the filter itself, then shuffling, blosclz
  herr_t set = 0;
  if (options.shuffle && (options.filter == "deflate" || options.filter == "zstd")) set = H5Pset_shuffle(creation);
  if (set < 0) return library_error(Code::unsupported, "setting the shuffle filter");
  if (options.filter == "deflate") set = H5Pset_deflate(creation, level);
  if (options.filter == "zstd") set = H5Pset_filter(creation, zstd_id, H5Z_FLAG_MANDATORY, 1, &level);
  if (options.filter == "blosc") set = H5Pset_filter(creation, blosc_id, H5Z_FLAG_MANDATORY, 7, blosc);
  return set < 0 ? library_error(Code::unsupported, "setting filter=" + options.filter) : Status();
}

Status check_multi(Options& options, std::string_view word) {
#if H5_VERSION_GE(1, 14, 0)
  options.multi = word != "false";
#else
  if (word == "true")
    return {Code::unsupported, fmt::format("multi_dataset=true: HDF5 {}.{}.{} has no calls for several datasets, 1.14 "
                                           "is the first that has",
                                           H5_VERS_MAJOR, H5_VERS_MINOR, H5_VERS_RELEASE)};
  options.multi = false;
#endif
  return {};
}

}  // namespace

Result<Options> parse_options(const Settings& settings) {
  PENSTOCK_TRY(hdf5::library_ready());
  Options options;
  options.collective = settings.boolean("collective");
  options.chunked = settings.boolean("chunked");
  options.fill = settings.boolean("fill");
  options.coll_metadata = settings.boolean("coll_metadata");
  options.preallocate = settings.boolean("preallocate");
  options.filter = settings.word("filter");
  options.shuffle = settings.boolean("shuffle");
  options.level = settings.integer("level");
  options.alignment = settings.integer("alignment");
  options.alignment_threshold = settings.integer("alignment_threshold");
  options.meta_block_size = settings.integer("meta_block_size");
  options.sieve_buf_size = settings.integer("sieve_buf_size");
  const std::string& version = settings.word("libver");
  options.oldest = H5F_LIBVER_LATEST;
  if (version == "earliest") options.oldest = H5F_LIBVER_EARLIEST;
  if (version == "v110") options.oldest = H5F_LIBVER_V110;
  PENSTOCK_TRY(set_chunk(settings.word("chunk"), options));
  PENSTOCK_TRY(check_multi(options, settings.word("multi_dataset")));
  PENSTOCK_TRY(check_filter(options));
  return options;
}

Result<Properties> file_access(const EngineJob& job, const Hints& hints, const Options& options) {
  const Info info(hints);
  Properties access(H5Pcreate(H5P_FILE_ACCESS));
  bool ok = access.ok() && H5Pset_fapl_mpio(access, native(*job.comm), info.get()) >= 0 &&
            H5Pset_libver_bounds(access, options.oldest, H5F_LIBVER_LATEST) >= 0 &&
            H5Pset_alignment(access, static_cast<hsize_t>(options.alignment_threshold),
                             static_cast<hsize_t>(options.alignment)) >= 0 &&
            H5Pset_meta_block_size(access, static_cast<hsize_t>(options.meta_block_size)) >= 0 &&
            H5Pset_sieve_buf_size(access, static_cast<size_t>(options.sieve_buf_size)) >= 0;
  if (ok && options.coll_metadata)
    ok = H5Pset_coll_metadata_write(access, true) >= 0 && H5Pset_all_coll_metadata_ops(access, true) >= 0;
  if (!ok) return library_error(Code::internal, "setting up parallel access to an HDF5 file");
  return access;
}

Result<Properties> transfer(const Options& options) {
  Properties properties(H5Pcreate(H5P_DATASET_XFER));
  if (!properties.ok() ||
      H5Pset_dxpl_mpio(properties, options.collective ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT) < 0)
    return library_error(Code::internal, "setting up a parallel transfer");
  return properties;
}

Result<Properties> dataset_creation(const std::optional<Dims>& chunk, bool fill, const Options& options) {
  Properties creation(H5Pcreate(H5P_DATASET_CREATE));
  bool ok = creation.ok() && H5Pset_obj_track_times(creation, false) >= 0 &&
            H5Pset_fill_time(creation, fill ? H5D_FILL_TIME_ALLOC : H5D_FILL_TIME_NEVER) >= 0;
  if (ok && chunk) {
    hsize_t extents[max_rank];
    std::copy(chunk->begin(), chunk->end(), extents);
    ok = H5Pset_chunk(creation, chunk->rank(), extents) >= 0;
  }
  if (!ok) return library_error(Code::internal, "setting up storage");
  if (chunk) PENSTOCK_TRY(set_filter(creation, options));
  return creation;
}

std::optional<Dims> chunk_of(const Dataset& dataset, const Dims& largest, const Options& options) {
  const int rank = dataset.shape.rank();
  if (rank == 0 || (!options.chunked && !dataset.unlimited)) return std::nullopt;
  // A chunk is not larger than extents that cannot grow, and not empty.
  if (!dataset.unlimited && elements(dataset.shape) == 0) return std::nullopt;
  const bool given = options.chunk && options.chunk->rank() == rank;
  Dims chunk = given ? *options.chunk : largest;
  for (int i = 0; i < rank; ++i) chunk[i] = std::max<int64_t>(1, std::min(chunk[i], dataset.shape[i]));
  const int64_t most = std::max<int64_t>(1, (given ? hdf5::largest_chunk : options.chunk_bytes) / bytes(dataset.type));
  for (int i = 0; i < rank;)
    if (elements(chunk) <= most)
      break;
    else if (chunk[i] == 1)
      ++i;
    else
      chunk[i] = (chunk[i] + 1) / 2;
  return chunk;
}

}  // namespace penstock::phdf5
