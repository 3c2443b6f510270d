// Attributes: written with fixed-length types, read from files of h5py, netCDF-4 and others.
#include "core/hdf5/attributes.hpp"

#include <algorithm>

#include "core/hdf5/definitions.hpp"
#include "core/hdf5/meaning.hpp"
#include "core/hdf5/types.hpp"

namespace penstock::hdf5 {
namespace {

constexpr int64_t max_attribute_bytes = int64_t{256} << 20;

Status write_attribute(hid_t object, const Attribute& attribute, Shared& shared) {
  const auto failed = [&] { return library_error(Code::internal, "writing attribute '" + attribute.name + "'"); };
  const bool utf8 = attribute.type.kind == Kind::text &&
                    !is_ascii({reinterpret_cast<const char*>(attribute.value.data()), attribute.value.size()});
  PENSTOCK_ASSIGN(const hid_t type, shared.type(attribute.type, utf8));
  PENSTOCK_ASSIGN(const hid_t space, shared.space(attribute.shape));
  PENSTOCK_ASSIGN(const hid_t creation, shared.attribute_creation(attribute.name));
  AttributeHandle handle(H5Acreate2(object, attribute.name.c_str(), type, space, creation, H5P_DEFAULT));
  if (!handle.ok()) return failed();
  if (!attribute.value.empty() && H5Awrite(handle, type, attribute.value.data()) < 0) return failed();
  return handle.close() ? Status() : failed();
}

// That the texts of a dataset are UTF-8.
bool is_said_by_type(hid_t object, const Attribute& attribute) {
  if (!is_utf8_mark(attribute) || H5Iget_type(object) != H5I_DATASET) return false;
  const Type type(H5Dget_type(object));
  return type.ok() && H5Tget_class(type) == H5T_STRING && H5Tget_cset(type) == H5T_CSET_UTF8;
}

struct OpenAttribute {
  AttributeHandle handle;
  Type type;
  TypeMatch match;
  int64_t count = 1;  // of elements
};

// Multiplies COUNT by the extents of SHAPE; false if that is too much.
bool count_elements(const Dims& shape, int64_t& count) {
  for (const int64_t extent : shape) {
    if (extent > max_attribute_bytes) return false;
    count *= extent;
    if (count > max_attribute_bytes) return false;
  }
  return true;
}

Status read_fixed(const OpenAttribute& opened, const StoredBytes& file, Attribute& attribute) {
  const int64_t stored = opened.count * static_cast<int64_t>(H5Tget_size(opened.type));
  if (stored > file.file_bytes()) return {Code::damaged, "it claims more bytes than the file has"};
  attribute.value.resize(static_cast<size_t>(opened.count * bytes(attribute.type)));
  if (attribute.value.empty()) return {};
  Type converted;
  if (!opened.match.direct || opened.match.swapped) {
    PENSTOCK_ASSIGN(converted, memory_type(attribute.type, opened.type));
  }
  const hid_t memory = converted.ok() ? hid_t{converted} : hid_t{opened.type};
  if (H5Aread(opened.handle, memory, attribute.value.data()) < 0) return library_error(Code::damaged, "reading it");
  return {};
}

Status read_variable_text(const OpenAttribute& opened, GlobalHeap& heap, Attribute& attribute, bool& too_large) {
  if (opened.count * 16 > heap.file().file_bytes())
    return {Code::damaged, "it claims more texts than the file has room for"};
  if (opened.count == 0) {
    attribute.type.text_bytes = 1;
    return {};
  }
  const auto read = [&](hid_t type, void* out) { return H5Aread(opened.handle, type, out); };
  PENSTOCK_ASSIGN(const auto elements, heap.elements(static_cast<size_t>(opened.count), read));
  size_t longest = 1;
  for (const HeapElement& element : elements) {
    PENSTOCK_ASSIGN(const std::string_view text, heap.text(element));
    longest = std::max(longest, text.size());
  }
  attribute.type.text_bytes = static_cast<int64_t>(longest);
  too_large = static_cast<int64_t>(longest) > max_attribute_bytes / opened.count;
  if (too_large) return {};
  attribute.value.assign(longest * elements.size(), std::byte{0});
  for (size_t i = 0; i < elements.size(); ++i) {
    PENSTOCK_ASSIGN(const std::string_view text, heap.text(elements[i]));
    std::ranges::copy(std::as_bytes(std::span(text)), attribute.value.data() + i * longest);
  }
  return {};
}

// Skips an unsupported attribute, or one with a damaged heap, and names it in UNHELD.
Status read_attribute(hid_t object, const std::string& name, GlobalHeap& heap, AttributeMap& out, Unheld& unheld) {
  OpenAttribute opened;
  opened.handle = AttributeHandle(H5Aopen(object, name.c_str(), H5P_DEFAULT));
  if (!opened.handle.ok()) return library_error(Code::damaged, "opening it");
  opened.type = Type(H5Aget_type(opened.handle));
  const Space space(H5Aget_space(opened.handle));
  if (!opened.type.ok() || !space.ok()) return library_error(Code::damaged, "reading its definition");
  const auto match = match_type(opened.type);
  const auto skip = [&] {
    unheld.skipped.push_back(name);
    return Status();
  };
  bool unlimited = false;
  const auto shape = shape_of(space, unlimited);
  if (!match || !shape || !count_elements(*shape, opened.count)) return skip();
  opened.match = *match;
  Attribute attribute{name, match->type, *shape, {}};
  if (H5Sget_simple_extent_type(space) == H5S_NULL) {
    // netCDF-4 and h5py write an empty text like this; an empty number must be an empty list.
    if (attribute.type.kind == Kind::text) attribute = text_attribute(name, std::string_view());
  } else if (match->variable_text) {
    bool too_large = false;
    const Status read = read_variable_text(opened, heap, attribute, too_large);
    if (read.code() == Code::damaged) {
      unheld.damaged.emplace(name, read.message());
      return {};
    }
    PENSTOCK_TRY(read);
    if (too_large) return skip();
  } else {
    if (opened.count > max_attribute_bytes / std::max<int64_t>(bytes(attribute.type), 1)) return skip();
    PENSTOCK_TRY(read_fixed(opened, heap.file(), attribute));
    if (match->rounded) unheld.rounded.push_back(name);
  }
  out.insert_or_assign(name, std::move(attribute));
  return {};
}

}  // namespace

Status write_attributes(hid_t object, const Catalogue& catalogue, const std::string& name, Shared& shared) {
  if (const auto* attributes = catalogue.attributes_of(name))
    for (const auto& [key, attribute] : *attributes)
      if (!is_said_by_type(object, attribute)) PENSTOCK_TRY(write_attribute(object, attribute, shared));
  return {};
}

Status read_attributes(hid_t object, GlobalHeap& heap, AttributeMap& out, Unheld& unheld) {
  // Names first: an exception must not leave the iteration through a C frame.
  std::vector<std::string> names;
  const auto collect = [](hid_t, const char* name, const H5A_info_t*, void* list) -> herr_t {
    try {
      static_cast<std::vector<std::string>*>(list)->emplace_back(name);
    } catch (...) {
      return -1;
    }
    return 0;
  };
  hsize_t index = 0;
  if (H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_NATIVE, &index, collect, &names) < 0) {
    if (!met_unknown_version()) return library_error(Code::damaged, "listing attributes");
    unheld.unlisted = true;
    return {};
  }
  for (const std::string& name : names)
    PENSTOCK_TRY(read_attribute(object, name, heap, out, unheld).in("attribute '" + name.substr(0, 200) + "'"));
  return {};
}

void add_comment(hid_t object, AttributeMap& out) {
  constexpr ssize_t most = 64 << 10;  // the maximum of an object's header
  const ssize_t length = H5Oget_comment(object, nullptr, 0);
  if (length <= 0 || length > most || out.contains("comment")) return;
  std::string text(static_cast<size_t>(length) + 1, '\0');
  if (H5Oget_comment(object, text.data(), text.size()) != length) return;
  text.resize(static_cast<size_t>(length));
  out.emplace("comment", text_attribute("comment", std::string_view(text)));
}

}  // namespace penstock::hdf5
