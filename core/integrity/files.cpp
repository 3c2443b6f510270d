// Files: each is read by one rank, and the result is sent to all.
#include "core/integrity/files.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/crc64.hpp"
#include "core/base/guarded.hpp"
#include "core/base/link.hpp"
#include "core/comm/share.hpp"
#include "core/integrity/parity.hpp"

namespace penstock {
namespace {

// Whether the first bytes of the file at PATH, as many as MEANT covers, have the sum MEANT.
Result<std::string> compare(const Target& target, const std::string& path, const FileSum& meant, const char* what) {
  PENSTOCK_ASSIGN(auto file, target.storage->open(path, Io::automatic, false));
  const auto sum = sum_of_file(target, *file, meant.bytes);
  if (!sum.ok()) return "it cannot be read: " + sum.status().message();
  return *sum == meant.sum ? "" : std::string(what);
}

// What is wrong with the file at PATH; "" if nothing. An error status means that it is unknown.
Result<std::string> look_at(const Target& target, const std::string& path, const FileSum& meant) {
  Storage& storage = *target.storage;
  if (const Status inside = check_link(path); !inside.ok()) return inside.message();
  const auto info = storage.stat(path);
  if (info.status().code() == Code::not_found) return std::string("it is missing");
  if (!info.ok()) return info.status();
  if (!info->regular) return std::string("it is no regular file");
  if (info->bytes != meant.bytes) return fmt::format("it has {} bytes, {} were committed", info->bytes, meant.bytes);
  return compare(target, path, meant, "its bytes are not those that were committed");
}

// Same for its head alone. The data after it is known to exist.
Result<std::string> look_at_head(const Target& target, const std::string& path, const FileSum& meant) {
  PENSTOCK_ASSIGN(const FileStat info, target.storage->stat(path));
  if (info.bytes < meant.bytes) return fmt::format("it has {} bytes, which its header alone had", info.bytes);
  return compare(target, path, meant, "its header before the data is not what was committed");
}

Result<std::string> look_at(const Target& target, const Contents& contents, size_t file) {
  const auto number = static_cast<int32_t>(file);
  if (contents.parity) return look_at(target, path_of(contents, number), sum_of(contents, number));
  const bool lost = std::ranges::count(contents.lost, number, &Contents::Lost::part) > 0;
  if (lost || contents.heads[file].bytes == 0) return std::string();
  return look_at_head(target, contents.parts[file], contents.heads[file]);
}

}  // namespace

Result<uint64_t> sum_of_file(const Target& target, StorageFile& file, int64_t bytes) {
  const int64_t window = combine_window(target);
  std::vector<std::byte> buffer(static_cast<size_t>(std::min(window, bytes)));
  uint64_t sum = 0;
  for (int64_t at = 0; at < bytes; at += window) {
    const std::span<std::byte> piece(buffer.data(), static_cast<size_t>(std::min(window, bytes - at)));
    target.comm->working(0);
    PENSTOCK_TRY(file.read(at, piece));
    sum = crc64(piece, sum);
  }
  return sum;
}

const std::string& path_of(const Contents& contents, int32_t file) {
  const auto i = static_cast<size_t>(file);
  return i < contents.parts.size() ? contents.parts[i] : contents.parity->path;
}

const FileSum& sum_of(const Contents& contents, int32_t file) {
  const auto i = static_cast<size_t>(file);
  return i < contents.parts.size() ? contents.parity->parts[i] : contents.parity->file;
}

Result<std::vector<WrongFile>> find_wrong_files(const Target& target, const Contents& contents) {
  const size_t count = contents.parity ? contents.parts.size() + 1 : contents.heads.size();
  Encoder out;
  const Status status = guarded([&]() -> Status {
    for (size_t i = 0; i < count; ++i) {
      if (!is_reader(target, i, count)) continue;
      PENSTOCK_ASSIGN(const std::string why, look_at(target, contents, i));
      if (why.empty()) continue;
      out.value(static_cast<int32_t>(i));
      out.text(why);
    }
    return {};
  });
  PENSTOCK_TRY(agree(target.comm, status));
  PENSTOCK_ASSIGN(const auto message, from_all_ranks(target.comm, out.take()));
  std::vector<WrongFile> wrong;
  for (Decoder in(message); !in.done();) {
    const auto file = in.value<int32_t>();
    wrong.push_back({file, in.text()});
  }
  return wrong;
}

}  // namespace penstock
