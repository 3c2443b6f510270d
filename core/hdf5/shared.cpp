// Shared: identifiers kept for later objects, up to a number that bounds their memory.
#include "core/hdf5/shared.hpp"

#include <algorithm>

#include "core/hdf5/definitions.hpp"
#include "core/hdf5/types.hpp"

namespace penstock::hdf5 {
namespace {

constexpr size_t max_kept = 256;

Result<hid_t> creation_for(std::string_view name, hid_t list_class, Properties& utf8) {
  if (is_ascii(name)) return hid_t{H5P_DEFAULT};
  if (!utf8.ok()) {
    utf8 = Properties(H5Pcreate(list_class));
    if (!utf8.ok() || H5Pset_char_encoding(utf8, H5T_CSET_UTF8) < 0)
      return library_error(Code::internal, "setting up a name");
  }
  return hid_t{utf8};
}

}  // namespace

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

Result<hid_t> Shared::type(const ElementType& type, bool utf8) {
  const std::tuple key(type.kind, type.text_bytes, utf8);
  if (const auto found = types_.find(key); found != types_.end()) return hid_t{found->second};
  if (types_.size() == max_kept) types_.clear();
  PENSTOCK_ASSIGN(Type made, library_type(type, utf8));
  return hid_t{types_.emplace(key, std::move(made)).first->second};
}

Result<hid_t> Shared::space(const Dims& shape) {
  std::vector<int64_t> key(shape.begin(), shape.end());
  if (const auto found = spaces_.find(key); found != spaces_.end()) return hid_t{found->second};
  if (spaces_.size() == max_kept) spaces_.clear();
  Space made = dataset_space(shape, false);
  if (!made.ok()) return library_error(Code::internal, "making a dataspace");
  return hid_t{spaces_.emplace(std::move(key), std::move(made)).first->second};
}

Result<hid_t> Shared::link_creation(std::string_view name) { return creation_for(name, H5P_LINK_CREATE, utf8_link_); }

Result<hid_t> Shared::attribute_creation(std::string_view name) {
  return creation_for(name, H5P_ATTRIBUTE_CREATE, utf8_attribute_);
}

}  // namespace penstock::hdf5
