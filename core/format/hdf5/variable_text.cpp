// Variable text: the library reads where the strings lie, a limited number at a time, and we read them.
#include "core/format/hdf5/variable_text.hpp"

#include <algorithm>
#include <filesystem>
#include <vector>

#include <penstock/dims.hpp>

#include "core/format/hdf5/read.hpp"
#include "core/format/hdf5/scales.hpp"
#include "core/hdf5/definitions.hpp"
#include "core/hdf5/object_header.hpp"

namespace penstock::hdf5 {
namespace {

constexpr hsize_t at_once = 1 << 16;

// Memory that the library allocated for COUNT strings.
class Strings {
 public:
  Strings(hid_t type, hid_t space, size_t count) : type_(type), space_(space), list_(count, nullptr) {}
  ~Strings() {
#if H5_VERSION_GE(1, 12, 0)
    H5Treclaim(type_, space_, H5P_DEFAULT, list_.data());
#else
    H5Dvlen_reclaim(type_, space_, H5P_DEFAULT, list_.data());
#endif
  }
  Strings(const Strings&) = delete;
  Strings& operator=(const Strings&) = delete;
  std::vector<char*>& list() { return list_; }

 private:
  hid_t type_, space_;
  std::vector<char*> list_;
};

template <typename Take>
Status each_by_library(hid_t dataset, hid_t packed, hid_t space, hsize_t count, Take take) {
  const Type stored(H5Dget_type(dataset)), memory(H5Tcopy(H5T_C_S1));
  if (!stored.ok() || !memory.ok() || H5Tset_size(memory, H5T_VARIABLE) < 0 ||
      H5Tset_cset(memory, H5Tget_cset(stored)) < 0)
    return library_error(Code::internal, "making a text type");
  Strings strings(memory, packed, static_cast<size_t>(count));
  if (H5Dread(dataset, memory, packed, space, H5P_DEFAULT, strings.list().data()) < 0)
    return library_error(Code::damaged, "reading its strings");
  for (const char* text : strings.list()) PENSTOCK_TRY(take(text == nullptr ? std::string_view() : text));
  return {};
}

// Calls TAKE with the strings selected in SPACE.
template <typename Take>
Status each_string(hid_t dataset, GlobalHeap* heap, hid_t space, hsize_t count, Take take) {
  const Space packed(H5Screate_simple(1, &count, nullptr));
  if (!packed.ok()) return library_error(Code::internal, "making a shape");
  if (heap == nullptr) return each_by_library(dataset, packed, space, count, take);
  const auto read = [&](hid_t type, void* out) { return H5Dread(dataset, type, packed, space, H5P_DEFAULT, out); };
  PENSTOCK_ASSIGN(const auto elements, heap->elements(static_cast<size_t>(count), read));
  for (const HeapElement& element : elements) {
    PENSTOCK_ASSIGN(const std::string_view text, heap->text(element));
    PENSTOCK_TRY(take(text));
  }
  return {};
}

Status check_strings(const std::string& path, const std::string& name) {
  PENSTOCK_ASSIGN(const File file, open_file(path));
  PENSTOCK_ASSIGN(const StoredBytes bytes, StoredBytes::of(file));
  GlobalHeap heap(bytes);
  H5L_info_t link;
  if (H5Lexists(file, name.c_str(), H5P_DEFAULT) <= 0) return {};  // the library reads fill values
  if (H5Lget_info(file, name.c_str(), &link, H5P_DEFAULT) < 0) return library_error(Code::damaged, "finding it");
  const ObjectHeader header = read_header(bytes, address_of(link));
  if (link.type != H5L_TYPE_HARD || !header.mappings.empty())
    return {Code::unsupported, "it is a link, or itself a virtual dataset"};
  PENSTOCK_TRY(check_fills(header, heap));
  const DatasetHandle dataset(H5Dopen2(file, name.c_str(), H5P_DEFAULT));
  const Type type(dataset.ok() ? H5Dget_type(dataset) : -1);
  if (!type.ok() || H5Tis_variable_str(type) <= 0) return {Code::damaged, "it is not a dataset of strings"};
  return longest_string(dataset, &heap, INT64_MAX).status();
}

}  // namespace

Status check_string_sources(hid_t creation, const std::string& path) {
  namespace fs = std::filesystem;
  PENSTOCK_ASSIGN(const auto sources, virtual_sources(creation));
  for (const auto& [file, dataset] : sources) {
    if ((file + dataset).find('%') != std::string::npos)
      return {Code::unsupported, "its strings are in numbered files, which penstock does not search"};
    // The library looks beside the file and in the working directory.
    for (const fs::path& source :
         {file == "." ? fs::path(path) : fs::path(path).parent_path() / file, fs::path(file)}) {
      std::error_code error;
      if (fs::is_regular_file(source, error))
        PENSTOCK_TRY(check_strings(source.string(), dataset).in("its source '" + dataset + "' in '" + file + "'"));
    }
  }
  return {};
}

Result<int64_t> longest_string(hid_t dataset, GlobalHeap* heap, int64_t most) {
  const Space space(H5Dget_space(dataset));
  if (!space.ok()) return library_error(Code::damaged, "reading its shape");
  const hssize_t all = H5Sget_simple_extent_npoints(space);
  int64_t longest = 1;
  if (all <= 0) return longest;
  const auto look = [&](std::string_view text) -> Status {
    longest = std::max<int64_t>(longest, std::ssize(text));
    return {};
  };
  const int rank = H5Sget_simple_extent_ndims(space);
  if (rank == 0) {
    PENSTOCK_TRY(each_string(dataset, heap, space, 1, look));
    return longest;
  }
  hsize_t extents[max_rank];
  if (rank > max_rank || H5Sget_simple_extent_dims(space, extents, nullptr) < 0)
    return library_error(Code::damaged, "reading its shape");
  const hsize_t row = static_cast<hsize_t>(all) / extents[0];
  const hsize_t rows = std::clamp<hsize_t>(at_once / row, 1, extents[0]);
  for (hsize_t at = 0; at < extents[0] && longest <= most; at += rows) {
    hsize_t start[max_rank] = {at}, count[max_rank];
    std::copy_n(extents, rank, count);
    count[0] = std::min(rows, extents[0] - at);
    if (H5Sselect_hyperslab(space, H5S_SELECT_SET, start, nullptr, count, nullptr) < 0)
      return library_error(Code::internal, "selecting rows");
    PENSTOCK_TRY(each_string(dataset, heap, space, count[0] * row, look));
  }
  return longest;
}

Status read_strings(hid_t dataset, GlobalHeap* heap, hid_t space, int64_t count, int64_t bytes,
                    std::span<std::byte> out) {
  std::ranges::fill(out, std::byte{0});
  std::byte* to = out.data();
  return each_string(dataset, heap, space, static_cast<hsize_t>(count), [&](std::string_view text) -> Status {
    if (std::ssize(text) > bytes) return {Code::mismatch, "a string has become longer since the file was opened"};
    std::ranges::copy(std::as_bytes(std::span(text)), to);
    to += bytes;
    return {};
  });
}

}  // namespace penstock::hdf5
