// Builder: creates groups, datasets and attributes in the order that keeps metadata together.
#include "core/format/hdf5/builder.hpp"

#include <algorithm>
#include <numeric>

#include "core/format/hdf5/image.hpp"
#include "core/format/hdf5/metadata_size.hpp"
#include "core/format/hdf5/scales.hpp"
#include "core/hdf5/attributes.hpp"
#include "core/hdf5/definitions.hpp"
#include "core/hdf5/meaning.hpp"

namespace penstock::hdf5 {
namespace {

int64_t row_bytes(const Dataset& dataset) {
  int64_t size = bytes(dataset.type);
  for (int i = 1; i < dataset.shape.rank(); ++i) size *= std::max<int64_t>(dataset.shape[i], 1);
  return size;
}

// Creation properties of datasets with LATE or early allocation.
Result<Properties> dataset_creation(bool late) {
  Properties creation(H5Pcreate(H5P_DATASET_CREATE));
  const bool ok = creation.ok() && set_object(creation) && H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER) >= 0 &&
                  H5Pset_layout(creation, H5D_CONTIGUOUS) >= 0 &&
                  H5Pset_alloc_time(creation, late ? H5D_ALLOC_TIME_LATE : H5D_ALLOC_TIME_EARLY) >= 0;
  if (!ok) return library_error(Code::internal, "setting up storage");
  return creation;
}

Result<Properties> growing_creation(const Dataset& dataset, int64_t block) {
  PENSTOCK_ASSIGN(Properties creation, dataset_creation(false));
  hsize_t chunk[max_rank];
  for (int i = 0; i < dataset.shape.rank(); ++i)
    chunk[i] = static_cast<hsize_t>(std::max<int64_t>(dataset.shape[i], 1));
  chunk[0] = static_cast<hsize_t>(rows_per_chunk(dataset, block));
  if (H5Pset_chunk(creation, dataset.shape.rank(), chunk) < 0)
    return library_error(Code::internal, "setting up chunks");
  return creation;
}

// While it lives, the library looks for no plug-in: in all files of a folder, for a filter that none of them has.
class NoPlugins {
 public:
  NoPlugins() : known_(H5PLget_loading_state(&before_) >= 0 && H5PLset_loading_state(0) >= 0) {}
  ~NoPlugins() {
    if (known_) (void)H5PLset_loading_state(before_);
  }
  NoPlugins(const NoPlugins&) = delete;
  NoPlugins& operator=(const NoPlugins&) = delete;

 private:
  unsigned before_ = 0;
  bool known_;
};

// Chunks that we write ourselves: HDF5 allocates none, and finds zeros where there is none.
Result<Properties> encoded_creation(const Encoding& encoding) {
  Properties creation(H5Pcreate(H5P_DATASET_CREATE));
  hsize_t chunk[max_rank];
  std::copy(encoding.chunk.begin(), encoding.chunk.end(), chunk);
  bool ok = creation.ok() && set_object(creation) && H5Pset_chunk(creation, encoding.chunk.rank(), chunk) >= 0;
  const NoPlugins none;
  for (size_t i = 0; i < encoding.filters.size(); ++i) {
    const auto& [id, values] = encoding.filters[i];
    ok = ok && H5Pset_filter(creation, stand_in(id, i), H5Z_FLAG_OPTIONAL, values.size(), values.data()) >= 0;
  }
  if (!ok) return library_error(Code::internal, "setting up encoded chunks");
  return creation;
}

}  // namespace

int stand_in(int filter, size_t position) {
  return filter < H5Z_FILTER_RESERVED ? filter : H5Z_FILTER_MAX - static_cast<int>(position);
}

bool set_object(hid_t creation) {
  constexpr auto most = static_cast<unsigned>(max_in_header);
  return H5Pset_obj_track_times(creation, false) >= 0 && H5Pset_attr_phase_change(creation, most, most) >= 0;
}

int64_t rows_per_chunk(const Dataset& dataset, int64_t block) {
  const int64_t row = row_bytes(dataset);
  if (row == 0 || row > largest_chunk) return 0;
  const int64_t most = largest_chunk / row;
  const int64_t rows = std::max<int64_t>(dataset.shape[0], 1);
  if (rows <= most) return rows;
  // A chunk of at least BLOCK bytes starts on a block: whole blocks per chunk leave no gaps between chunks.
  const int64_t step = block / std::gcd(row, block);
  const int64_t chunks = (rows + most - 1) / most;
  for (int64_t count = chunks; count <= 2 * chunks; ++count) {
    // NOLINTNEXTLINE(clang-analyzer-core.DivideZero): BLOCK is at least 1
    const int64_t even = ((rows + count - 1) / count + step - 1) / step * step;
    if (even <= most) return even;
  }
  return most / step * step;  // NOLINT(clang-analyzer-core.DivideZero)
}

Status Builder::make_group(const std::string& name) {
  PENSTOCK_ASSIGN(const hid_t links, shared_.link_creation(name));
  const Properties creation(H5Pcreate(H5P_GROUP_CREATE));
  if (!creation.ok() || !set_object(creation)) return library_error(Code::internal, "setting up a group");
  const Group group(H5Gcreate2(file_, name.c_str(), links, creation, H5P_DEFAULT));
  if (!group.ok()) return library_error(Code::internal, "making group '" + name + "'");
  return write_attributes(group, catalogue_, name, shared_).in("group '" + name + "'");
}

Status Builder::make_groups() {
  for (const std::string& name : group_names(catalogue_)) PENSTOCK_TRY(make_group(name));
  return write_attributes(file_, catalogue_, "", shared_);
}

Result<Group> Builder::group_of(const std::string& dataset_name) const {
  Group group(H5Gopen2(file_, ("/" + group_name(dataset_name)).c_str(), H5P_DEFAULT));
  if (!group.ok()) return library_error(Code::internal, "opening the group of '" + dataset_name + "'");
  return group;
}

Status Builder::make_dataset(size_t number, bool deferred, DatasetHandle& handle) {
  const Dataset& dataset = catalogue_.datasets[number];
  if (const std::string name = group_name(dataset.name); name != last_name_ || !last_group_.ok()) {
    PENSTOCK_ASSIGN(last_group_, group_of(dataset.name));
    last_name_ = name;
  }
  PENSTOCK_ASSIGN(const hid_t type, shared_.type(dataset.type, is_utf8(catalogue_, dataset.name)));
  PENSTOCK_ASSIGN(const hid_t links, shared_.link_creation(dataset.name));
  if (const bool encoded = options_.encoded(number); dataset.unlimited || encoded) {
    PENSTOCK_ASSIGN(const Properties creation,
                    encoded ? encoded_creation(options_.encodings[number]) : growing_creation(dataset, options_.block));
    Dims shape = dataset.shape;
    if (deferred && !encoded) shape[0] = 0;
    const Space space = dataset_space(shape, dataset.unlimited);
    if (!space.ok()) return library_error(Code::internal, "making a dataspace");
    handle = DatasetHandle(
        H5Dcreate2(last_group_, last_part(dataset.name).c_str(), type, space, links, creation, H5P_DEFAULT));
  } else {
    PENSTOCK_ASSIGN(const hid_t creation, plain_creation(deferred));
    PENSTOCK_ASSIGN(const hid_t space, shared_.space(dataset.shape));
    handle = DatasetHandle(
        H5Dcreate2(last_group_, last_part(dataset.name).c_str(), type, space, links, creation, H5P_DEFAULT));
  }
  if (!handle.ok()) return library_error(Code::internal, "making it");
  return write_attributes(handle, catalogue_, dataset.name, shared_);
}

Result<hid_t> Builder::plain_creation(bool late) {
  Properties& list = plain_[late ? 1 : 0];
  if (!list.ok()) {
    PENSTOCK_ASSIGN(list, dataset_creation(late));
  }
  return hid_t{list};
}

Status Builder::allocate(const Dataset& dataset, DatasetHandle& handle) {
  handle = DatasetHandle(H5Dopen2(file_, dataset.name.c_str(), H5P_DEFAULT));
  if (!handle.ok()) return library_error(Code::internal, "opening it again");
  if (dataset.unlimited) {
    hsize_t extents[max_rank];
    std::copy(dataset.shape.begin(), dataset.shape.end(), extents);
    return H5Dset_extent(handle, extents) < 0 ? library_error(Code::internal, "allocating it") : Status();
  }
  // The first write allocates storage: one zero element, which is never read.
  PENSTOCK_ASSIGN(const hid_t type, shared_.type(dataset.type, is_utf8(catalogue_, dataset.name)));
  const Space memory(H5Screate(H5S_SCALAR)), file(H5Dget_space(handle));
  const std::vector<std::byte> zeros(static_cast<size_t>(bytes(dataset.type)));
  const int rank = dataset.shape.rank();
  const Box first{Dims::filled(rank, 0), Dims::filled(rank, 1)};
  if (!memory.ok() || !file.ok() || !select_box(file, first) ||
      H5Dwrite(handle, type, memory, file, H5P_DEFAULT, zeros.data()) < 0)
    return library_error(Code::internal, "allocating it");
  return {};
}

Status Builder::find_chunks(const Dataset& dataset, hid_t handle, int64_t& base) const {
  const Space space(H5Dget_space(handle));
  hsize_t count = 0;
  if (!space.ok() || H5Dget_num_chunks(handle, space, &count) < 0)
    return library_error(Code::internal, "counting its chunks");
  const int64_t rows = rows_per_chunk(dataset, options_.block);
  if (rows == 0) return {Code::internal, "it has chunks, though its rows are larger than chunks can be"};
  const auto expected = static_cast<hsize_t>((dataset.shape[0] + rows - 1) / rows);
  if (count != expected) return {Code::internal, "HDF5 did not allocate all of its chunks"};
  const auto chunk_bytes = static_cast<hsize_t>(rows * row_bytes(dataset));
  haddr_t first = 0;
  for (hsize_t i = 0; i < count; ++i) {
    hsize_t offset[max_rank] = {}, size = 0;
    unsigned filters = 0;
    haddr_t address = HADDR_UNDEF;
    if (H5Dget_chunk_info(handle, space, i, offset, &filters, &address, &size) < 0)
      return library_error(Code::internal, "finding chunk " + std::to_string(i));
    if (i == 0) first = address;
    if (offset[0] != i * static_cast<hsize_t>(rows) || address != first + i * chunk_bytes || size != chunk_bytes)
      return {Code::unsupported, "its chunks do not lie one behind another, as a dataset that can grow needs them"};
  }
  base = static_cast<int64_t>(first);
  return {};
}

// A first chunk of zeros, which nobody finds again, makes the library allocate the index's root.
Status Builder::make_index(size_t number, hid_t handle) {
  const Encoding& encoding = options_.encodings[number];
  built_.encoded.push_back({number, address_of(handle), {}});
  if (encoding.chunks.empty()) return {};
  const hsize_t start[max_rank] = {};
  const std::byte zeros[8] = {};
  if (H5Dwrite_chunk(handle, H5P_DEFAULT, 0, start, sizeof zeros, zeros) < 0)
    return library_error(Code::internal, "making its index");
  const Dataset& dataset = catalogue_.datasets[number];
  built_.encoded.back().index.emplace(dataset.shape, bytes(dataset.type), encoding);
  return {};
}

Status Builder::make_storage(size_t number, DatasetHandle& handle) {
  const Dataset& dataset = catalogue_.datasets[number];
  int64_t& base = built_.bases[number];
  if (bytes(dataset) == 0) return {};
  if (options_.encoded(number)) return make_index(number, handle);
  if (dataset.unlimited) return find_chunks(dataset, handle, base);
  const haddr_t address = H5Dget_offset(handle);
  if (address == HADDR_UNDEF) return library_error(Code::internal, "HDF5 did not allocate it");
  base = static_cast<int64_t>(address);
  return {};
}

Result<Built> Builder::make_datasets() {
  const std::vector<Dataset>& datasets = catalogue_.datasets;
  built_.bases.assign(datasets.size(), -1);
  std::vector<bool> deferred(datasets.size(), false);
  for (size_t i = 0; i < datasets.size(); ++i) {
    const std::string& name = datasets[i].name;
    const auto* attributes = catalogue_.attributes_of(name);
    deferred[i] = (attributes != nullptr && largest_outside_header(*attributes) > 0) || scales_.concern(name);
    DatasetHandle handle;
    if (deferred[i]) PENSTOCK_TRY(make_dataset(i, bytes(datasets[i]) > 0, handle).in("dataset '" + name + "'"));
  }
  PENSTOCK_TRY(write_scales(file_, scales_));
  for (size_t i = 0; i < datasets.size(); ++i) {
    const Dataset& dataset = datasets[i];
    DatasetHandle handle;
    if (!deferred[i])
      PENSTOCK_TRY(make_dataset(i, false, handle).in("dataset '" + dataset.name + "'"));
    else if (options_.encoded(i))
      handle = DatasetHandle(H5Dopen2(file_, dataset.name.c_str(), H5P_DEFAULT));
    else if (bytes(dataset) > 0)
      PENSTOCK_TRY(allocate(dataset, handle).in("dataset '" + dataset.name + "'"));
    PENSTOCK_TRY(make_storage(i, handle).in("dataset '" + dataset.name + "'"));
    if (!handle.close()) return library_error(Code::internal, "closing dataset '" + dataset.name + "'");
  }
  return std::move(built_);
}

}  // namespace penstock::hdf5
