// Strips: joins runs, and encodes their numbers as bytes.
#include "core/transport/servers/strips.hpp"

#include <utility>

namespace penstock {

void StripWriter::add(int64_t part, int64_t offset, int64_t length) {
  if (length == 0) return;
  Strip& s = open_;
  if (s.count == 1 && part == s.part && offset == s.offset + s.length) {
    s.length += length;
    return;
  }
  const bool alike = s.count > 0 && part == s.part && length == s.length && offset > s.offset;
  if (alike && (s.count == 1 || offset == s.offset + s.count * s.step)) {
    if (s.count == 1) s.step = offset - s.offset;
    ++s.count;
    return;
  }
  close();
  s = {part, offset, length, 0, 1};
}

std::vector<std::byte> StripWriter::take() {
  close();
  part_ = offset_ = 0;
  return std::exchange(bytes_, {});
}

void StripWriter::close() {
  if (open_.count == 0) return;
  number(open_.part - part_);
  number(open_.offset - offset_);
  number(open_.length);
  number(open_.count);
  if (open_.count > 1) number(open_.step);
  part_ = open_.part;
  offset_ = open_.offset;
  open_ = {};
}

// The sign is the lowest bit, so that small numbers of both signs are short.
void StripWriter::number(int64_t value) {
  auto rest = (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
  for (; rest >= 0x80; rest >>= 7) bytes_.push_back(static_cast<std::byte>(rest | 0x80));
  bytes_.push_back(static_cast<std::byte>(rest));
}

int64_t StripReader::number() {
  uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (rest_.empty()) break;
    const auto byte = static_cast<uint64_t>(rest_.front());
    rest_ = rest_.subspan(1);
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) return static_cast<int64_t>(value >> 1) ^ -static_cast<int64_t>(value & 1);
  }
  ok_ = false;
  return 0;
}

bool StripReader::next(Strip& strip) {
  if (rest_.empty() || !ok_) return false;
  part_ += number();
  offset_ += number();
  strip = {part_, offset_, number(), 0, 0};
  strip.count = number();
  if (strip.count > 1) strip.step = number();
  ok_ = ok_ && part_ >= 0 && offset_ >= 0 && strip.length > 0 && strip.count > 0 && strip.step >= 0;
  return ok_;
}

}  // namespace penstock
