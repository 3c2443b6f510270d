// Codec: makes the chunks of a dataset smaller, by filters that other programs know.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/dims.hpp>
#include <penstock/status.hpp>
#include <penstock/type.hpp>

#include "core/model/catalogue.hpp"
#include "core/model/descriptor.hpp"
#include "core/model/encoding.hpp"

namespace penstock {

// What a codec needs to know of a dataset, and what the user chose.
struct CodecUse {
  ElementType type;      // of the dataset
  Dims chunk;            // its extents
  int level = 0;         // 0: the codec's default
  double max_error = 0;  // of a lossy codec: how far an element may be from what it was; 0: it is the same
};

// Encodes chunks of one kind, one after another. Used by one thread at a time.
class ChunkEncoder {
 public:
  virtual ~ChunkEncoder() = default;
  // Encodes CHUNK at the beginning of OUT, which has as many bytes: it never becomes larger.
  virtual Result<EncodedSize> encode(std::span<const std::byte> chunk, std::span<std::byte> out) = 0;
  // What readers will see of the last chunk, if that is not CHUNK itself; else empty. Valid until the next call.
  virtual std::span<const std::byte> changed() const { return {}; }
};

class Codec {
 public:
  virtual ~Codec() = default;
  virtual const Descriptor& describe() const = 0;  // without parameters
  virtual int max_level() const = 0;               // 0: it has no levels
  // Whether it encodes elements of TYPE in chunks of these extents.
  virtual bool takes(const ElementType& /*type*/, const Dims& /*chunk*/) const { return true; }
  // Extents that chunks of DATASET have at least, in dimensions that are as long. At most BYTES.
  virtual Dims unit_of(const Dataset& dataset, int64_t /*bytes*/) const {
    return Dims::filled(dataset.shape.rank(), 1);
  }
  // Of which number a chunk's elements had better be a multiple.
  virtual int64_t multiple() const { return 1; }
  // The extents of chunks of DATASET that suit it: at most BYTES, but one element at least.
  virtual Dims chunk_of(const Dataset& dataset, int64_t bytes) const;
  virtual bool lossy() const { return false; }  // if a plan allows an error
  // The max_error of FILTERS from a file; nothing if they are not of this codec, or keep no such bound.
  virtual std::optional<double> max_error(std::span<const Filter> /*filters*/) const { return {}; }
  virtual std::vector<Filter> filters(const CodecUse& use) const = 0;
  virtual Result<std::unique_ptr<ChunkEncoder>> encoder(const CodecUse& use) const = 0;
  // Of those of its filters that are no shuffle.
  virtual std::vector<FilterDecoder> decoders() const { return {}; }
};

// The codecs of core/codec/CMakeLists.txt in its order; those that are not built name what they need.
std::span<const Codec* const> codecs();
const Codec* find_codec(std::string_view name);

// Replaces a codec whose library was not found.
class AbsentCodec final : public Codec {
 public:
  AbsentCodec(Descriptor descriptor, std::string_view missing) : descriptor_(std::move(descriptor)) {
    descriptor_.missing = missing;
  }
  const Descriptor& describe() const override { return descriptor_; }
  int max_level() const override { return INT32_MAX; }
  std::vector<Filter> filters(const CodecUse&) const override { return {}; }
  Result<std::unique_ptr<ChunkEncoder>> encoder(const CodecUse&) const override {
    return Status(Code::unsupported,
                  std::string(descriptor_.name) + " is not built: " + std::string(descriptor_.missing));
  }

 private:
  Descriptor descriptor_;
};

}  // namespace penstock
