// Deflate: HDF5's own filters, shuffle and deflate, the second by libdeflate.
#include <libdeflate.h>

#include <cstring>

#include "core/codec/codec.hpp"
#include "core/codec/shuffle.hpp"

namespace penstock {

Descriptor deflate_descriptor();

namespace {

constexpr int deflate_filter = 1;
constexpr int default_level = 4;  // as in h5py

struct FreeCompressor {
  void operator()(libdeflate_compressor* compressor) const { libdeflate_free_compressor(compressor); }
};
using Compressor = std::unique_ptr<libdeflate_compressor, FreeCompressor>;

class DeflateEncoder final : public ChunkEncoder {
 public:
  DeflateEncoder(Compressor compressor, int64_t element_bytes)
      : compressor_(std::move(compressor)), shuffle_(element_bytes) {}

  Result<EncodedSize> encode(std::span<const std::byte> chunk, std::span<std::byte> out) override {
    const std::span<const std::byte> in = shuffle_(chunk);
    const size_t made = libdeflate_zlib_compress(compressor_.get(), in.data(), in.size(), out.data(), in.size());
    if (made > 0) return EncodedSize{static_cast<int64_t>(made), 0};
    return shuffle_.store(in, out);  // deflated, it would be larger
  }

 private:
  Compressor compressor_;
  Shuffle shuffle_;
};

struct FreeDecompressor {
  void operator()(libdeflate_decompressor* decompressor) const { libdeflate_free_decompressor(decompressor); }
};

Status decode(const FilteredChunk& chunk, std::vector<std::byte>& out) {
  thread_local const std::unique_ptr<libdeflate_decompressor, FreeDecompressor> own(libdeflate_alloc_decompressor());
  if (!own) return Status(Code::memory, "no memory for a decompressor");
  out.resize(chunk.most);
  size_t made = 0;
  if (libdeflate_zlib_decompress(own.get(), chunk.bytes.data(), chunk.bytes.size(), out.data(), out.size(), &made) !=
      LIBDEFLATE_SUCCESS)
    return Status(Code::damaged, "a chunk cannot be decoded by deflate");
  out.resize(made);
  return {};
}

class Deflate final : public Codec {
 public:
  const Descriptor& describe() const override { return descriptor_; }
  int max_level() const override { return 9; }

  std::vector<Filter> filters(const CodecUse& use) const override {
    std::vector<Filter> list = Shuffle(bytes(use.type)).filters();
    list.push_back({deflate_filter, {static_cast<unsigned>(level(use))}});
    return list;
  }

  Result<std::unique_ptr<ChunkEncoder>> encoder(const CodecUse& use) const override {
    Compressor compressor(libdeflate_alloc_compressor(level(use)));
    if (!compressor) return Status(Code::memory, "no memory for a compressor");
    return std::unique_ptr<ChunkEncoder>(std::make_unique<DeflateEncoder>(std::move(compressor), bytes(use.type)));
  }

  std::vector<FilterDecoder> decoders() const override { return {{deflate_filter, "deflate", &decode}}; }

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
