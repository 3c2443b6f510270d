// zfp: blocks of floats with a bounded error, by the number that The HDF Group has registered for it.
#include <zfp.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "core/codec/codec.hpp"
#include "core/codec/zfp/header.hpp"
#include "core/model/tiles.hpp"

namespace penstock {

Descriptor zfp_descriptor();

namespace {

// The bytes of the file are those of streams of single bytes.
bool streams_are_portable() { return std::endian::native == std::endian::little || stream_word_bits == 8; }

// zfp reads without a look at the end. So many bytes are more than it takes for FIELD, whatever they are: a reversible
// stream says in each block how many bits its values have, and with a limit of a few bits for a block there is none.
size_t enough_bytes(zfp_stream* stream, const zfp_field* field) {
  const auto limit = std::exchange(stream->maxbits, static_cast<unsigned>(ZFP_MAX_BITS));
  const auto precision = std::exchange(stream->maxprec, static_cast<unsigned>(ZFP_MAX_PREC));
  const size_t bytes = zfp_stream_maximum_size(stream, field);
  stream->maxbits = limit;
  stream->maxprec = precision;
  return bytes + sizeof(uint64_t);
}

size_t size_of(const zfp_field* field) { return zfp_field_size(field, nullptr) * zfp_type_size(zfp_field_type(field)); }

// Makes OUT, of HEADER's size, of the first COUNT bytes of ENCODED, which has enough of them. False if that fails.
bool decompress(const ZfpHeader& header, ZfpBuffer& encoded, size_t count, std::span<std::byte> out) {
  const ZfpBits bits = encoded.open();
  zfp_stream_set_bit_stream(header.stream.get(), bits.get());
  zfp_stream_rewind(header.stream.get());
  zfp_field_set_pointer(header.field.get(), out.data());
  const size_t used = zfp_decompress(header.stream.get(), header.field.get());
  const size_t word = stream_word_bits / 8;
  return used > 0 && used <= (count + word - 1) / word * word;
}

template <typename T>
bool all_finite(std::span<const std::byte> chunk) {
  for (size_t at = 0; at < chunk.size(); at += sizeof(T)) {
    T value;
    std::memcpy(&value, chunk.data() + at, sizeof value);
    if (!std::isfinite(value)) return false;
  }
  return true;
}

template <typename T>
bool all_near(std::span<const std::byte> chunk, std::span<const std::byte> other, double max_error) {
  for (size_t at = 0; at < chunk.size(); at += sizeof(T)) {
    T a, b;
    std::memcpy(&a, chunk.data() + at, sizeof a);
    std::memcpy(&b, other.data() + at, sizeof b);
    if (!(std::abs(static_cast<double>(a) - static_cast<double>(b)) <= max_error)) return false;
  }
  return true;
}

// Decodes what it has encoded: the promise of MAX_ERROR, or of the same bits, does not depend on zfp's arithmetic. A
// chunk that it cannot keep it for stays as it is; so does one with infinities or NaN.
class ZfpEncoder final : public ChunkEncoder {
 public:
  ZfpEncoder(ZfpHeader header, const CodecUse& use)
      : header_(std::move(header)),
        single_(use.type.kind == Kind::f32),
        max_error_(use.max_error),
        buffer_(enough_bytes(header_.stream.get(), header_.field.get())),
        decoded_(size_of(header_.field.get())) {}

  Result<EncodedSize> encode(std::span<const std::byte> chunk, std::span<std::byte> out) override {
    if (chunk.size() != decoded_.size()) return Status(Code::internal, "a chunk does not have the size of its header");
    const size_t made = compress(chunk);
    is_changed_ = made > 0 && max_error_ > 0;
    const std::span<const std::byte> from = made > 0 ? std::span<const std::byte>(buffer_.data(), made) : chunk;
    std::memcpy(out.data(), from.data(), from.size());
    return EncodedSize{std::ssize(from), made > 0 ? 0U : 1U};
  }

  std::span<const std::byte> changed() const override {
    return is_changed_ ? std::span<const std::byte>(decoded_) : std::span<const std::byte>();
  }

 private:
  // The bytes in BUFFER_; 0 if CHUNK had better stay as it is.
  size_t compress(std::span<const std::byte> chunk) {
    if (max_error_ > 0 && !(single_ ? all_finite<float>(chunk) : all_finite<double>(chunk))) return 0;
    size_t made = 0;
    {
      const ZfpBits bits = buffer_.open();
      zfp_stream_set_bit_stream(header_.stream.get(), bits.get());
      zfp_stream_rewind(header_.stream.get());
      // zfp only reads it.
      zfp_field_set_pointer(header_.field.get(), const_cast<std::byte*>(chunk.data()));
      made = zfp_compress(header_.stream.get(), header_.field.get());
    }
    if (made == 0 || made >= chunk.size() || !decompress(header_, buffer_, made, decoded_)) return 0;
    return keeps_promise(chunk) ? made : 0;
  }

  bool keeps_promise(std::span<const std::byte> chunk) const {
    if (max_error_ == 0) return std::ranges::equal(chunk, decoded_);
    return single_ ? all_near<float>(chunk, decoded_, max_error_) : all_near<double>(chunk, decoded_, max_error_);
  }

  ZfpHeader header_;
  const bool single_;
  const double max_error_;
  ZfpBuffer buffer_;
  std::vector<std::byte> decoded_;
  bool is_changed_ = false;
};

Status decode(const FilteredChunk& chunk, std::vector<std::byte>& out) {
  const auto damaged = [] { return Status(Code::damaged, "a chunk cannot be decoded by zfp"); };
  if (!streams_are_portable()) return Status(Code::unsupported, "this zfp reads bits in another order");
  PENSTOCK_ASSIGN(const ZfpHeader header, read_zfp_values(chunk.values));
  const size_t elements = zfp_field_size(header.field.get(), nullptr), bytes = size_of(header.field.get());
  if (chunk.bytes.empty() || elements == 0 || elements > chunk.most || bytes > chunk.most) return damaged();
  constexpr size_t most_larger = 64;  // times: a block of 256 elements may have only 16, and needless bits
  const size_t enough = enough_bytes(header.stream.get(), header.field.get());
  if (enough > most_larger * (bytes + 1024)) return damaged();
  const size_t count = std::min(chunk.bytes.size(), enough);
  ZfpBuffer encoded(enough);
  std::memcpy(encoded.data(), chunk.bytes.data(), count);
  out.resize(bytes);
  if (!decompress(header, encoded, count, out)) return damaged();
  return {};
}

class Zfp final : public Codec {
 public:
  const Descriptor& describe() const override { return descriptor_; }
  int max_level() const override { return 0; }
  bool lossy() const override { return true; }
  bool takes(const ElementType& type, const Dims& chunk) const override { return zfp_takes(type, chunk); }

  // zfp's blocks have four elements in each dimension. In three dimensions they are much smaller than in one.
  Dims unit_of(const Dataset& dataset, int64_t bytes) const override {
    constexpr int64_t edge = 4;
    const int rank = dataset.shape.rank();
    Dims unit = Dims::filled(rank, 1);
    for (int d = rank - 1; d >= std::max(0, rank - 3); --d)
      if (elements(unit) * edge * penstock::bytes(dataset.type) <= bytes) unit[d] = edge;
    return unit;
  }

  Dims chunk_of(const Dataset& dataset, int64_t bytes) const override {
    constexpr int64_t longest = 4096;    // zfp's header has 12 bits for each of four extents
    constexpr int64_t too_small = 4096;  // so many chunks are more trouble than they save
    constexpr int most_used = 4;
    const int rank = dataset.shape.rank();
    Dataset cut = dataset;
    if (rank > 1)
      for (int d = 0; d < rank; ++d) cut.shape[d] = std::min(cut.shape[d], longest);
    const Dims chunk = Tiles(cut, unit_of(dataset, bytes), bytes).extents();
    Dims fewer = chunk;
    const auto used = [&] { return std::ranges::count_if(fewer, [](int64_t extent) { return extent > 1; }); };
    for (int d = 0; used() > most_used; ++d) fewer[d] = 1;
    const int64_t size = elements(fewer) * penstock::bytes(dataset.type);
    return size < std::min(bytes, too_small) && size < penstock::bytes(dataset) ? chunk : fewer;
  }

  std::optional<double> max_error(std::span<const Filter> filters) const override {
    if (filters.size() != 1 || filters[0].id != zfp_filter) return {};
    const auto header = read_zfp_values(filters[0].values);
    return header.ok() ? max_error_of(*header) : std::nullopt;
  }

  std::vector<Filter> filters(const CodecUse& use) const override { return {{zfp_filter, zfp_values(use)}}; }

  Result<std::unique_ptr<ChunkEncoder>> encoder(const CodecUse& use) const override {
    if (!streams_are_portable()) return Status(Code::unsupported, "this zfp writes bits in another order");
    PENSTOCK_ASSIGN(ZfpHeader header, read_zfp_values(zfp_values(use)));
    return std::unique_ptr<ChunkEncoder>(std::make_unique<ZfpEncoder>(std::move(header), use));
  }

  std::vector<FilterDecoder> decoders() const override { return {{zfp_filter, "zfp", &decode}}; }

 private:
  Descriptor descriptor_ = zfp_descriptor();
};

}  // namespace

const Codec& zfp_codec() {
  static const Zfp codec;
  return codec;
}

}  // namespace penstock
