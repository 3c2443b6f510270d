// Header: a bounds-checked reader, and the grammar on top of it.
#include "core/netcdf/header.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/model/catalogue.hpp"
#include "core/model/kinds.hpp"

namespace penstock::netcdf {
namespace {

// Tags of the grammar.
constexpr uint32_t absent = 0, dimension_tag = 10, variable_tag = 11, attribute_tag = 12;

Status damaged(const std::string& what) { return {Code::damaged, "netCDF header: " + what}; }

void swap_elements(std::byte* p, size_t count, size_t size) {
  if (std::endian::native == std::endian::big) return;
  for (size_t i = 0; i < count; ++i) std::reverse(p + i * size, p + (i + 1) * size);
}

class Reader {
 public:
  Reader(std::span<const std::byte> file, bool& incomplete) : file_(file), incomplete_(incomplete) {}

  Result<Header> read() {
    PENSTOCK_TRY(read_magic());
    PENSTOCK_TRY(read_records());
    PENSTOCK_TRY(read_dimensions());
    PENSTOCK_TRY(read_attributes(header_.attributes));
    PENSTOCK_TRY(read_variables());
    header_.bytes = static_cast<int64_t>(at_);
    return std::move(header_);
  }

 private:
  Result<std::span<const std::byte>> take(uint64_t size, const char* what) {
    if (size > file_.size() - at_) return cut_off(what);
    const auto taken = file_.subspan(at_, static_cast<size_t>(size));
    at_ += static_cast<size_t>(size);
    return taken;
  }

  Status cut_off(const std::string& what) {
    incomplete_ = true;
    return damaged("the bytes end within " + what);
  }

  // A big-endian number of SIZE bytes.
  Result<uint64_t> number(size_t size, const char* what) {
    PENSTOCK_ASSIGN(const auto raw, take(size, what));
    uint64_t value = 0;
    for (const std::byte b : raw) value = value << 8 | std::to_integer<uint64_t>(b);
    return value;
  }

  // "NON_NEG": 4 bytes, 8 in CDF-5.
  Result<int64_t> natural(const char* what) {
    const size_t size = header_.version == 5 ? 8 : 4;
    PENSTOCK_ASSIGN(const uint64_t value, number(size, what));
    if (value > (size == 4 ? uint64_t{INT32_MAX} : uint64_t{INT64_MAX}))
      return damaged(std::string(what) + " is negative");
    return static_cast<int64_t>(value);
  }

  // The number of entries of a list, each of at least LEAST bytes, so that nothing is allocated for a false claim.
  Result<int64_t> list(uint32_t tag, uint64_t least, const char* what) {
    PENSTOCK_ASSIGN(const uint64_t found, number(4, what));
    PENSTOCK_ASSIGN(const int64_t count, natural(what));
    if (found == absent && count == 0) return count;
    if (found != tag)
      return damaged(std::string(what) + " has the tag " + std::to_string(found) + ", not " + std::to_string(tag));
    if (static_cast<uint64_t>(count) > (file_.size() - at_) / least)
      return cut_off(std::string(what) + ", which claims " + std::to_string(count) + " entries");
    return count;
  }

  Status pad(uint64_t size, const char* what) { return take((4 - size % 4) % 4, what).status(); }

  Result<std::string> text(const char* what) {
    PENSTOCK_ASSIGN(const int64_t length, natural(what));
    PENSTOCK_ASSIGN(const auto raw, take(static_cast<uint64_t>(length), what));
    PENSTOCK_TRY(pad(static_cast<uint64_t>(length), what));
    std::string name(reinterpret_cast<const char*>(raw.data()), raw.size());
    name.erase(name.find_last_not_of('\0') + 1);  // some writers pad inside the length
    if (name.empty() || name.find('\0') != std::string::npos)
      return damaged(std::string(what) + " is empty or holds NUL");
    return name;
  }

  // The element type of OWNER by its number; CDF-5 adds those from 7 on.
  Result<ElementType> element_type(const char* what, const std::string& owner) {
    constexpr Kind kinds[] = {Kind::i8, Kind::text, Kind::i16, Kind::i32, Kind::f32, Kind::f64,
                              Kind::u8, Kind::u16,  Kind::u32, Kind::i64, Kind::u64};
    PENSTOCK_ASSIGN(const uint64_t type, number(4, what));
    if (type < 1 || type > (header_.version == 5 ? 11 : 6))
      return damaged(owner + " has the unknown type " + std::to_string(type));
    const Kind kind = kinds[type - 1];
    return ElementType{kind, kind == Kind::text ? 1 : 0};
  }

  Status read_magic() {
    PENSTOCK_ASSIGN(const auto magic, take(4, "the magic number"));
    header_.version = std::to_integer<int>(magic[3]);
    const bool known = header_.version == 1 || header_.version == 2 || header_.version == 5;
    if (std::memcmp(magic.data(), "CDF", 3) != 0 || !known)
      return {Code::damaged, "not a classic netCDF file (CDF-1, CDF-2 or CDF-5)"};
    return {};
  }

  Status read_records() {
    const size_t size = header_.version == 5 ? 8 : 4;
    PENSTOCK_ASSIGN(const uint64_t value, number(size, "the number of records"));
    const uint64_t streaming = size == 4 ? UINT32_MAX : UINT64_MAX;
    if (value != streaming && value > (size == 4 ? uint64_t{INT32_MAX} : uint64_t{INT64_MAX}))
      return damaged("a negative number of records");
    header_.records = value == streaming ? -1 : static_cast<int64_t>(value);
    return {};
  }

  Status read_dimensions() {
    const uint64_t least = header_.version == 5 ? 16 : 8;
    PENSTOCK_ASSIGN(const int64_t count, list(dimension_tag, least, "the list of dimensions"));
    bool has_record = false;
    for (int64_t i = 0; i < count; ++i) {
      Dimension dimension;
      PENSTOCK_ASSIGN(dimension.name, text("a dimension's name"));
      PENSTOCK_ASSIGN(dimension.length, natural("a dimension's length"));
      if (dimension.length == 0 && has_record) return damaged("two record dimensions");
      has_record = has_record || dimension.length == 0;
      header_.dimensions.push_back(std::move(dimension));
    }
    return {};
  }

  Status read_attributes(std::vector<Attribute>& attributes) {
    const uint64_t least = header_.version == 5 ? 20 : 12;
    PENSTOCK_ASSIGN(const int64_t count, list(attribute_tag, least, "a list of attributes"));
    for (int64_t i = 0; i < count; ++i) {
      PENSTOCK_ASSIGN(std::string name, text("an attribute's name"));
      PENSTOCK_TRY(read_attribute(std::move(name), attributes));
    }
    return {};
  }

  Status read_attribute(std::string name, std::vector<Attribute>& attributes) {
    PENSTOCK_ASSIGN(const ElementType type, element_type("an attribute's type", "attribute '" + name + "'"));
    PENSTOCK_ASSIGN(const int64_t length, natural("an attribute's length"));
    const auto size = static_cast<uint64_t>(bytes(type));
    if (static_cast<uint64_t>(length) > file_.size() / size) return cut_off("attribute '" + name + "'");
    PENSTOCK_ASSIGN(const auto raw, take(static_cast<uint64_t>(length) * size, "an attribute"));
    PENSTOCK_TRY(pad(raw.size(), "an attribute"));
    if (type.kind == Kind::text) {
      attributes.push_back(
          text_attribute(std::move(name), std::string_view(reinterpret_cast<const char*>(raw.data()), raw.size())));
      return {};
    }
    attributes.push_back(make_attribute(std::move(name), type, raw.data(), length == 1 ? -1 : length));
    swap_elements(attributes.back().value.data(), static_cast<size_t>(length), static_cast<size_t>(size));
    return {};
  }

  Status read_variables() {
    const uint64_t least = header_.version == 5 ? 48 : 28;
    PENSTOCK_ASSIGN(const int64_t count, list(variable_tag, least, "the list of variables"));
    for (int64_t i = 0; i < count; ++i) {
      Variable variable;
      PENSTOCK_ASSIGN(variable.name, text("a variable's name"));
      PENSTOCK_TRY(read_variable(variable));
      header_.variables.push_back(std::move(variable));
    }
    return {};
  }

  Status read_variable(Variable& variable) {
    const size_t id_bytes = header_.version == 5 ? 8 : 4;
    PENSTOCK_ASSIGN(const int64_t rank, natural("a variable's number of dimensions"));
    if (static_cast<uint64_t>(rank) > (file_.size() - at_) / id_bytes)
      return cut_off("variable '" + variable.name + "'");
    for (int64_t i = 0; i < rank; ++i) {
      PENSTOCK_ASSIGN(const int64_t id, natural("a variable's dimension"));
      if (id >= static_cast<int64_t>(header_.dimensions.size()))
        return damaged("variable '" + variable.name + "' has dimension " + std::to_string(id) +
                       ", which is not defined");
      const bool record = header_.dimensions[static_cast<size_t>(id)].length == 0;
      if (record && i > 0)
        return damaged("variable '" + variable.name + "' has the record dimension in another place than the first");
      variable.record = variable.record || record;
      variable.dimensions.push_back(id);
    }
    PENSTOCK_TRY(read_attributes(variable.attributes));
    PENSTOCK_ASSIGN(variable.type, element_type("a variable's type", "variable '" + variable.name + "'"));
    // In CDF-1 and CDF-2 a variable too large for 32 bits stores 2^32 - 1 here, which is not an error.
    PENSTOCK_ASSIGN(const uint64_t stored, number(id_bytes, "a variable's size"));
    variable.stored_bytes = static_cast<int64_t>(std::min<uint64_t>(stored, INT64_MAX));
    PENSTOCK_ASSIGN(const uint64_t begin, number(header_.version == 1 ? 4 : 8, "a variable's begin"));
    if (begin > (header_.version == 1 ? uint64_t{INT32_MAX} : uint64_t{INT64_MAX}))
      return damaged("variable '" + variable.name + "' begins at a negative offset");
    variable.begin = static_cast<int64_t>(begin);
    return {};
  }

  std::span<const std::byte> file_;
  bool& incomplete_;
  size_t at_ = 0;
  Header header_;
};

template <typename T>
void append(std::vector<int64_t>& out, const std::byte* p, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, p + i * sizeof value, sizeof value);
    out.push_back(static_cast<int64_t>(value));
  }
}

// False for types that are not integers.
bool append_integers(std::vector<int64_t>& out, Kind kind, const std::byte* p, size_t count) {
  return with_number(kind, [&]<typename T>(T) {
    if constexpr (std::is_integral_v<T>) append<T>(out, p, count);
    return std::is_integral_v<T>;
  });
}

template <typename T>
const T* find_in(const std::vector<T>& list, std::string_view name) {
  const auto found = std::ranges::find(list, name, &T::name);
  return found == list.end() ? nullptr : &*found;
}

}  // namespace

const Variable* Header::find(std::string_view variable) const { return find_in(variables, variable); }

const Attribute* Header::attribute(std::string_view name) const { return find_in(attributes, name); }

Result<int64_t> Header::dimension(std::string_view name) const {
  const Dimension* found = find_in(dimensions, name);
  if (found == nullptr) return Status(Code::not_found, "no dimension '" + std::string(name) + "'");
  return found->length;
}

Result<Header> decode_header(std::span<const std::byte> file, bool* incomplete) {
  bool ignored = false;
  bool& flag = incomplete != nullptr ? *incomplete : ignored;
  flag = false;
  return Reader(file, flag).read();
}

Result<std::vector<int64_t>> integers(const Header& header, std::span<const std::byte> file,
                                      std::string_view variable) {
  const std::string what = "netCDF variable '" + std::string(variable) + "'";
  const Variable* found = header.find(variable);
  if (found == nullptr) return Status(Code::not_found, what + " is not there");
  std::vector<int64_t> out;
  if (found->record || !append_integers(out, found->type.kind, nullptr, 0))
    return Status(Code::unsupported, what + " is no plain integer variable");
  int64_t count = 1;
  for (const int64_t id : found->dimensions)
    if (__builtin_mul_overflow(count, header.dimensions[static_cast<size_t>(id)].length, &count))
      return damaged(what + " is too large");
  const auto size = static_cast<size_t>(bytes(found->type));
  const auto begin = static_cast<uint64_t>(found->begin);
  if (begin > file.size() || static_cast<uint64_t>(count) > (file.size() - begin) / size)
    return damaged(what + " lies beyond the end of the file");
  const auto raw = file.subspan(static_cast<size_t>(begin), static_cast<size_t>(count) * size);
  std::vector<std::byte> native(raw.begin(), raw.end());
  swap_elements(native.data(), static_cast<size_t>(count), size);
  out.reserve(static_cast<size_t>(count));
  append_integers(out, found->type.kind, native.data(), static_cast<size_t>(count));
  return out;
}

std::vector<int64_t> integers(const Attribute& attribute) {
  std::vector<int64_t> out;
  append_integers(out, attribute.type.kind, attribute.value.data(), static_cast<size_t>(elements(attribute.shape)));
  return out;
}

}  // namespace penstock::netcdf
