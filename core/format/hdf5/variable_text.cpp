// Variable text: strings in the library's memory, a limited number at a time.
#include "core/format/hdf5/variable_text.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include <penstock/dims.hpp>

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

// Calls TAKE with the strings selected in SPACE.
template <typename Take>
Status each_string(hid_t dataset, hid_t stored, hid_t space, hsize_t count, Take take) {
  const Type memory(H5Tcopy(H5T_C_S1));
  const Space packed(H5Screate_simple(1, &count, nullptr));
  if (!memory.ok() || !packed.ok() || H5Tset_size(memory, H5T_VARIABLE) < 0 ||
      H5Tset_cset(memory, H5Tget_cset(stored)) < 0)
    return library_error(Code::internal, "making a text type");
  Strings strings(memory, packed, static_cast<size_t>(count));
  if (H5Dread(dataset, memory, packed, space, H5P_DEFAULT, strings.list().data()) < 0)
    return library_error(Code::damaged, "reading its strings");
  for (const char* text : strings.list()) PENSTOCK_TRY(take(text == nullptr ? std::string_view() : text));
  return {};
}

}  // namespace

Result<int64_t> longest_string(hid_t dataset, hid_t stored) {
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
    PENSTOCK_TRY(each_string(dataset, stored, space, 1, look));
    return longest;
  }
  hsize_t extents[max_rank];
  if (rank > max_rank || H5Sget_simple_extent_dims(space, extents, nullptr) < 0)
    return library_error(Code::damaged, "reading its shape");
  const hsize_t row = static_cast<hsize_t>(all) / extents[0];
  const hsize_t rows = std::clamp<hsize_t>(at_once / row, 1, extents[0]);
  for (hsize_t at = 0; at < extents[0]; at += rows) {
    hsize_t start[max_rank] = {at}, count[max_rank];
    std::copy_n(extents, rank, count);
    count[0] = std::min(rows, extents[0] - at);
    if (H5Sselect_hyperslab(space, H5S_SELECT_SET, start, nullptr, count, nullptr) < 0)
      return library_error(Code::internal, "selecting rows");
    PENSTOCK_TRY(each_string(dataset, stored, space, count[0] * row, look));
  }
  return longest;
}

Status read_strings(hid_t dataset, hid_t stored, hid_t space, int64_t count, int64_t bytes, std::span<std::byte> out) {
  std::ranges::fill(out, std::byte{0});
  std::byte* to = out.data();
  return each_string(dataset, stored, space, static_cast<hsize_t>(count), [&](std::string_view text) -> Status {
    if (std::ssize(text) > bytes) return {Code::mismatch, "a string has become longer since the file was opened"};
    std::ranges::copy(std::as_bytes(std::span(text)), to);
    to += bytes;
    return {};
  });
}

}  // namespace penstock::hdf5
