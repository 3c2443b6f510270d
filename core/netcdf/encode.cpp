// Header: encodes CDF-5, with big-endian numbers and 8-byte counts.
#include <algorithm>
#include <bit>

#include "core/model/catalogue.hpp"
#include "core/netcdf/header.hpp"

namespace penstock::netcdf {

int type_number(Kind kind) {
  switch (kind) {
    case Kind::i8: return 1;
    case Kind::text: return 2;
    case Kind::i16: return 3;
    case Kind::i32: return 4;
    case Kind::complex64:
    case Kind::f32: return 5;
    case Kind::complex128:
    case Kind::f64: return 6;
    case Kind::u8: return 7;
    case Kind::u16: return 8;
    case Kind::u32: return 9;
    case Kind::i64: return 10;
    case Kind::u64: return 11;
  }
  return 0;
}

namespace {

class Writer {
 public:
  std::vector<std::byte> write(const Header& header) {
    text_bytes("CDF\5");
    number(static_cast<uint64_t>(header.records), 8);
    list(10, header.dimensions.size());
    for (const Dimension& dimension : header.dimensions) {
      name(dimension.name);
      number(static_cast<uint64_t>(dimension.length), 8);
    }
    attributes(header.attributes);
    list(11, header.variables.size());
    for (const Variable& variable : header.variables) write_variable(variable);
    return std::move(out_);
  }

 private:
  void number(uint64_t value, int size) {
    for (int shift = 8 * (size - 1); shift >= 0; shift -= 8) out_.push_back(static_cast<std::byte>(value >> shift));
  }
  void text_bytes(std::string_view text) {
    for (const char c : text) out_.push_back(static_cast<std::byte>(c));
  }
  void pad() { out_.resize((out_.size() + 3) / 4 * 4); }
  void list(uint32_t tag, size_t count) {
    number(count == 0 ? 0 : tag, 4);
    number(count, 8);
  }
  void name(std::string_view text) {
    number(text.size(), 8);
    text_bytes(text);
    pad();
  }

  void attributes(const std::vector<Attribute>& all) {
    list(12, all.size());
    for (const Attribute& attribute : all) {
      name(attribute.name);
      number(static_cast<uint64_t>(type_number(attribute.type.kind)), 4);
      const bool is_text = attribute.type.kind == Kind::text;
      const size_t size = is_text ? 1 : static_cast<size_t>(bytes(attribute.type));
      const bool empty = is_text && attribute.value.size() == 1 && attribute.value[0] == std::byte{0};
      const size_t end = empty ? 0 : attribute.value.size();
      number(end / size, 8);
      for (size_t at = 0; at < end; at += size)
        for (size_t b = 0; b < size; ++b)
          out_.push_back(attribute.value[at + (std::endian::native == std::endian::little ? size - 1 - b : b)]);
      pad();
    }
  }

  void write_variable(const Variable& variable) {
    name(variable.name);
    number(variable.dimensions.size(), 8);
    for (const int64_t id : variable.dimensions) number(static_cast<uint64_t>(id), 8);
    attributes(variable.attributes);
    number(static_cast<uint64_t>(type_number(variable.type.kind)), 4);
    number(static_cast<uint64_t>(variable.stored_bytes), 8);
    number(static_cast<uint64_t>(variable.begin), 8);
  }

  std::vector<std::byte> out_;
};

// Per record if it has records; -1 if beyond 63 bits.
int64_t unpadded_bytes(const Header& header, const Variable& variable) {
  int64_t total = bytes(variable.type);
  for (size_t i = variable.record ? 1 : 0; i < variable.dimensions.size(); ++i)
    if (__builtin_mul_overflow(total, header.dimensions[static_cast<size_t>(variable.dimensions[i])].length, &total))
      return -1;
  return total;
}

}  // namespace

std::vector<std::byte> encode_header(const Header& header) { return Writer().write(header); }

int64_t padded_bytes(const Header& header, const Variable& variable) {
  const int64_t total = unpadded_bytes(header, variable);
  return total < 0 || total > INT64_MAX - 3 ? -1 : (total + 3) / 4 * 4;
}

int64_t record_bytes(const Header& header) {
  const auto is_record = [](const Variable& v) { return v.record; };
  if (std::count_if(header.variables.begin(), header.variables.end(), is_record) == 1)
    return unpadded_bytes(header, *std::find_if(header.variables.begin(), header.variables.end(), is_record));
  int64_t total = 0;
  for (const Variable& variable : header.variables) {
    if (!variable.record) continue;
    const int64_t one = padded_bytes(header, variable);
    if (one < 0 || __builtin_add_overflow(total, one, &total)) return -1;
  }
  return total;
}

}  // namespace penstock::netcdf
