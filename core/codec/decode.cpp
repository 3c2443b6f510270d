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

Result<std::span<const std::byte>> decode_chunk(std::span<const Filter> filters, uint32_t skipped,
                                                std::span<const std::byte> stored, int64_t bytes, DecodingRoom& room) {
  for (size_t i = filters.size(); i-- > 0;) {
    const auto& [id, values] = filters[i];
    if ((skipped >> i & 1U) != 0) continue;
    room.from.swap(room.to);  // what was decoded last is read now
    if (id == shuffle_filter) {
      unshuffle(stored, values[0], room.to);
    } else {
      PENSTOCK_TRY(decoder_of(id)->decode({stored, values, static_cast<size_t>(bytes)}, room.to));
    }
    stored = room.to;
  }
  if (std::ssize(stored) != bytes) return Status(Code::damaged, "a chunk decodes to the wrong length");
  return stored;
}

}  // namespace penstock
