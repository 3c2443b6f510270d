// Meaning: attributes for enumerations and for types without a Kind.
#include "core/hdf5/meaning.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "core/hdf5/types.hpp"

namespace penstock::hdf5 {
namespace {

constexpr int max_members = 1000;  // larger attributes are useless

void add(AttributeMap& attributes, Attribute attribute) {
  const std::string name = attribute.name;
  attributes.try_emplace(name, std::move(attribute));
}

struct Members {
  ElementType type;
  std::vector<std::string> names;
  std::vector<std::byte> values;
};

// In file order; empty if they cannot be read.
Members members_of(hid_t enumeration) {
  Members members;
  const int count = H5Tget_nmembers(enumeration);
  const auto match = match_type(enumeration);
  if (count < 1 || count > max_members || !match) return members;
  const auto number = library_type(match->type);
  const Type base(H5Tget_super(enumeration));
  if (!number.ok() || !base.ok()) return members;
  std::vector<std::byte> value(std::max<size_t>(8, H5Tget_size(base)));
  for (int i = 0; i < count; ++i) {
    std::string name = member_name(enumeration, static_cast<unsigned>(i));
    if (name.empty() || H5Tget_member_value(enumeration, static_cast<unsigned>(i), value.data()) < 0 ||
        H5Tconvert(base, *number, 1, value.data(), nullptr, H5P_DEFAULT) < 0)
      return {};
    std::ranges::replace(name, ' ', '_');
    members.names.push_back(std::move(name));
    members.values.insert(members.values.end(), value.begin(), value.begin() + bytes(match->type));
  }
  members.type = match->type;
  return members;
}

bool is_boolean(const Members& members) {
  return bytes(members.type) == 1 && members.names == std::vector<std::string>{"FALSE", "TRUE"} &&
         members.values == std::vector<std::byte>{std::byte{0}, std::byte{1}};
}

void add_members(hid_t enumeration, AttributeMap& attributes) {
  const Members members = members_of(enumeration);
  if (members.names.empty()) return;
  if (is_boolean(members)) return add(attributes, text_attribute("dtype", "bool"));
  std::string words;
  for (const std::string& name : members.names) words += (words.empty() ? "" : " ") + name;
  add(attributes, make_attribute("flag_values", members.type, members.values.data(), std::ssize(members.names)));
  add(attributes, text_attribute("flag_meanings", words));
}

bool is_half(hid_t type) {
  size_t sign = 0, exponent = 0, exponent_bits = 0, mantissa = 0, mantissa_bits = 0;
  return H5Tget_size(type) == 2 &&
         H5Tget_fields(type, &sign, &exponent, &exponent_bits, &mantissa, &mantissa_bits) >= 0 && exponent_bits == 5 &&
         mantissa_bits == 10;
}

constexpr std::string_view encoding = "_Encoding", utf8 = "utf-8";

}  // namespace

bool is_utf8_mark(const Attribute& attribute) {
  return attribute.name == encoding && attribute.type.kind == Kind::text && attribute.shape.rank() == 0 &&
         text(attribute) == utf8;
}

bool is_utf8(const Catalogue& catalogue, const std::string& name) {
  const Attribute* found = catalogue.attribute(name, encoding);
  return found != nullptr && is_utf8_mark(*found);
}

void add_meaning(hid_t file_type, AttributeMap& attributes) {
  const H5T_class_t type_class = H5Tget_class(file_type);
  if (type_class == H5T_ENUM) add_members(file_type, attributes);
  if (type_class == H5T_STRING && H5Tget_cset(file_type) == H5T_CSET_UTF8)
    add(attributes, text_attribute(std::string(encoding), utf8));
  if (type_class == H5T_FLOAT && is_half(file_type)) add(attributes, text_attribute("dtype", "float16"));
}

}  // namespace penstock::hdf5
