// Record: words of checksums. The record's own checksum is made right first, or nothing else would ever be reached.
#include <cstring>
#include <vector>

#include "core/base/crc64.hpp"
#include "core/model/checksums.hpp"
#include "tests/fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace penstock;
  std::vector<uint64_t> words(size / sizeof(uint64_t));
  if (!words.empty()) std::memcpy(words.data(), data, words.size() * sizeof(uint64_t));
  const auto as_it_is = decode_record(words);
  if (!as_it_is.ok()) fuzz::check_refusal(as_it_is.status());
  static const std::vector<uint64_t> empty = encode(Record{});
  if (words.size() < empty.size()) return 0;
  words[0] = empty[0];
  const size_t end = words[5] > 6 && words[5] <= words.size() ? words[5] : words.size();
  words[5] = end;
  words[end - 1] = crc64(std::as_bytes(std::span(words).first(end - 1)));
  const auto record = decode_record(words);
  if (!record.ok()) {
    fuzz::check_refusal(record.status());
    return 0;
  }
  words.resize(end);
  fuzz::must(encode(*record) == words, "a record changes when it is written again");
  return 0;
}
