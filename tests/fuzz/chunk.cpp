// Chunk: encoded chunks, behind the number of their decoder, the number of values of its filter, and these values.
#include <cstring>
#include <vector>

#include "core/codec/codec.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace {

std::vector<penstock::FilterDecoder> all_decoders() {
  std::vector<penstock::FilterDecoder> all;
  for (const penstock::Codec* codec : penstock::codecs())
    for (const penstock::FilterDecoder& decoder : codec->decoders()) all.push_back(decoder);
  return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace penstock;
  constexpr size_t most = 1 << 16;
  static const std::vector<FilterDecoder> decoders = all_decoders();
  if (size < 2 || decoders.empty()) return 0;
  const FilterDecoder& decoder = decoders[data[0] % decoders.size()];
  std::vector<unsigned> values(data[1] % 16);
  const auto bytes = fuzz::bytes_of(data, size).subspan(2);
  if (bytes.size() < values.size() * sizeof(unsigned)) return 0;
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(unsigned));
  // A copy of its own, so that a read beyond its end is one.
  const auto rest = bytes.subspan(values.size() * sizeof(unsigned));
  const std::vector<std::byte> chunk(rest.begin(), rest.end());
  std::vector<std::byte> decoded;
  const Status status = decoder.decode({chunk, values, most}, decoded);
  if (!status.ok())
    fuzz::check_refusal(status);
  else
    fuzz::must(!decoded.empty() && decoded.size() <= most, "a chunk is larger than it may be");
  return 0;
}
