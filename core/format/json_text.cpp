// JSON text: writes bytes, numbers and attributes so that they read back exactly.
#include "core/format/json_text.hpp"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include "core/model/catalogue.hpp"
#include "core/model/kinds.hpp"

namespace penstock {
namespace {

constexpr char hex_digits[] = "0123456789abcdef";

void append_hex(std::string& out, unsigned byte) {
  out += hex_digits[byte >> 4];
  out += hex_digits[byte & 15];
}

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

template <typename T>
void append_number(std::string& out, T value) {
  char text[64];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  out.append(text, end);
}

// All digits of the widened value, since the shortest text of a float may change when it is first read as a double.
template <typename T>
void append_real(std::string& out, T value) {
  using Bits = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  if (std::isnan(value)) {
    const auto bits = std::bit_cast<Bits>(value);
    out += "\"NaN";
    if (bits != std::bit_cast<Bits>(std::numeric_limits<T>::quiet_NaN())) {
      out += ':';
      for (int shift = sizeof(T) * 8 - 8; shift >= 0; shift -= 8) append_hex(out, (bits >> shift) & 255);
    }
    out += '"';
  } else if (std::isinf(value)) {
    out += value > 0 ? "\"Infinity\"" : "\"-Infinity\"";
  } else {
    const size_t before = out.size();
    append_number(out, static_cast<double>(value));
    // "-0" and "12345678901234567890" would read back as integers.
    if (out.find_first_of(".e", before) == std::string::npos) out += ".0";
  }
}

template <typename T>
void append_scalar(std::string& out, const std::byte* p) {
  T value;
  std::memcpy(&value, p, sizeof value);
  if constexpr (std::is_floating_point_v<T>) {
    append_real(out, value);
  } else {
    append_number(out, value);
  }
}

template <typename T>
void append_complex(std::string& out, const std::byte* p) {
  out += '[';
  append_scalar<T>(out, p);
  out += ", ";
  append_scalar<T>(out, p + sizeof(T));
  out += ']';
}

void append_element(std::string& out, const ElementType& type, const std::byte* p) {
  if (type.kind == Kind::text) {
    const std::string_view text(reinterpret_cast<const char*>(p), static_cast<size_t>(type.text_bytes));
    return append_json(out, text.substr(0, text.find_last_not_of('\0') + 1));
  }
  with_number(type.kind, [&]<typename T>(T) {
    if constexpr (is_complex_type<T>)
      append_complex<typename T::value_type>(out, p);
    else
      append_scalar<T>(out, p);
    return true;
  });
}

Status wrong(std::string_view what) { return {Code::damaged, std::string(what)}; }

template <typename T>
Status read_real(const nlohmann::json& json, std::byte* p) {
  using Bits = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  T value{};
  if (json.is_number()) {
    const double wide = json.get<double>();
    if (std::isfinite(wide) && std::abs(wide) > static_cast<double>(std::numeric_limits<T>::max()))
      return wrong("a number is out of its type's range");
    value = static_cast<T>(wide);
  } else {
    if (!json.is_string()) return wrong("a number was expected");
    const auto& word = json.get_ref<const std::string&>();
    if (word.starts_with("NaN:")) {
      Bits bits = 0;
      const char* end = word.data() + word.size();
      const auto parsed = std::from_chars(word.data() + 4, end, bits, 16);
      if (parsed.ec != std::errc() || parsed.ptr != end) return wrong("a NaN has no readable bits");
      // As bytes: passing a signalling NaN through a register may make it quiet.
      std::memcpy(p, &bits, sizeof bits);
      return {};
    }
    constexpr T infinity = std::numeric_limits<T>::infinity();
    if (word != "NaN" && word != "Infinity" && word != "-Infinity")
      return wrong("a string stands where a number should");
    value = word == "NaN" ? std::numeric_limits<T>::quiet_NaN() : word[0] == '-' ? -infinity : infinity;
  }
  std::memcpy(p, &value, sizeof value);
  return {};
}

template <typename T>
Status read_integer(const nlohmann::json& json, std::byte* p) {
  if (!json.is_number_integer()) return wrong("an integer was expected");
  const bool fits =
      json.is_number_unsigned() ? std::in_range<T>(json.get<uint64_t>()) : std::in_range<T>(json.get<int64_t>());
  if (!fits) return wrong("an integer is out of its type's range");
  const T value = json.get<T>();
  std::memcpy(p, &value, sizeof value);
  return {};
}

template <typename T>
Status read_complex(const nlohmann::json& json, std::byte* p) {
  if (!json.is_array() || json.size() != 2) return wrong("a complex number is [real, imaginary]");
  PENSTOCK_TRY(read_real<T>(json[0], p));
  return read_real<T>(json[1], p + sizeof(T));
}

Status read_text(const nlohmann::json& json, int64_t text_bytes, std::byte* p) {
  if (!json.is_string()) return wrong("a text was expected");
  PENSTOCK_ASSIGN(const std::string text, from_json_string(json.get_ref<const std::string&>()));
  if (static_cast<int64_t>(text.size()) > text_bytes) return wrong("a text is longer than its type");
  std::memcpy(p, text.data(), text.size());  // the value was initialised with NULs
  return {};
}

Status read_element(const nlohmann::json& json, const ElementType& type, std::byte* p) {
  if (type.kind == Kind::text) return read_text(json, type.text_bytes, p);
  return with_number(type.kind, [&]<typename T>(T) {
    if constexpr (is_complex_type<T>)
      return read_complex<typename T::value_type>(json, p);
    else if constexpr (std::is_floating_point_v<T>)
      return read_real<T>(json, p);
    else
      return read_integer<T>(json, p);
  });
}

Result<Dims> attribute_shape(const nlohmann::json& json, const ElementType& type) {
  const nlohmann::json& value = json.at("value");
  const auto shape = json.find("shape");
  if (shape == json.end()) {
    // A complex scalar is a list of numbers; a complex array is a list of lists.
    if (!value.is_array() || (is_complex(type) && !value.empty() && !value[0].is_array())) return Dims{};
    return Dims{static_cast<int64_t>(value.size())};
  }
  if (!shape->is_array() || shape->size() > max_rank) return wrong("'shape' is not a list of at most 8 extents");
  Dims dims;
  for (const auto& extent : *shape) {
    PENSTOCK_ASSIGN(const int64_t n, natural_from_json(extent, "an extent"));
    dims.push_back(n);
  }
  PENSTOCK_TRY(check_shape(type, dims));
  if (!value.is_array() || static_cast<int64_t>(value.size()) != elements(dims))
    return wrong("'value' does not have as many elements as 'shape'");
  return dims;
}

}  // namespace

void append_json(std::string& out, std::string_view bytes) {
  out += '"';
  while (!bytes.empty()) {
    const auto c = static_cast<unsigned char>(bytes[0]);
    const size_t length = c == 0 ? 0 : utf8_length(bytes);
    if (length == 0) {
      out += "\\u0000";
      append_hex(out, c);
    } else if (c < 0x20) {
      out += "\\u00";
      append_hex(out, c);
    } else {
      if (c == '"' || c == '\\') out += '\\';
      out.append(bytes.substr(0, length));
    }
    bytes.remove_prefix(length == 0 ? 1 : length);
  }
  out += '"';
}

Result<std::string> from_json_string(const std::string& text) {
  if (text.find('\0') == std::string::npos) return text;
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\0') {
      out += text[i];
      continue;
    }
    const int high = i + 2 < text.size() ? hex_value(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? hex_value(text[i + 2]) : -1;
    if (high < 0 || low < 0) return wrong("a string has U+0000 without two hexadecimal digits");
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return out;
}

void append_json(std::string& out, int64_t value) { append_number(out, value); }

void append_json(std::string& out, const Dims& dims) {
  out += '[';
  for (int i = 0; i < dims.rank(); ++i) {
    if (i > 0) out += ", ";
    append_number(out, dims[i]);
  }
  out += ']';
}

void append_json(std::string& out, const Attribute& attribute) {
  out += "{\"type\": ";
  append_json(out, std::string_view(name(attribute.type)));
  if (attribute.shape.rank() > 1) {
    out += ", \"shape\": ";
    append_json(out, attribute.shape);
  }
  out += ", \"value\": ";
  const int64_t size = bytes(attribute.type);
  if (attribute.shape.rank() == 0) {
    append_element(out, attribute.type, attribute.value.data());
  } else {
    out += '[';
    for (int64_t i = 0; i < elements(attribute.shape); ++i) {
      if (i > 0) out += ", ";
      append_element(out, attribute.type, attribute.value.data() + i * size);
    }
    out += ']';
  }
  out += '}';
}

Result<Attribute> attribute_from_json(std::string name, const nlohmann::json& json) {
  if (!json.is_object() || !json.contains("type") || !json.contains("value") || !json.at("type").is_string())
    return wrong("an attribute is an object with 'type' and 'value'");
  Attribute attribute;
  attribute.name = std::move(name);
  auto type = parse_type(json.at("type").get_ref<const std::string&>());
  if (!type.ok()) return wrong(type.status().message());
  attribute.type = *type;
  const nlohmann::json& value = json.at("value");
  PENSTOCK_ASSIGN(attribute.shape, attribute_shape(json, attribute.type));
  PENSTOCK_TRY(check_shape(attribute.type, attribute.shape));
  const int64_t size = bytes(attribute.type);
  // The file only claims a text's length: memory is bounded by a multiple of the file's size.
  if (elements(attribute.shape) * size > (int64_t{1} << 30)) return wrong("an attribute of more than 1 GiB");
  attribute.value.resize(static_cast<size_t>(elements(attribute.shape) * size));
  if (attribute.shape.rank() == 0) {
    PENSTOCK_TRY(read_element(value, attribute.type, attribute.value.data()));
  } else {
    for (size_t i = 0; i < value.size(); ++i)
      PENSTOCK_TRY(read_element(value[i], attribute.type, attribute.value.data() + i * static_cast<size_t>(size)));
  }
  return attribute;
}

std::string hexadecimal(std::span<const uint64_t> words) {
  std::string digits;
  digits.reserve(words.size() * 16);
  for (const uint64_t word : words) fmt::format_to(std::back_inserter(digits), "{:016x}", word);
  return digits;
}

bool words_of(std::string_view digits, std::vector<uint64_t>& words) {
  words.assign(digits.size() / 16, 0);
  if (digits.size() % 16 != 0) return false;
  for (size_t i = 0; i < words.size(); ++i) {
    const char* begin = digits.data() + 16 * i;
    const auto [end, error] = std::from_chars(begin, begin + 16, words[i], 16);
    if (error != std::errc() || end != begin + 16) return false;
  }
  return true;
}

Result<int64_t> natural_from_json(const nlohmann::json& json, std::string_view what) {
  if (!json.is_number_integer()) return wrong(std::string(what) + " is not an integer");
  if (json.is_number_unsigned() && json.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX))
    return wrong(std::string(what) + " is larger than 63 bits hold");
  const auto value = json.get<int64_t>();
  if (value < 0) return wrong(std::string(what) + " is negative");
  return value;
}

}  // namespace penstock
