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
// Numbers are big-endian. A block as long as when decoded is stored as it is. We write one block.
constexpr size_t head_bytes = 16;

// By default, in chunks of some size: shuffled doubles were 0.4 and 1.5 % larger than with 1, in 0.8 of the time. Small
// chunks would grow by more.
constexpr int acceleration = 4;
constexpr int some_size = 64 << 10;

void put_number(std::byte* at, int bytes, uint64_t value) {
  for (int i = bytes - 1; i >= 0; --i, value >>= 8U) at[i] = static_cast<std::byte>(value);
}

uint64_t get_number(std::span<const std::byte> at) {
  uint64_t value = 0;
  for (const std::byte b : at) value = value << 8U | std::to_integer<uint64_t>(b);
  return value;
}

char* text(std::byte* bytes) { return reinterpret_cast<char*>(bytes); }
const char* text(const std::byte* bytes) { return reinterpret_cast<const char*>(bytes); }

class Lz4Encoder final : public ChunkEncoder {
 public:
  explicit Lz4Encoder(const CodecUse& use)
      : level_(use.level),
        shuffle_(bytes(use.type)),
        state_(static_cast<size_t>(level_ > 1 ? LZ4_sizeofStateHC() : LZ4_sizeofState())) {}

  Result<EncodedSize> encode(std::span<const std::byte> chunk, std::span<std::byte> out) override {
    const std::span<const std::byte> in = shuffle_(chunk);
    std::byte* const to = out.data();
    const int made = in.size() > head_bytes && in.size() <= LZ4_MAX_INPUT_SIZE ? compress(in, to + head_bytes) : 0;
    if (made > 0) {
      put_number(to, 8, in.size());
      put_number(to + 8, 4, in.size());
      put_number(to + 12, 4, static_cast<uint64_t>(made));
      return EncodedSize{static_cast<int64_t>(head_bytes) + made, 0};
    }
    return shuffle_.store(in, out);  // encoded, it would not be smaller
  }

 private:
  // 0 if the result, with its head, is not smaller than IN.
  int compress(std::span<const std::byte> in, std::byte* to) {
    const auto size = static_cast<int>(in.size()), most = size - static_cast<int>(head_bytes) - 1;
    if (level_ > 1) return LZ4_compress_HC_extStateHC(state_.data(), text(in.data()), text(to), size, most, level_);
    return LZ4_compress_fast_extState(state_.data(), text(in.data()), text(to), size, most,
                                      level_ == 1 || size < some_size ? 1 : acceleration);
  }

  const int level_;
  Shuffle shuffle_;
  std::vector<std::byte> state_;
};

Status decode(const FilteredChunk& chunk, std::vector<std::byte>& out) {
  const auto damaged = [] { return Status(Code::damaged, "a chunk cannot be decoded by LZ4"); };
  std::span<const std::byte> in = chunk.bytes;
  if (in.size() < head_bytes) return damaged();
  const uint64_t bytes = get_number(in.first(8)), block = get_number(in.subspan(8, 4));
  constexpr uint64_t most_smaller = 255;  // times: LZ4 has no longer match for a byte
  if (bytes == 0 || block == 0 || bytes > chunk.most || bytes / most_smaller > in.size()) return damaged();
  out.resize(bytes);
  in = in.subspan(12);
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
    list.push_back({lz4_filter, {0}});  // one block, of the plug-in's own size
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
