// zfp's header: type, extents and bound of a chunk, in words of 32 bits behind one of versions.
#include "core/codec/zfp/header.hpp"

#include <bit>
#include <cstring>

namespace penstock {
namespace {

constexpr unsigned filter_version = 0x111;  // of H5Z-ZFP: versions of that word from here on name the codec's
constexpr size_t most_values = 8;           // a version, and up to 148 bits

// Extents from the slowest to the fastest, without those of 1.
std::vector<size_t> used_extents(const Dims& chunk) {
  std::vector<size_t> used;
  for (const int64_t extent : chunk)
    if (extent > 1) used.push_back(static_cast<size_t>(extent));
  return used;
}

ZfpField make_field(const CodecUse& use) {
  const zfp_type type = use.type.kind == Kind::f32 ? zfp_type_float : zfp_type_double;
  const std::vector<size_t> n = used_extents(use.chunk);
  switch (n.size()) {
    case 1: return ZfpField(zfp_field_1d(nullptr, type, n[0]));
    case 2: return ZfpField(zfp_field_2d(nullptr, type, n[1], n[0]));
    case 3: return ZfpField(zfp_field_3d(nullptr, type, n[2], n[1], n[0]));
    case 4: return ZfpField(zfp_field_4d(nullptr, type, n[3], n[2], n[1], n[0]));
    default: return nullptr;
  }
}

}  // namespace

bool zfp_takes(const ElementType& type, const Dims& chunk) {
  constexpr int bits_of_extent[] = {48, 24, 16, 12};  // in the header
  if (type.kind != Kind::f32 && type.kind != Kind::f64) return false;
  const std::vector<size_t> used = used_extents(chunk);
  if (used.empty() || used.size() > std::size(bits_of_extent)) return false;
  for (const size_t extent : used)
    if (extent > size_t{1} << static_cast<unsigned>(bits_of_extent[used.size() - 1])) return false;
  return true;
}

std::vector<unsigned> zfp_values(const CodecUse& use) {
  ZfpBuffer buffer(ZFP_HEADER_MAX_BITS);
  const ZfpBits bits = buffer.open();
  const ZfpStream stream(zfp_stream_open(bits.get()));
  const ZfpField field = make_field(use);
  if (use.max_error > 0)
    zfp_stream_set_accuracy(stream.get(), use.max_error);
  else
    zfp_stream_set_reversible(stream.get());
  const size_t written = zfp_write_header(stream.get(), field.get(), ZFP_HEADER_FULL);
  zfp_stream_flush(stream.get());
  std::vector<unsigned> values(1 + (written + 31) / 32);
  values[0] = static_cast<unsigned>(ZFP_VERSION) << 16U | static_cast<unsigned>(ZFP_CODEC) << 12U | filter_version;
  std::memcpy(values.data() + 1, buffer.data(), (values.size() - 1) * sizeof(unsigned));
  return values;
}

Result<ZfpHeader> read_zfp_values(std::span<const unsigned> values) {
  if (values.size() < 2 || values.size() > most_values) return Status(Code::damaged, "the filter has no header of zfp");
  ZfpBuffer buffer(ZFP_HEADER_MAX_BITS);
  std::memcpy(buffer.data(), values.data() + 1, (values.size() - 1) * sizeof(unsigned));
  const ZfpBits bits = buffer.open();
  ZfpHeader header{ZfpStream(zfp_stream_open(bits.get())), ZfpField(zfp_field_alloc())};
  if (!header.stream || !header.field) return Status(Code::memory, "no memory for zfp");
  if (zfp_read_header(header.stream.get(), header.field.get(), ZFP_HEADER_FULL) == 0)
    return Status(Code::damaged,
                  "the header of zfp is of another version, of a machine with other numbers, or damaged");
  zfp_stream_set_bit_stream(header.stream.get(), nullptr);
  return header;
}

std::optional<double> max_error_of(const ZfpHeader& header) {
  switch (zfp_stream_compression_mode(header.stream.get())) {
    case zfp_mode_reversible: return 0;
    case zfp_mode_fixed_accuracy: return zfp_stream_accuracy(header.stream.get());
    default: return {};
  }
}

}  // namespace penstock
