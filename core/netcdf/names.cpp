// Names: percent encoding for characters that netCDF names cannot hold, two underscores for a slash.
#include "core/netcdf/names.hpp"

#include "core/base/utf8.hpp"

namespace penstock::netcdf {
namespace {

constexpr std::string_view digits = "0123456789ABCDEF";

bool is_letter_or_digit(char c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

void append_escape(std::string& out, char c) {
  const auto byte = static_cast<unsigned char>(c);
  out += '%';
  out += digits[byte >> 4];
  out += digits[byte & 15];
}

// A '_' next to another, or to a slash, could be mistaken for half of a slash.
bool is_ambiguous(std::string_view text, size_t at) {
  const auto joins = [&](size_t i) { return i < text.size() && (text[i] == '_' || text[i] == '/'); };
  return text[at] == '_' && ((at > 0 && joins(at - 1)) || joins(at + 1));
}

// Slashes before SPLIT separate groups; later ones belong to the attribute's own name.
std::string encode(std::string_view text, size_t split) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    const size_t length = utf8_length(text.substr(i));
    const bool ascii = static_cast<unsigned char>(c) < 0x80;
    const bool printable = c >= 0x20 && c != 0x7f;
    if (!ascii && length > 1)
      out += text.substr(i, length);
    else if (c == '/' && i < split)
      out += "__";
    else if (!ascii || !printable || c == '%' || c == '/' || is_ambiguous(text, i) ||
             (c == ' ' && i + 1 == text.size()) || (i == 0 && c != '_' && !is_letter_or_digit(c)))
      append_escape(out, c);
    else
      out += c;
    i += length > 1 ? length : 1;
  }
  // No name may begin with '%': a '_' is put before it, and an original '_' in this position is escaped.
  if (out.starts_with("_%")) out.replace(0, 1, "%5F");
  if (out.starts_with('%')) out.insert(0, 1, '_');
  return out;
}

int digit(char c) {
  const size_t at = digits.find(c);
  return at == std::string_view::npos ? -1 : static_cast<int>(at);
}

std::string_view without_prefix(std::string_view name) { return name.starts_with("_%") ? name.substr(1) : name; }

std::string decode(std::string_view name) {
  std::string out;
  for (size_t i = 0; i < name.size(); ++i) {
    const bool escape = name[i] == '%' && i + 2 < name.size() && digit(name[i + 1]) >= 0 && digit(name[i + 2]) >= 0;
    if (escape) {
      out += static_cast<char>(digit(name[i + 1]) * 16 + digit(name[i + 2]));
      i += 2;
    } else if (name.substr(i, 2) == "__") {
      out += '/';
      ++i;
    } else {
      out += name[i];
    }
  }
  return out;
}

}  // namespace

std::string encode_name(std::string_view path) { return encode(path, path.size()); }

std::string encode_attribute_name(std::string_view group, std::string_view attribute) {
  if (!group.empty()) return encode(std::string(group) + "/" + std::string(attribute), group.size() + 1);
  std::string name = encode(attribute, 0);
  if (name == own_attribute) name = "_%5F" + name.substr(1);
  return name;
}

std::string decode_name(std::string_view name) { return decode(without_prefix(name)); }

AttributeName decode_attribute_name(std::string_view name) {
  name = without_prefix(name);
  const size_t split = name.rfind("__");
  if (split == std::string_view::npos || split == 0) return {"", decode(name)};
  return {decode(name.substr(0, split)), decode(name.substr(split + 2))};
}

}  // namespace penstock::netcdf
