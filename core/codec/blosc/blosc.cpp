// Blosc: its bit shuffle and LZ4, in one filter, by the number that The HDF Group has registered for it.
#include <blosc.h>

#include <cstring>

#include "core/codec/codec.hpp"

namespace penstock {

Descriptor blosc_descriptor();

namespace {

constexpr int blosc_filter = 32001;
constexpr unsigned filter_version = 2;
constexpr int default_level = 5;  // as in hdf5plugin and PyTables
constexpr int threads = 1;        // ranks have their own

int level(const CodecUse& use) { return use.level == 0 ? default_level : use.level; }

// Of longer elements, the registered filter shuffles single bytes.
size_t shuffled_bytes(const CodecUse& use) {
  const int64_t size = bytes(use.type);
  return size > BLOSC_MAX_TYPESIZE ? 1 : static_cast<size_t>(size);
}

// Blosc does not shuffle the bits of a block whose elements are no multiple of this, such as a chunk's last one. It may
// be the only one.
constexpr int64_t together = 8;

int shuffle_of(const CodecUse& use) { return elements(use.chunk) % together == 0 ? BLOSC_BITSHUFFLE : BLOSC_SHUFFLE; }

class BloscEncoder final : public ChunkEncoder {
 public:
  explicit BloscEncoder(const CodecUse& use)
      : level_(level(use)), shuffle_(shuffle_of(use)), element_bytes_(shuffled_bytes(use)) {}

  Result<EncodedSize> encode(std::span<const std::byte> chunk, std::span<std::byte> out) override {
    const int made = blosc_compress_ctx(level_, shuffle_, element_bytes_, chunk.size(), chunk.data(), out.data(),
                                        chunk.size(), BLOSC_LZ4_COMPNAME, 0, threads);
    if (made > 0) return EncodedSize{made, 0};
    std::memcpy(out.data(), chunk.data(), chunk.size());  // encoded, it would not be smaller
    return EncodedSize{std::ssize(chunk), 1};
  }

 private:
  const int level_, shuffle_;
  const size_t element_bytes_;
};

Status decode(const FilteredChunk& chunk, std::vector<std::byte>& out) {
  const auto damaged = [] { return Status(Code::damaged, "a chunk cannot be decoded by Blosc"); };
  size_t bytes = 0;
  if (chunk.bytes.size() < BLOSC_MIN_HEADER_LENGTH ||
      blosc_cbuffer_validate(chunk.bytes.data(), chunk.bytes.size(), &bytes) != 0 || bytes == 0 || bytes > chunk.most)
    return damaged();
  out.resize(bytes);
  if (blosc_decompress_ctx(chunk.bytes.data(), out.data(), out.size(), threads) != static_cast<int>(bytes))
    return damaged();
  return {};
}

class Blosc final : public Codec {
 public:
  const Descriptor& describe() const override { return descriptor_; }
  int max_level() const override { return 9; }

  int64_t multiple() const override { return together; }

  std::vector<Filter> filters(const CodecUse& use) const override {
    const auto chunk = static_cast<unsigned>(elements(use.chunk) * bytes(use.type));
    return {{blosc_filter,
             {filter_version, BLOSC_VERSION_FORMAT, static_cast<unsigned>(shuffled_bytes(use)), chunk,
              static_cast<unsigned>(level(use)), static_cast<unsigned>(shuffle_of(use)), BLOSC_LZ4}}};
  }

  Result<std::unique_ptr<ChunkEncoder>> encoder(const CodecUse& use) const override {
    return std::unique_ptr<ChunkEncoder>(std::make_unique<BloscEncoder>(use));
  }

  std::vector<FilterDecoder> decoders() const override { return {{blosc_filter, "Blosc", &decode}}; }

 private:
  Descriptor descriptor_ = blosc_descriptor();
};

}  // namespace

const Codec& blosc_codec() {
  static const Blosc codec;
  return codec;
}

}  // namespace penstock
