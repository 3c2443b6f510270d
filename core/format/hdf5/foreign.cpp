// Foreign: the library reads and converts data that is not stored as plain bytes.
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <vector>

#include "core/format/hdf5/netcdf4.hpp"
#include "core/format/hdf5/read.hpp"
#include "core/format/hdf5/variable_text.hpp"
#include "core/hdf5/decoding.hpp"
#include "core/hdf5/definitions.hpp"
#include "core/hdf5/types.hpp"

namespace penstock::hdf5 {
namespace {

// Selects BOX of DATASET as a hyperslab of the file's extents. FOLDED: the file joins the first two dimensions.
Status select(hid_t space, const Dataset& dataset, const Box& box, bool folded) {
  const int rank = H5Sget_simple_extent_ndims(space);
  for (int i = 0; i < dataset.shape.rank(); ++i)
    if (box.start[i] < 0 || box.count[i] < 0 || box.start[i] > dataset.shape[i] ||
        box.count[i] > dataset.shape[i] - box.start[i])
      return {Code::mismatch, "the box reaches beyond the dataset"};
  if (rank == 0) return {};
  hsize_t extents[max_rank], start[max_rank], stride[max_rank], count[max_rank], block[max_rank];
  if (H5Sget_simple_extent_dims(space, extents, nullptr) < 0) return library_error(Code::damaged, "reading its shape");
  const int shift = folded ? 1 : 0;
  for (int i = 0; i < rank; ++i) {
    const auto first = static_cast<hsize_t>(box.start[i + shift]), size = static_cast<hsize_t>(box.count[i + shift]);
    const auto shown = static_cast<hsize_t>(dataset.shape[i + shift]);
    const bool joined = folded && i == 0;
    if (extents[i] < (joined ? static_cast<hsize_t>(dataset.shape[0]) * shown : shown))
      return {Code::mismatch, "it has become smaller"};
    start[i] = (joined ? static_cast<hsize_t>(box.start[0]) * shown : 0) + first;
    stride[i] = joined ? shown : 1;
    count[i] = joined ? static_cast<hsize_t>(box.count[0]) : size;
    block[i] = joined ? size : 1;
  }
  if (H5Sselect_hyperslab(space, H5S_SELECT_SET, start, stride, count, block) < 0)
    return library_error(Code::internal, "selecting a box");
  return {};
}

// An array type with extents INNER, the last extents of DATASET.
Result<Type> array_of(const Type& element, const Dims& inner) {
  hsize_t extents[max_rank];
  for (int i = 0; i < inner.rank(); ++i) extents[i] = static_cast<hsize_t>(inner[i]);
  Type type(H5Tarray_create2(element, static_cast<unsigned>(inner.rank()), extents));
  if (!type.ok()) return library_error(Code::internal, "making an array type");
  return type;
}

// Copies BOX from WHOLE, which has all INNER extents of each array.
void cut_arrays(std::span<const std::byte> whole, const Dataset& dataset, const Box& box, const Dims& inner,
                std::span<std::byte> out) {
  Box all = box;
  const int outer = box.start.rank() - inner.rank();
  for (int i = 0; i < inner.rank(); ++i) {
    all.start[outer + i] = 0;
    all.count[outer + i] = inner[i];
  }
  const int64_t size = bytes(dataset.type);
  Dims at = Dims::filled(box.count.rank(), 0);
  for (int64_t to = 0; to < elements(box.count); ++to) {
    int64_t from = 0;
    for (int i = 0; i < at.rank(); ++i) from = from * all.count[i] + at[i] + box.start[i] - all.start[i];
    std::memcpy(out.data() + to * size, whole.data() + from * size, static_cast<size_t>(size));
    for (int i = at.rank() - 1; i >= 0 && ++at[i] == box.count[i]; --i) at[i] = 0;
  }
}

// Reads what is selected in SPACE: a box of extents COUNT. With one extent for all elements, HDF5 would look at each
// element by itself to find its chunk, which takes longer than decoding it.
Status read_packed(hid_t handle, hid_t space, const Type& memory, const Dims& count, std::byte* out) {
  const std::vector<hsize_t> extents(count.begin(), count.end());
  const Space packed(extents.empty() ? H5Screate(H5S_SCALAR) : H5Screate_simple(count.rank(), extents.data(), nullptr));
  if (!packed.ok() || H5Dread(handle, memory, packed, space, H5P_DEFAULT, out) < 0)
    return library_error(Code::damaged, "reading it through HDF5");
  return {};
}

Status read_arrays(hid_t handle, hid_t space, const Type& memory, const Dataset& dataset, const Box& box,
                   const Dims& inner, std::span<std::byte> out) {
  const int outer = box.start.rank() - inner.rank();
  const Dims count(std::span(box.count.begin(), static_cast<size_t>(outer)));
  PENSTOCK_ASSIGN(const Type array, array_of(memory, inner));
  const auto whole_bytes = elements(count) * elements(inner) * bytes(dataset.type);
  const bool whole = whole_bytes == std::ssize(out);
  std::vector<std::byte> buffer(static_cast<size_t>(whole ? 0 : whole_bytes));
  PENSTOCK_TRY(read_packed(handle, space, array, count, whole ? out.data() : buffer.data()));
  if (!whole) cut_arrays(buffer, dataset, box, inner, out);
  return {};
}

Status read_open(hid_t handle, const std::string& path, const Dataset& dataset, const Box& box,
                 std::span<std::byte> out) {
  const Type stored(H5Dget_type(handle));
  const Space space(H5Dget_space(handle));
  const Properties creation(H5Dget_create_plist(handle));
  Dims inner;
  const Type type = stored.ok() ? innermost_type(stored, inner) : Type();
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
  const bool strings = match && match->variable_text && dataset.type.kind == Kind::text && inner.empty();
  if (!match || (match->variable_text ? !strings : match->type != dataset.type))
    return {Code::mismatch, "it is not of type " + name(dataset.type)};
  PENSTOCK_TRY(check_inside(creation, path));
  if (H5Pget_layout(creation) == H5D_VIRTUAL) PENSTOCK_TRY(check_sources(creation, path));  // else it has fill values
  const int outer = dataset.shape.rank() - inner.rank(), rank = H5Sget_simple_extent_ndims(space);
  const bool folded = outer == 3 && rank == 2;  // ESIO's layout 2
  const Dims last = outer < 0 ? Dims{} : Dims(std::span(dataset.shape.begin() + outer, dataset.shape.end()));
  if (box.start.rank() != dataset.shape.rank() || box.count.rank() != dataset.shape.rank() || !(last == inner) ||
      (rank != outer && !folded))
    return {Code::mismatch, "the box does not have the dataset's number of dimensions"};
  PENSTOCK_TRY(select(space, dataset, box, folded));
  const Decoding decoding(creation, H5Tget_size(stored));
  if (strings) {
    const File file(H5Iget_file_id(handle));
    PENSTOCK_ASSIGN(const StoredBytes in_file, StoredBytes::of(file));
    GlobalHeap heap(in_file);
    GlobalHeap* own = H5Pget_layout(creation) == H5D_VIRTUAL ? nullptr : &heap;
    return read_strings(handle, own, space, elements(box.count), dataset.type.text_bytes, out);
  }
  PENSTOCK_ASSIGN(const Type memory, memory_type(dataset.type, type));
  const Status read = inner.empty() ? read_packed(handle, space, memory, box.count, out.data())
                                    : read_arrays(handle, space, memory, dataset, box, inner, out);
  return read.ok() ? read : explain_failure(creation, path, read);
}

// Whether the library finds all external files of a dataset in the working directory.
bool externals_are_here(hid_t dataset) {
  if (H5Dget_offset(dataset) != HADDR_UNDEF) return true;  // its values are in the file itself
  const auto files = external_files(Properties(H5Dget_create_plist(dataset)));
  std::error_code error;
  return files.ok() &&
         std::ranges::all_of(*files, [&](const auto& name) { return std::filesystem::exists(name, error); });
}

// BESIDE: its external files lie beside the file.
DatasetHandle open_dataset(hid_t file, const std::string& name, int64_t cache_bytes, bool beside) {
  constexpr size_t slots = 12421;  // a prime, far above the number of chunks
  constexpr int64_t min_cache = 1 << 20;
  constexpr double drop_what_was_read = 1;
  const Properties access(H5Pcreate(H5P_DATASET_ACCESS));
  if (!access.ok() || (beside && H5Pset_efile_prefix(access, "${ORIGIN}") < 0) ||
      H5Pset_chunk_cache(access, slots, static_cast<size_t>(std::max(cache_bytes, min_cache)), drop_what_was_read) < 0)
    return {};
  return DatasetHandle(H5Dopen2(file, ("/" + name).c_str(), access));
}

class OpenDataset final : public ForeignDataset {
 public:
  OpenDataset(std::string path, Dataset dataset, File file, DatasetHandle handle)
      : path_(std::move(path)), dataset_(std::move(dataset)), file_(std::move(file)), handle_(std::move(handle)) {}
  ~OpenDataset() override {
    const QuietErrors quiet;
    (void)handle_.close();
    (void)file_.close();
  }
  OpenDataset(const OpenDataset&) = delete;
  OpenDataset& operator=(const OpenDataset&) = delete;

  Stored stored() const override {
    const QuietErrors quiet;
    const Properties creation(H5Dget_create_plist(handle_));
    if (!creation.ok()) return {};
    return {filter_names(creation), static_cast<int64_t>(H5Dget_storage_size(handle_))};
  }

  Status read(const Box& box, std::span<std::byte> out) override {
    const int64_t count = elements(box.count);
    if (count < 0 || std::ssize(out) != count * bytes(dataset_.type))
      return {Code::internal, "a buffer does not have the size of its box"};
    if (count == 0) return {};
    const QuietErrors quiet;
    return read_open(handle_, path_, dataset_, box, out).in("'" + path_ + "', dataset '" + dataset_.name + "'");
  }

  Result<bool> read_chunk(const Dims& start, int64_t most, StoredChunk& chunk) override {
    const QuietErrors quiet;
    hsize_t at[max_rank], size = 0;
    std::copy(start.begin(), start.end(), at);
    if (H5Dget_chunk_storage_size(handle_, at, &size) < 0 || size == 0 || size > static_cast<hsize_t>(most))
      return false;
    chunk.bytes.resize(size);
    if (H5Dread_chunk(handle_, H5P_DEFAULT, at, &chunk.skipped, chunk.bytes.data()) < 0)
      return library_error(Code::damaged, "reading a chunk").in("'" + path_ + "', dataset '" + dataset_.name + "'");
    return true;
  }

 private:
  const std::string path_;
  const Dataset dataset_;
  File file_;
  DatasetHandle handle_;
};

}  // namespace

Result<std::unique_ptr<ForeignDataset>> open_foreign(const std::string& path, const Dataset& dataset,
                                                     int64_t cache_bytes) {
  PENSTOCK_ASSIGN(File file, open_file(path));
  DatasetHandle handle = open_dataset(file, dataset.name, cache_bytes, false);
  if (handle.ok() && !externals_are_here(handle)) {
    (void)handle.close();  // the library opens a dataset only once
    handle = open_dataset(file, dataset.name, cache_bytes, true);
  }
  if (!handle.ok()) return library_error(Code::damaged, "opening '" + path + "', dataset '" + dataset.name + "'");
  return std::unique_ptr<ForeignDataset>(
      std::make_unique<OpenDataset>(path, dataset, std::move(file), std::move(handle)));
}

}  // namespace penstock::hdf5
