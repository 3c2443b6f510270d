// Attribute: small named values, made from C++ values.
#include <penstock/attribute.hpp>

#include <algorithm>
#include <cstring>

namespace penstock {

Attribute make_attribute(std::string name, ElementType type, const void* values, int64_t count) {
  Attribute a{std::move(name), type, {}, {}};
  if (count >= 0) a.shape = Dims{count};
  const auto size = static_cast<size_t>((count < 0 ? 1 : count) * bytes(type));
  a.value.resize(size);
  if (size > 0) std::memcpy(a.value.data(), values, size);
  return a;
}

Attribute text_attribute(std::string name, std::string_view value) {
  const std::string padded(value.empty() ? std::string_view("\0", 1) : value);
  return make_attribute(std::move(name), {Kind::text, static_cast<int64_t>(padded.size())}, padded.data(), -1);
}

Attribute text_attribute(std::string name, std::span<const std::string> values) {
  size_t longest = 1;
  for (const std::string& v : values) longest = std::max(longest, v.size());
  std::string padded(longest * values.size(), '\0');
  for (size_t i = 0; i < values.size(); ++i)
    std::copy(values[i].begin(), values[i].end(), padded.begin() + static_cast<std::ptrdiff_t>(i * longest));
  return make_attribute(std::move(name), {Kind::text, static_cast<int64_t>(longest)}, padded.data(),
                        static_cast<int64_t>(values.size()));
}

std::string text(const Attribute& attribute) {
  if (attribute.type.kind != Kind::text) return {};
  std::string value(reinterpret_cast<const char*>(attribute.value.data()), attribute.value.size());
  const auto end = value.find_last_not_of('\0');
  value.resize(end == std::string::npos ? 0 : end + 1);
  return value;
}

}  // namespace penstock
