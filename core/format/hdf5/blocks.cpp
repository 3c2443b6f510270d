// Blocks: finds the bytes of a dataset in the file, if they are stored unchanged.
#include <algorithm>
#include <map>

#include "core/format/hdf5/read.hpp"

namespace penstock::hdf5 {
namespace {

// H5Dget_chunk_info walks the index from its start each time. Beyond this number the search costs more than reading
// through the library.
constexpr hsize_t max_chunks = 2048;

Status add_contiguous(haddr_t address, const Dataset& definition, int64_t file_bytes, bool swapped,
                      std::vector<StoredBlock>& blocks) {
  const int64_t size = bytes(definition);
  if (address > static_cast<haddr_t>(file_bytes) || size > file_bytes - static_cast<int64_t>(address))
    return {Code::damaged, "its data lie beyond the end of the file"};
  blocks.push_back({0, static_cast<int64_t>(address), swapped, Selection::whole(definition.shape)});
  return {};
}

// Rows per chunk if chunks are whole rows without filters, else 0.
int64_t whole_rows(hid_t creation, const Dataset& definition) {
  hsize_t chunk[max_rank];
  const int rank = definition.shape.rank();
  if (rank == 0 || H5Pget_chunk(creation, rank, chunk) != rank || H5Pget_nfilters(creation) != 0) return 0;
  for (int i = 1; i < rank; ++i)
    if (chunk[i] != static_cast<hsize_t>(definition.shape[i])) return 0;
  return static_cast<int64_t>(chunk[0]);
}

Status collect_chunks(hid_t dataset, hid_t space, hsize_t count, std::map<int64_t, int64_t>& base_of_row) {
  for (hsize_t i = 0; i < count; ++i) {
    hsize_t offset[max_rank + 1] = {}, size = 0;
    unsigned filters = 0;
    haddr_t address = HADDR_UNDEF;
    if (H5Dget_chunk_info(dataset, space, i, offset, &filters, &address, &size) < 0)
      return library_error(Code::damaged, "finding its chunks");
    if (address != HADDR_UNDEF) base_of_row[static_cast<int64_t>(offset[0])] = static_cast<int64_t>(address);
  }
  return {};
}

Status find_chunked(hid_t dataset, hid_t creation, const Dataset& definition, const StoredBytes& file, bool swapped,
                    std::vector<StoredBlock>& blocks, bool& foreign) {
  foreign = true;
  const int64_t rows = whole_rows(creation, definition);
  // Releases of the library differ in where chunk addresses count from in files with a user block.
  if (rows <= 0 || file.base != 0) return {};
  const int64_t all_rows = definition.shape[0];
  const auto chunks = static_cast<hsize_t>((all_rows - 1) / rows + 1);
  hsize_t stored = 0;
  const Space space(H5Dget_space(dataset));
  if (chunks > max_chunks || !space.ok() || H5Dget_num_chunks(dataset, space, &stored) < 0 || stored != chunks)
    return {};
  std::map<int64_t, int64_t> base_of_row;
  PENSTOCK_TRY(collect_chunks(dataset, space, chunks, base_of_row));

  const int64_t row_bytes = bytes(definition) / all_rows;
  for (int64_t row = 0; row < all_rows; row += rows) {
    const auto found = base_of_row.find(row);
    if (found == base_of_row.end()) return {};
    const int64_t count = std::min(rows, all_rows - row);
    if (found->second < 0 || count * row_bytes > file.file_bytes() - found->second)
      return {Code::damaged, "a chunk lies beyond the end of the file"};
    // Consecutive chunks, as penstock writes them, form one block.
    if (!blocks.empty()) {
      StoredBlock& last = blocks.back();
      Box box = last.where.box();
      if (last.base + box.count[0] * row_bytes == found->second) {
        box.count[0] += count;
        last.where = Selection::of_box(definition.shape, box);
        continue;
      }
    }
    Box box{Dims::filled(definition.shape.rank(), 0), definition.shape};
    box.start[0] = row;
    box.count[0] = count;
    blocks.push_back({0, found->second, swapped, Selection::of_box(definition.shape, box)});
  }
  foreign = false;
  return {};
}

}  // namespace

Status find_blocks(hid_t dataset, const Dataset& definition, const StoredBytes& file, bool swapped,
                   std::vector<StoredBlock>& blocks, bool& foreign) {
  // Only contiguous storage in this file has an address. So its creation properties need not be copied, which costs as
  // much as all other reading of the dataset.
  const haddr_t address = H5Dget_offset(dataset);
  foreign = address == HADDR_UNDEF;
  if (!foreign) return add_contiguous(address, definition, file.file_bytes(), swapped, blocks);
  const Properties creation(H5Dget_create_plist(dataset));
  if (!creation.ok()) return library_error(Code::damaged, "reading how it is stored");
  if (H5Pget_layout(creation) != H5D_CHUNKED) return {};  // compact, virtual, in other files or never written
  return find_chunked(dataset, creation, definition, file, swapped, blocks, foreign);
}

}  // namespace penstock::hdf5
