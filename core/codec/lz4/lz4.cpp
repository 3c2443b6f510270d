// LZ4: HDF5's filter shuffle, and LZ4 in blocks, by the number that The HDF Group has registered for it.
#include <lz4.h>
#include <lz4hc.h>

#include <algorithm>
#include <cstring>

#include "core/codec/codec.hpp"
#include "core/codec/shuffle.hpp"

namespace penstock {

Descriptor lz4_descriptor();

namespace {

constexpr int lz4_filter = 32004;

// A chunk of the filter: its bytes when decoded (8), those of a block (4), and the blocks, each behind its length (4).
// Numbers are big-endian. A block as long as when decoded is stored as it is.
constexpr size_t chunk_head = 12, block_head = 4;

// By default, in chunks of some size: shuffled doubles were 0.4 and 1.5 % larger than with 1, in 0.8 of the time. Small
// chunks would grow by more.
constexpr int acceleration = 4;
constexpr size_t some_size = 64 << 10;

// By default, chunks of rounded numbers have a block for the bytes of each weight, if these are so many: zeros
// are encoded once, and noise is hardly looked at (docs/decisions/0041).
constexpr size_t smallest_block = 16 << 10;
constexpr size_t sample_bytes = 1024;  // in the middle of a block: it is noise if they do not shrink by 1/50
constexpr int acceleration_of_noise = 256;

void put_number(std::byte* at, int bytes, uint64_t value) {
  for (int i = bytes - 1; i >= 0; --i, value >>= 8U) at[i] = static_cast<std::byte>(value);
}

uint64_t get_number(std::span<const std::byte> at) {
  uint64_t value = 0;
  for (const std::byte b : at) value = value << 8U | std::to_integer<uint64_t>(b);
  return value;
}

bool is_zero(std::span<const std::byte> bytes) {
  return bytes[0] == std::byte{} && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0;
}

char* text(std::byte* bytes) { return reinterpret_cast<char*>(bytes); }
const char* text(const std::byte* bytes) { return reinterpret_cast<const char*>(bytes); }

class Lz4Encoder final : public ChunkEncoder {
 public:
  explicit Lz4Encoder(const CodecUse& use)
      : level_(use.level),
        element_bytes_(static_cast<size_t>(bytes(use.type))),
        shuffle_(bytes(use.type)),
        state_(static_cast<size_t>(level_ > 1 ? LZ4_sizeofStateHC() : LZ4_sizeofState())) {}

  Result<EncodedSize> encode(std::span<const std::byte> chunk, std::span<std::byte> out) override {
    const std::span<const std::byte> in = shuffle_(chunk);
    const size_t block = block_bytes(in);
    const size_t made = block > LZ4_MAX_INPUT_SIZE ? 0 : compress(in, block, out);
    if (made == 0) return shuffle_.store(in, out);  // encoded, it would not be smaller
    put_number(out.data(), 8, in.size());
    put_number(out.data() + 8, 4, block);
    return EncodedSize{static_cast<int64_t>(made), 0};
  }

 private:
  size_t block_bytes(std::span<const std::byte> in) const {
    const size_t block = in.size() / element_bytes_;
    if (level_ > 0 || block < smallest_block || in.size() % element_bytes_ != 0) return in.size();
    for (size_t first = 0; first < in.size(); first += block)
      if (is_zero(in.subspan(first, block))) return block;
    return in.size();
  }

  // Returns the bytes of OUT behind the blocks of IN; 0 if they are not fewer than those of IN.
  size_t compress(std::span<const std::byte> in, size_t block, std::span<std::byte> out) {
    size_t at = chunk_head;
    for (size_t first = 0; first < in.size(); first += block) {
      const std::span<const std::byte> from = in.subspan(first, block);
      if (at + block_head >= out.size()) return 0;
      const std::span<std::byte> to = out.subspan(at + block_head);
      size_t made = block == in.size() ? compress_alone(from, to) : compress_one(from, to);
      if (made == 0) {
        if (block == in.size() || block >= to.size()) return 0;
        std::memcpy(to.data(), from.data(), block);
        made = block;
      }
      put_number(out.data() + at, block_head, made);
      at += block_head + made;
    }
    return at < in.size() ? at : 0;
  }

  size_t compress_alone(std::span<const std::byte> in, std::span<std::byte> out) {
    if (level_ <= 1) return fast(in, out, level_ == 1 || in.size() < some_size ? 1 : acceleration);
    const auto most = static_cast<int>(out.size());
    const int made =
        LZ4_compress_HC_extStateHC(state_.data(), text(in.data()), text(out.data()), std::ssize(in), most, level_);
    return static_cast<size_t>(std::max(made, 0));
  }

  // One of several blocks. 0: it is not smaller, and is to be stored as it is.
  size_t compress_one(std::span<const std::byte> in, std::span<std::byte> out) {
    const std::span<std::byte> to = out.first(std::min(out.size(), in.size() - 1));
    if (is_zero(in)) return zeros(in, to);
    std::byte sample[sample_bytes - sample_bytes / 50];
    const bool noise = fast(in.subspan(in.size() / 2, sample_bytes), sample, 1) == 0;
    return fast(in, to, noise ? acceleration_of_noise : acceleration);
  }

  // The result is kept for the next block of this size.
  size_t zeros(std::span<const std::byte> in, std::span<std::byte> out) {
    if (zeros_of_ != in.size()) {
      zeros_.resize(static_cast<size_t>(LZ4_compressBound(static_cast<int>(in.size()))));
      zeros_.resize(fast(in, zeros_, acceleration));
      zeros_of_ = in.size();
    }
    if (zeros_.size() > out.size()) return 0;
    std::memcpy(out.data(), zeros_.data(), zeros_.size());
    return zeros_.size();
  }

  // 0 if the result does not fit OUT.
  size_t fast(std::span<const std::byte> in, std::span<std::byte> out, int accelerated) {
    return static_cast<size_t>(LZ4_compress_fast_extState(state_.data(), text(in.data()), text(out.data()),
                                                          static_cast<int>(in.size()), static_cast<int>(out.size()),
                                                          accelerated));
  }

  const int level_;
  const size_t element_bytes_;
  Shuffle shuffle_;
  std::vector<std::byte> state_;
  std::vector<std::byte> zeros_;  // a block of so many zeros, encoded
  size_t zeros_of_ = 0;
};

Status decode(const FilteredChunk& chunk, std::vector<std::byte>& out) {
  const auto damaged = [] { return Status(Code::damaged, "a chunk cannot be decoded by LZ4"); };
  std::span<const std::byte> in = chunk.bytes;
  if (in.size() < chunk_head + block_head) return damaged();
  const uint64_t bytes = get_number(in.first(8)), block = get_number(in.subspan(8, 4));
  constexpr uint64_t most_smaller = 255;  // times: LZ4 has no longer match for a byte
  if (bytes == 0 || block == 0 || bytes > chunk.most || bytes / most_smaller > in.size()) return damaged();
  out.resize(bytes);
  in = in.subspan(chunk_head);
  for (uint64_t at = 0; at < bytes;) {
    const uint64_t size = std::min(block, bytes - at);
    if (in.size() < 4) return damaged();
    const uint64_t length = get_number(in.first(4));
    in = in.subspan(4);
    if (length > in.size() || size > LZ4_MAX_INPUT_SIZE) return damaged();
    if (length == size)
      std::memcpy(out.data() + at, in.data(), size);
    else if (LZ4_decompress_safe(text(in.data()), text(out.data() + at), static_cast<int>(length),
                                 static_cast<int>(size)) != static_cast<int>(size))
      return damaged();
    in = in.subspan(length);
    at += size;
  }
  return {};
}

class Lz4 final : public Codec {
 public:
  const Descriptor& describe() const override { return descriptor_; }
  // By default LZ4 looks for matches less often in large chunks than LZ4 itself does, which is level 1. Above are the
  // levels of LZ4 HC, which takes longer for fewer bytes.
  int max_level() const override { return LZ4HC_CLEVEL_MAX; }

  std::vector<Filter> filters(const CodecUse& use) const override {
    std::vector<Filter> list = Shuffle(bytes(use.type)).filters();
    list.push_back({lz4_filter, {0}});  // the plug-in's own size of blocks, which chunks tell anyway
    return list;
  }

  Result<std::unique_ptr<ChunkEncoder>> encoder(const CodecUse& use) const override {
    return std::unique_ptr<ChunkEncoder>(std::make_unique<Lz4Encoder>(use));
  }

  std::vector<FilterDecoder> decoders() const override { return {{lz4_filter, "LZ4", &decode}}; }

 private:
  Descriptor descriptor_ = lz4_descriptor();
};

}  // namespace

const Codec& lz4_codec() {
  static const Lz4 codec;
  return codec;
}

}  // namespace penstock
