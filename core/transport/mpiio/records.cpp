// Records: encodes and decodes headers.
#include "core/transport/mpiio/records.hpp"

#include <cstring>

#include <fmt/format.h>

#include "core/base/crc64.hpp"

namespace penstock::mpiio {
namespace {

constexpr char magic[] = "PENSLOT1";
constexpr size_t sum_at = record_header_bytes - 8;

void put(std::span<std::byte> to, size_t at, uint64_t value) {
  for (size_t i = 0; i < 8; ++i) to[at + i] = std::byte(value >> (8 * i) & 0xff);
}

uint64_t get(std::span<const std::byte> from, size_t at) {
  uint64_t value = 0;
  for (size_t i = 0; i < 8; ++i) value |= std::to_integer<uint64_t>(from[at + i]) << (8 * i);
  return value;
}

Result<RecordHeader> header_at(StorageFile& file, const std::string& path, int64_t offset) {
  std::array<std::byte, record_header_bytes> bytes;
  PENSTOCK_TRY(file.read(offset, bytes));
  const auto header = decode_record(bytes);
  if (!header)
    return Status(
        offset == 0 ? Code::unsupported : Code::damaged,
        fmt::format("'{}' has no header of a record at {}: {}", path, offset,
                    offset == 0 ? "positioning=shared,coordination=independent reads what it wrote itself, read "
                                  "this file by another access"
                                : "a block is missing"));
  return *header;
}

}  // namespace

std::array<std::byte, record_header_bytes> encode(const RecordHeader& header) {
  std::array<std::byte, record_header_bytes> bytes{};
  std::memcpy(bytes.data(), magic, 8);
  put(bytes, 8, static_cast<uint64_t>(header.block));
  put(bytes, 16, static_cast<uint64_t>(header.payload));
  put(bytes, 24, static_cast<uint64_t>(header.slot));
  put(bytes, 32, static_cast<uint64_t>(header.blocks));
  put(bytes, sum_at, crc64(std::span<const std::byte>(bytes).first(sum_at)));
  return bytes;
}

std::optional<RecordHeader> decode_record(std::span<const std::byte> bytes) {
  if (bytes.size() < record_header_bytes || std::memcmp(bytes.data(), magic, 8) != 0) return {};
  if (get(bytes, sum_at) != crc64(bytes.first(sum_at))) return {};
  const RecordHeader header{static_cast<int64_t>(get(bytes, 8)), static_cast<int64_t>(get(bytes, 16)),
                            static_cast<int64_t>(get(bytes, 24)), static_cast<int64_t>(get(bytes, 32))};
  const bool sound = header.slot > record_header_bytes && header.payload >= 0 &&
                     header.payload <= header.slot - record_header_bytes && header.block >= 0 &&
                     header.block < header.blocks;
  return sound ? std::optional(header) : std::nullopt;
}

Result<Records> scan_records(Files& files, const std::string& path) {
  PENSTOCK_ASSIGN(const FileStat info, files.stat(path));
  PENSTOCK_ASSIGN(auto file, files.open(path, Io::buffered, false));
  if (info.bytes < record_header_bytes)
    return Status(Code::unsupported, fmt::format("'{}' has no records: read this file by another access", path));
  PENSTOCK_ASSIGN(const RecordHeader first, header_at(*file, path, 0));
  if (first.blocks > info.bytes / first.slot)
    return Status(Code::damaged,
                  fmt::format("'{}' has {} bytes, but {} records of {}", path, info.bytes, first.blocks, first.slot));
  Records records{first.slot, {}};
  std::vector<bool> seen(static_cast<size_t>(first.blocks));
  for (int64_t i = 0; i < first.blocks; ++i) {
    PENSTOCK_ASSIGN(const RecordHeader header, header_at(*file, path, i * first.slot));
    if (header.slot != first.slot || header.blocks != first.blocks || seen[static_cast<size_t>(header.block)])
      return Status(Code::damaged, fmt::format("'{}' has the wrong record in slot {}", path, i));
    seen[static_cast<size_t>(header.block)] = true;
    records.order.push_back(header.block);
  }
  PENSTOCK_TRY(file->close());
  return records;
}

}  // namespace penstock::mpiio
