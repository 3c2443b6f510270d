// Deflate: HDF5's own filters, shuffle and deflate, the second by libdeflate.
#include <libdeflate.h>

#include <cstring>

#include "core/codec/codec.hpp"

namespace penstock {

Descriptor deflate_descriptor();

namespace {

constexpr int shuffle_filter = 2, deflate_filter = 1;
constexpr int default_level = 4;  // as in h5py

struct FreeCompressor {
  void operator()(libdeflate_compressor* compressor) const { libdeflate_free_compressor(compressor); }
};
using Compressor = std::unique_ptr<libdeflate_compressor, FreeCompressor>;

// The first bytes of all elements, then the second ones, and so on. Bytes after the last whole element stay.
void shuffle(std::span<const std::byte> from, int64_t element_bytes, std::byte* to) {
  const auto size = static_cast<size_t>(element_bytes), count = from.size() / size;
  constexpr size_t at_once = 4096;  // elements: what is read several times stays in the cache
  for (size_t first = 0; first < count; first += at_once) {
    const size_t last = std::min(count, first + at_once);
    for (size_t b = 0; b < size; ++b)
      for (size_t i = first; i < last; ++i) to[b * count + i] = from[i * size + b];
  }
  std::memcpy(to + count * size, from.data() + count * size, from.size() - count * size);
}

class DeflateEncoder final : public ChunkEncoder {
 public:
  DeflateEncoder(Compressor compressor, int64_t element_bytes)
      : compressor_(std::move(compressor)), element_bytes_(element_bytes) {}

  Result<uint32_t> encode(std::span<const std::byte> chunk, std::vector<std::byte>& out) override {
    std::span<const std::byte> in = chunk;
    if (element_bytes_ > 1) {
      shuffled_.resize(chunk.size());
      shuffle(chunk, element_bytes_, shuffled_.data());
      in = shuffled_;
    }
    const size_t before = out.size();
    out.resize(before + in.size());
    const size_t made =
        libdeflate_zlib_compress(compressor_.get(), in.data(), in.size(), out.data() + before, in.size());
    if (made > 0) {
      out.resize(before + made);
      return 0U;
    }
    std::memcpy(out.data() + before, in.data(), in.size());  // deflated, it would be larger
    return element_bytes_ > 1 ? 2U : 1U;
  }

 private:
  Compressor compressor_;
  const int64_t element_bytes_;
  std::vector<std::byte> shuffled_;
};

class Deflate final : public Codec {
 public:
  const Descriptor& describe() const override { return descriptor_; }
  int max_level() const override { return 9; }

  std::vector<Filter> filters(const CodecUse& use) const override {
    std::vector<Filter> list;
    if (use.element_bytes > 1) list.push_back({shuffle_filter, {static_cast<unsigned>(use.element_bytes)}});
    list.push_back({deflate_filter, {static_cast<unsigned>(level(use))}});
    return list;
  }

  Result<std::unique_ptr<ChunkEncoder>> encoder(const CodecUse& use) const override {
    Compressor compressor(libdeflate_alloc_compressor(level(use)));
    if (!compressor) return Status(Code::memory, "no memory for a compressor");
    return std::unique_ptr<ChunkEncoder>(std::make_unique<DeflateEncoder>(std::move(compressor), use.element_bytes));
  }

 private:
  static int level(const CodecUse& use) { return use.level == 0 ? default_level : use.level; }

  Descriptor descriptor_ = deflate_descriptor();
};

}  // namespace

const Codec& deflate_codec() {
  static const Deflate codec;
  return codec;
}

}  // namespace penstock
