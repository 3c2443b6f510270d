// Header and index: encodes them, and decodes without trusting the input.
#include "core/container/header.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "core/base/crc64.hpp"

namespace penstock::container {
namespace {

// Like PNG's: a byte over 127 and both kinds of line end, so that a text-mode transfer is detected.
constexpr std::array<unsigned char, 8> magic = {0x89, 'P', 'S', 'T', 'R', 'M', '\r', '\n'};
constexpr uint64_t version = 1;
constexpr size_t stem_at = 128, crc_at = header_bytes - 8;

void put(std::span<std::byte> out, size_t at, uint64_t value) {
  for (size_t i = 0; i < 8; ++i) out[at + i] = static_cast<std::byte>(value >> (8 * i));
}

uint64_t get(std::span<const std::byte> bytes, size_t at) {
  uint64_t value = 0;
  for (size_t i = 0; i < 8; ++i) value |= static_cast<uint64_t>(bytes[at + i]) << (8 * i);
  return value;
}

// The numbers of a header in order, after magic and version.
constexpr size_t numbers = 12;
std::array<uint64_t, numbers> numbers_of(const Header& h) {
  const auto u = [](int64_t n) { return static_cast<uint64_t>(n); };
  return {h.generation,           u(h.file),         u(h.shape.streams), u(h.shape.files), u(h.shape.chunk_bytes),
          u(h.shape.data_offset), u(h.index_offset), h.index_crc,        u(h.total_bytes), h.previous,
          u(h.previous_files),    h.stem.size()};
}

bool plausible(const Header& h) {
  constexpr int64_t max_ranks = INT32_MAX, max_bytes = int64_t{1} << 40;
  const auto within = [](int64_t n, int64_t least, int64_t most) { return n >= least && n <= most; };
  return within(h.shape.streams, 1, max_ranks) && within(h.shape.files, 1, h.shape.streams) &&
         within(h.file, 0, h.shape.files - 1) && within(h.shape.chunk_bytes, 1, max_bytes) &&
         within(h.shape.data_offset, header_bytes, max_bytes) && within(h.index_offset, 0, int64_t{1} << 62) &&
         h.total_bytes >= 0 && within(h.previous_files, 0, max_ranks) && h.stem.find('/') == std::string::npos &&
         h.stem.find('\0') == std::string::npos &&
         (h.file != 0 || (h.index_offset >= h.shape.data_offset && !h.stem.empty()));
}

}  // namespace

HeaderBytes encode(const Header& header) {
  HeaderBytes bytes{};
  std::memcpy(bytes.data(), magic.data(), magic.size());
  put(bytes, 8, version);
  size_t at = 16;
  for (const uint64_t number : numbers_of(header)) {
    put(bytes, at, number);
    at += 8;
  }
  std::memcpy(bytes.data() + stem_at, header.stem.data(), std::min(header.stem.size(), max_stem));
  put(bytes, crc_at, crc64(std::span(bytes).first(crc_at)));
  return bytes;
}

bool recognises(std::span<const std::byte> bytes) {
  return bytes.size() >= magic.size() && std::memcmp(bytes.data(), magic.data(), magic.size()) == 0;
}

Result<Header> decode(const HeaderBytes& bytes) {
  if (!recognises(bytes)) return Status(Code::damaged, "it is no container of streams");
  if (get(bytes, crc_at) != crc64(std::span(bytes).first(crc_at)))
    return Status(Code::damaged, "its header is damaged: the checksum is another");
  if (get(bytes, 8) != version)
    return Status(Code::unsupported, fmt::format("a container of version {}, this penstock reads version {}: update it",
                                                 get(bytes, 8), version));
  std::array<uint64_t, numbers> n{};
  for (size_t i = 0; i < numbers; ++i) n[i] = get(bytes, 16 + 8 * i);
  const auto s = [&](size_t i) { return static_cast<int64_t>(n[i]); };
  Header h;
  h.generation = n[0];
  h.file = s(1);
  h.shape = {s(2), s(3), s(4), s(5)};
  h.index_offset = s(6);
  h.index_crc = n[7];
  h.total_bytes = s(8);
  h.previous = n[9];
  h.previous_files = s(10);
  h.stem.assign(reinterpret_cast<const char*>(bytes.data()) + stem_at, std::min<uint64_t>(n[11], max_stem));
  if (!plausible(h) || n[11] > max_stem)
    return Status(Code::damaged, "its header has numbers or a name that cannot be");
  return h;
}

void encode(const Entry& entry, std::span<std::byte, entry_bytes> out) {
  put(out, 0, static_cast<uint64_t>(entry.start));
  put(out, 8, static_cast<uint64_t>(entry.bytes));
  put(out, 16, entry.crc);
}

Entry decode(std::span<const std::byte, entry_bytes> bytes) {
  return {static_cast<int64_t>(get(bytes, 0)), static_cast<int64_t>(get(bytes, 8)), get(bytes, 16)};
}

std::string file_name(const std::string& stem, uint64_t generation, int64_t file) {
  return fmt::format("{}.g{:016x}.{:06d}.pstream", stem, generation, file);
}

}  // namespace penstock::container
