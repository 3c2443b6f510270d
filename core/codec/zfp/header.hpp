// zfp's header as the values of HDF5's filter, as the registered filter H5Z-ZFP writes them.
#pragma once

#include <zfp.h>

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/codec/codec.hpp"

namespace penstock {

struct CloseZfp {
  void operator()(bitstream* bits) const { stream_close(bits); }
  void operator()(zfp_stream* stream) const { zfp_stream_close(stream); }
  void operator()(zfp_field* field) const { zfp_field_free(field); }
};
using ZfpBits = std::unique_ptr<bitstream, CloseZfp>;
using ZfpStream = std::unique_ptr<zfp_stream, CloseZfp>;
using ZfpField = std::unique_ptr<zfp_field, CloseZfp>;

// How chunks are encoded. No bits are attached to STREAM, and no elements to FIELD.
struct ZfpHeader {
  ZfpStream stream;
  ZfpField field;
};

inline constexpr int zfp_filter = 32013;

// Whether zfp has blocks for TYPE and extents CHUNK, of which those of 1 do not count.
bool zfp_takes(const ElementType& type, const Dims& chunk);
// REQUIRES: zfp_takes the type and chunk of USE.
std::vector<unsigned> zfp_values(const CodecUse& use);
// Code::damaged if VALUES are not a header of zfp.
Result<ZfpHeader> read_zfp_values(std::span<const unsigned> values);
// The error that HEADER allows; nothing if it limits something else, such as the bits of a block.
std::optional<double> max_error_of(const ZfpHeader& header);

// What zfp reads and writes: whole words of its own, at the start of COUNT bytes or more.
class ZfpBuffer {
 public:
  explicit ZfpBuffer(size_t count) : words_((count + sizeof(uint64_t) - 1) / sizeof(uint64_t)) {}
  std::byte* data() { return reinterpret_cast<std::byte*>(words_.data()); }
  ZfpBits open() { return ZfpBits(stream_open(words_.data(), words_.size() * sizeof(uint64_t))); }

 private:
  std::vector<uint64_t> words_;
};

}  // namespace penstock
