// Foreign: what is not stored as plain bytes is read, and converted, by the library.
#include <algorithm>

#include "core/format/hdf5/netcdf4.hpp"
#include "core/format/hdf5/read.hpp"
#include "core/hdf5/definitions.hpp"
#include "core/hdf5/types.hpp"

namespace penstock::hdf5 {
namespace {

Status select(hid_t space, const Dataset& dataset, const Box& box) {
  const int rank = H5Sget_simple_extent_ndims(space);
  if (rank != dataset.shape.rank() || box.start.rank() != rank || box.count.rank() != rank)
    return {Code::mismatch, "the box does not have the dataset's number of dimensions"};
  if (rank == 0) return {};
  hsize_t extents[max_rank], start[max_rank], count[max_rank];
  if (H5Sget_simple_extent_dims(space, extents, nullptr) < 0) return library_error(Code::damaged, "reading its shape");
  for (int i = 0; i < rank; ++i) {
    const auto extent = static_cast<int64_t>(extents[i]);
    if (box.start[i] < 0 || box.count[i] < 0 || box.start[i] > extent || box.count[i] > extent - box.start[i])
      return {Code::mismatch, "the box reaches beyond the dataset"};
    start[i] = static_cast<hsize_t>(box.start[i]);
    count[i] = static_cast<hsize_t>(box.count[i]);
  }
  if (H5Sselect_hyperslab(space, H5S_SELECT_SET, start, nullptr, count, nullptr) < 0)
    return library_error(Code::internal, "selecting a box");
  return {};
}

Status read_open(hid_t handle, const std::string& path, const Dataset& dataset, const Box& box,
                 std::span<std::byte> out) {
  const Type type(H5Dget_type(handle));
  const Space space(H5Dget_space(handle));
  const Properties creation(H5Dget_create_plist(handle));
  if (!type.ok() || !space.ok() || !creation.ok()) return library_error(Code::damaged, "reading its definition");
  const auto match = match_type(type);
  if (match && is_folded(dataset, match->type, H5Sget_simple_extent_ndims(space)) && dataset.shape.rank() < max_rank) {
    const int64_t length = dataset.type.text_bytes;
    Dataset characters{dataset.name, match->type, dataset.shape, dataset.unlimited};
    characters.shape.push_back(length);
    Box all = box;
    all.start.push_back(0);
    all.count.push_back(length);
    return read_open(handle, path, characters, all, out);
  }
  if (!match || match->variable_text || match->type != dataset.type)
    return {Code::mismatch, "it is not of type " + name(dataset.type)};
  PENSTOCK_TRY(check_inside(creation, dataset, path));
  PENSTOCK_TRY(select(space, dataset, box));
  PENSTOCK_ASSIGN(const Type memory, memory_type(dataset.type, type));
  const hsize_t count = static_cast<hsize_t>(elements(box.count));
  const Space packed(H5Screate_simple(1, &count, nullptr));
  if (!packed.ok() || H5Dread(handle, memory, packed, space, H5P_DEFAULT, out.data()) < 0)
    return library_error(Code::damaged, "reading it through HDF5");
  return {};
}

}  // namespace

Status read_box(const std::string& path, const Dataset& dataset, const Box& box, std::span<std::byte> out) {
  const int64_t count = elements(box.count);
  if (count < 0 || static_cast<int64_t>(out.size()) != count * bytes(dataset.type))
    return {Code::internal, "a buffer does not have the size of its box"};
  if (count == 0) return {};
  int64_t file_bytes = 0;
  PENSTOCK_ASSIGN(const File file, open_file(path, file_bytes));
  const std::string where = "'" + path + "', dataset '" + dataset.name + "'";
  const DatasetHandle handle(H5Dopen2(file, ("/" + dataset.name).c_str(), H5P_DEFAULT));
  if (!handle.ok()) return library_error(Code::damaged, "opening " + where);
  return read_open(handle, path, dataset, box, out).in(where);
}

}  // namespace penstock::hdf5
