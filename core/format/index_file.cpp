// Index file: the index as a separate file, the master of sets whose format has none.
#include "core/format/index.hpp"
#include "core/format/regular_file.hpp"

namespace penstock {

Result<std::vector<std::byte>> index_bytes(const Contents& contents) {
  PENSTOCK_ASSIGN(const std::string text, encode_index(contents));
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return std::vector<std::byte>(begin, begin + text.size());
}

bool is_index(std::span<const std::byte> head, std::string_view format) {
  const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  if (!text.starts_with('{') || text.find("\"" + std::string(index_schema) + "\"") == std::string_view::npos)
    return false;
  size_t at = text.find("\"format\"");
  if (at == std::string_view::npos) return false;
  at = text.find_first_not_of(" \t\r\n:", at + 8);
  const std::string quoted = "\"" + std::string(format) + "\"";
  return at != std::string_view::npos && text.substr(at, quoted.size()) == quoted;
}

Result<Contents> read_index(const std::string& path, std::string_view format) {
  PENSTOCK_ASSIGN(const std::string text, read_regular_file(path));
  return contents_of_index(text, format, path);
}

Result<Contents> contents_of_index(std::string_view text, std::string_view format, const std::string& path) {
  auto contents = decode_index(text, format, folder_of(path));
  if (!contents.ok()) return contents.status().in("'" + path + "'");
  PENSTOCK_TRY(find_lost(*contents).in("'" + path + "'"));
  return contents;
}

}  // namespace penstock
