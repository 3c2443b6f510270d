// Decode: by HDF5's shuffle, and the decoders of all codecs.
#include "core/codec/decode.hpp"

#include <algorithm>

#include "core/codec/codec.hpp"
#include "core/codec/shuffle.hpp"

namespace penstock {
namespace {

constexpr int shuffle_filter = 2;

const FilterDecoder* decoder_of(int id) {
  static const std::vector<FilterDecoder> all = [] {
    std::vector<FilterDecoder> list;
    for (const Codec* codec : codecs())
      for (const FilterDecoder& decoder : codec->decoders()) list.push_back(decoder);
    return list;
  }();
  const auto found = std::ranges::find(all, id, &FilterDecoder::id);
  return found == all.end() ? nullptr : &*found;
}

}  // namespace

bool decodes(std::span<const Filter> filters) {
  return std::ranges::all_of(filters, [](const Filter& filter) {
    return (filter.id == shuffle_filter && filter.values.size() == 1 && filter.values[0] > 0) ||
           decoder_of(filter.id) != nullptr;
  });
}

Result<std::vector<std::byte>> decode_chunk(std::span<const Filter> filters, uint32_t skipped,
                                            std::vector<std::byte> stored, int64_t bytes) {
  for (size_t i = filters.size(); i-- > 0;) {
    const auto& [id, values] = filters[i];
    if ((skipped >> i & 1U) != 0) continue;
    if (id == shuffle_filter) {
      stored = unshuffled(stored, values[0]);
    } else {
      PENSTOCK_ASSIGN(stored, decoder_of(id)->decode({stored, values, static_cast<size_t>(bytes)}));
    }
  }
  if (std::ssize(stored) != bytes) return Status(Code::damaged, "a chunk decodes to the wrong length");
  return stored;
}

}  // namespace penstock
