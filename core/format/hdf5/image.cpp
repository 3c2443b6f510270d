// Image: repeats attempts until the metadata region is large enough; usually the first one is.
#include "core/format/hdf5/image.hpp"

#include <sys/resource.h>

#include <algorithm>

#include "core/base/units.hpp"
#include "core/format/hdf5/builder.hpp"
#include "core/format/hdf5/metadata_size.hpp"
#include "core/format/hdf5/private_file.hpp"
#include "core/hdf5/dimension_scales.hpp"
#include "core/hdf5/handles.hpp"
#include "core/hdf5/object_header.hpp"

namespace penstock::hdf5 {
namespace {

struct Attempt {
  int64_t metadata_bytes;  // of the region at the head
  int64_t block;           // datasets of at least THRESHOLD bytes are aligned to it
  int64_t threshold;
  int64_t heap_bytes = 0;  // those before all data
};

// What an encoded dataset has in the head beyond others: filters, and the root of its index.
int64_t encoded_header_bytes(const Dataset& dataset, const Encoding& encoding) {
  return 200 + ChunkIndex(dataset.shape, bytes(dataset.type), encoding).root_bytes();
}

// Beyond the process's file size limit the library's ftruncate would raise SIGXFSZ, which kills.
Status check_size_limit(const Catalogue& catalogue, const LayoutOptions& options, const Attempt& attempt) {
  struct rlimit limit{};
  int64_t sum = attempt.metadata_bytes, encoded = 0;
  for (size_t i = 0; i < catalogue.datasets.size(); ++i) {
    const int64_t size = options.stored_bytes(catalogue, i);
    if (size > INT64_MAX / 2 - sum - 2 * attempt.block)
      return {Code::invalid,
              "up to dataset '" + catalogue.datasets[i].name + "' there are more bytes than 62 bits can address"};
    (options.encoded(i) ? encoded : sum) += size + (size >= attempt.threshold ? attempt.block : 0);
  }
  // What was written ahead is behind all that is not encoded.
  sum = std::max(sum, options.written.offset) + std::max(encoded, options.written.length);
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
      static_cast<uint64_t>(sum) > limit.rlim_cur)
    return {Code::no_space, "the file needs " + std::to_string(sum) + " bytes, this process may write files of " +
                                std::to_string(limit.rlim_cur) + " (ulimit -f)"};
  return {};
}

Result<Built> build(const Catalogue& catalogue, const DimensionScales& scales, const LayoutOptions& options,
                    const Attempt& attempt, PrivateFile& image) {
  PENSTOCK_ASSIGN(const Properties access, file_access(image.named()));
  const Properties creation(H5Pcreate(H5P_FILE_CREATE));
  const bool ok =
      creation.ok() && set_object(creation) && H5Pset_fclose_degree(access, H5F_CLOSE_STRONG) >= 0 &&
      H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_V18) >= 0 &&
      H5Pset_meta_block_size(access, static_cast<hsize_t>(attempt.metadata_bytes)) >= 0 &&
      // Blocks of small data would hide datasets from the alignment; without them small datasets are packed too.
      H5Pset_small_data_block_size(access, 0) >= 0 &&
      H5Pset_alignment(access, static_cast<hsize_t>(attempt.threshold), static_cast<hsize_t>(attempt.block)) >= 0;
  if (!ok) return library_error(Code::internal, "setting up an HDF5 image");
  File file(H5Fcreate(image.path().c_str(), create_truncating, creation, access));
  if (!file.ok()) return library_error(Code::io, "making an HDF5 image in '" + image.path() + "'");
  image.unlink_name();
  Built built;
  {
    Builder builder(file, catalogue, scales, {attempt.block, options.encodings});
    PENSTOCK_TRY(builder.make_groups());
    PENSTOCK_ASSIGN(built, builder.make_datasets());
  }
  if (!file.close())
    return library_error(Code::no_space,
                         "writing an HDF5 image of " + std::to_string(attempt.metadata_bytes) + " bytes");
  return built;
}

// Adds to LAYOUT what replaces the header of DATASET: the same with the numbers of FILTERS.
Status number_filters(const StoredBytes& stored, const ObjectHeader& header, std::span<const Filter> filters,
                      Layout& layout) {
  constexpr size_t checksum_bytes = 4;
  const FilterList& list = header.filters;
  if (list.numbers.size() != filters.size()) return {Code::internal, "HDF5 made another list of filters than expected"};
  PENSTOCK_ASSIGN(std::vector<std::byte> part, stored.read(list.address, list.bytes));
  const std::span<std::byte> bytes(part);
  const std::span<std::byte> summed = bytes.first(bytes.size() - checksum_bytes), sum = bytes.last(checksum_bytes);
  if (metadata_checksum(summed) != number(sum)) return {Code::internal, "HDF5 made another header than expected"};
  for (size_t i = 0; i < filters.size(); ++i)
    put_number(static_cast<uint64_t>(filters[i].id), summed.subspan(list.numbers[i], 2));
  put_number(metadata_checksum(summed), sum);
  layout.metadata.push_back({static_cast<int64_t>(list.address), std::move(part)});
  return {};
}

// Gives encoded datasets room behind LAYOUT's end: first their indexes, whose nodes become metadata, then their chunks.
Status place_encoded(const PrivateFile& image, const LayoutOptions& options, Built& built, Layout& layout) {
  const StoredBytes stored{.fd = image.fd(), .end = static_cast<uint64_t>(layout.end)};
  int64_t others = round_up(layout.end, 8), data = others;
  for (const EncodedDataset& dataset : built.encoded) data += dataset.index ? dataset.index->other_bytes() : 0;
  const Extent& written = options.written;
  if (written.length > 0 && data > written.offset)
    return {Code::internal, "chunks were written where metadata belongs"};
  data = std::max(data, written.offset + written.length);
  for (const EncodedDataset& dataset : built.encoded) {
    const ObjectHeader header = read_header(stored, dataset.header);
    PENSTOCK_TRY(number_filters(stored, header, options.encodings[dataset.number].filters, layout));
    if (!dataset.index) continue;
    if (!stored.holds(header.chunk_index, static_cast<uint64_t>(dataset.index->root_bytes())))
      return {Code::internal, "HDF5 made no index for encoded chunks"};
    data = round_up(data, options.block);
    built.bases[dataset.number] = data;
    ChunkIndex::Nodes nodes = dataset.index->nodes(others, data);
    layout.metadata.push_back({static_cast<int64_t>(header.chunk_index), std::move(nodes.root)});
    if (!nodes.others.empty()) layout.metadata.push_back({others, std::move(nodes.others)});
    others += dataset.index->other_bytes();
    data += options.encodings[dataset.number].bytes;
  }
  layout.end = data;
  return {};
}

// HEAD as it is in the file: with headers and the roots of indexes, which LAYOUT has as metadata, and LAYOUT's end.
Status complete_head(Layout& layout, std::span<std::byte> head) {
  std::erase_if(layout.metadata, [&](const Layout::Metadata& nodes) {
    const bool inside = nodes.offset + std::ssize(nodes.bytes) <= std::ssize(head);
    if (inside) std::ranges::copy(nodes.bytes, head.begin() + nodes.offset);
    return inside;
  });
  // The superblock of version 2: HDF5 File Format Specification, II.B.
  constexpr size_t version = 8, address_bytes = 9, end = 28, checksum = 44;
  if (head.size() < checksum + 4 || head[version] != std::byte{2} || head[address_bytes] != std::byte{8})
    return {Code::internal, "HDF5 made another superblock than expected"};
  put_number(static_cast<uint64_t>(layout.end), head.subspan(end, 8));
  put_number(metadata_checksum(head.first(checksum)), head.subspan(checksum, 4));
  return {};
}

// The head up to the first data, or up to the last possible metadata, so that a large block does not add large zeros.
Result<int64_t> head_end(const PrivateFile& image, const Attempt& attempt, int64_t first_data) {
  const int64_t reach = attempt.metadata_bytes + attempt.heap_bytes + 4096 +
                        (attempt.metadata_bytes >= attempt.threshold ? attempt.block : 0);
  if (reach >= first_data) return first_data;
  PENSTOCK_ASSIGN(const int64_t end, image.end_of_nonzero(reach, first_data));
  return end == reach ? reach : first_data;
}

}  // namespace

Result<Layout> image_layout(const Catalogue& given, const LayoutOptions& options) {
  const DimensionScales scales = scales_of(given);
  const bool plain = scales.list.empty();
  const Catalogue unnamed = plain ? Catalogue() : without_names(given, scales);
  const Catalogue& catalogue = plain ? given : unnamed;
  const Catalogue enlarged = plain ? Catalogue() : with_scales(catalogue, scales);
  const Catalogue& all = plain ? given : enlarged;
  Attempt attempt;
  attempt.block = std::max<int64_t>(options.block, 1);
  attempt.threshold = attempt.block;
  // An aligned attribute would leave a gap that small datasets fill: data before metadata.
  for (const auto& [object, attributes] : all.attributes)
    if (const int64_t largest = largest_outside_header(attributes); largest > 0)
      attempt.threshold = std::max(attempt.threshold, largest + 1024);
  attempt.heap_bytes = heap_bytes(scales);
  if (attempt.heap_bytes > 0) attempt.threshold = std::max<int64_t>(attempt.threshold, 4096 + 1024);
  attempt.metadata_bytes = estimate_metadata_bytes(all);
  for (size_t i = 0; i < options.encodings.size(); ++i)
    if (options.encoded(i)) attempt.metadata_bytes += encoded_header_bytes(catalogue.datasets[i], options.encodings[i]);
  PENSTOCK_TRY(check_size_limit(catalogue, options, attempt));

  for (int tries = 0; tries < 12; ++tries, attempt.metadata_bytes *= 2) {
    PENSTOCK_ASSIGN(PrivateFile image, PrivateFile::make());
    Layout layout;
    PENSTOCK_ASSIGN(Built built, build(catalogue, scales, options, attempt, image));
    PENSTOCK_ASSIGN(layout.end, image.size());
    const int64_t image_end = layout.end;
    if (!built.encoded.empty()) PENSTOCK_TRY(place_encoded(image, options, built, layout));
    const std::vector<int64_t>& bases = built.bases;
    int64_t first_data = layout.end;
    for (size_t i = 0; i < bases.size(); ++i) {
      const Dataset& dataset = catalogue.datasets[i];
      layout.blocks.push_back({0, std::max<int64_t>(0, bases[i]), false, Selection::whole(dataset.shape)});
      if (bases[i] < 0) continue;
      first_data = std::min(first_data, bases[i]);
      layout.end = std::max(layout.end, bases[i] + options.stored_bytes(catalogue, i));
    }
    // Data was never written: nonzero bytes from the first dataset on are metadata that did not fit.
    PENSTOCK_ASSIGN(const int64_t stray, image.end_of_nonzero(first_data, layout.end));
    if (stray > first_data) continue;
    // Behind the image, indexes of encoded datasets come first.
    PENSTOCK_ASSIGN(const int64_t end, head_end(image, attempt, std::min(first_data, image_end)));
    PENSTOCK_ASSIGN(std::vector<std::byte> head, image.read(0, end));
    if (!built.encoded.empty()) PENSTOCK_TRY(complete_head(layout, head));
    layout.metadata.insert(layout.metadata.begin(), {0, std::move(head)});
    return layout;
  }
  return Status(Code::internal, "libhdf5 puts metadata among data, however large the region for metadata is");
}

}  // namespace penstock::hdf5
