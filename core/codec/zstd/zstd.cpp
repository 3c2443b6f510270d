// Zstd: HDF5's filter shuffle, and Zstandard by the number that The HDF Group has registered for it.
#include <zstd.h>

#include <cstring>

#include "core/codec/codec.hpp"
#include "core/codec/shuffle.hpp"

namespace penstock {

Descriptor zstd_descriptor();

namespace {

constexpr int zstd_filter = 32015;
constexpr int default_level = 1;  // for shuffled numbers nearly as small as its own, 3, and faster

struct FreeContext {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
};
using Context = std::unique_ptr<ZSTD_CCtx, FreeContext>;

class ZstdEncoder final : public ChunkEncoder {
 public:
  ZstdEncoder(Context context, const CodecUse& use, int level)
      : context_(std::move(context)), level_(level), shuffle_(bytes(use.type)) {}

  Result<EncodedSize> encode(std::span<const std::byte> chunk, std::span<std::byte> out) override {
    const std::span<const std::byte> in = shuffle_(chunk);
    const size_t made = ZSTD_compressCCtx(context_.get(), out.data(), in.size(), in.data(), in.size(), level_);
    if (ZSTD_isError(made) == 0) return EncodedSize{static_cast<int64_t>(made), 0};
    return shuffle_.store(in, out);  // encoded, it would be larger
  }

 private:
  Context context_;
  const int level_;
  Shuffle shuffle_;
};

Status decode(const FilteredChunk& chunk, std::vector<std::byte>& out) {
  const std::span<const std::byte> encoded = chunk.bytes;
  const auto damaged = [] { return Status(Code::damaged, "a chunk cannot be decoded by Zstandard"); };
  const unsigned long long bytes = ZSTD_getFrameContentSize(encoded.data(), encoded.size());
  if (bytes == 0 || bytes > chunk.most) return damaged();  // also where it is not known
  out.resize(bytes);
  const size_t made = ZSTD_decompress(out.data(), out.size(), encoded.data(), encoded.size());
  if (made != out.size()) return damaged();
  return {};
}

class Zstd final : public Codec {
 public:
  const Descriptor& describe() const override { return descriptor_; }
  int max_level() const override { return ZSTD_maxCLevel(); }

  std::vector<Filter> filters(const CodecUse& use) const override {
    std::vector<Filter> list = Shuffle(bytes(use.type)).filters();
    list.push_back({zstd_filter, {static_cast<unsigned>(level(use))}});
    return list;
  }

  Result<std::unique_ptr<ChunkEncoder>> encoder(const CodecUse& use) const override {
    Context context(ZSTD_createCCtx());
    if (!context) return Status(Code::memory, "no memory for a compressor");
    return std::unique_ptr<ChunkEncoder>(std::make_unique<ZstdEncoder>(std::move(context), use, level(use)));
  }

  std::vector<FilterDecoder> decoders() const override { return {{zstd_filter, "Zstandard", &decode}}; }

 private:
  static int level(const CodecUse& use) { return use.level == 0 ? default_level : use.level; }

  Descriptor descriptor_ = zstd_descriptor();
};

}  // namespace

const Codec& zstd_codec() {
  static const Zstd codec;
  return codec;
}

}  // namespace penstock
