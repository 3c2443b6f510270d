// Container header: numbers of a container's files, with a right checksum, and the arithmetic on accepted ones.
#include <algorithm>
#include <cstring>

#include "core/base/crc64.hpp"
#include "core/container/header.hpp"
#include "tests/fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace penstock;
  container::HeaderBytes bytes{};
  std::memcpy(bytes.data(), data, std::min(size, bytes.size()));
  const auto as_it_is = container::decode(bytes);
  if (!as_it_is.ok()) fuzz::check_refusal(as_it_is.status());
  const container::HeaderBytes good = container::encode(container::Header{});
  std::copy_n(good.begin(), 16, bytes.begin());  // magic and version
  const uint64_t crc = crc64(std::span(bytes).first(bytes.size() - 8));
  for (size_t i = 0; i < 8; ++i) bytes[bytes.size() - 8 + i] = static_cast<std::byte>(crc >> (8 * i));
  const auto header = container::decode(bytes);
  if (!header.ok()) {
    fuzz::check_refusal(header.status());
    return 0;
  }
  const container::Shape& shape = header->shape;
  for (const int64_t stream : {int64_t{0}, shape.streams / 2, shape.streams - 1}) {
    const int64_t file = shape.file_of(stream);
    fuzz::must(file >= 0 && file < shape.files && shape.first(file) <= stream && stream < shape.first(file + 1),
               "a stream in no file");
    for (const int64_t length : {int64_t{0}, int64_t{1}, shape.chunk_bytes, header->total_bytes}) {
      const int64_t end = shape.end(stream, length);
      fuzz::must(end == -1 || end >= shape.data_offset, "a stream that ends before it begins");
    }
    const std::string name = container::file_name(header->stem, header->generation, file);
    fuzz::must(name.find('/') == std::string::npos, "a file outside the folder");
  }
  const auto again = container::decode(container::encode(*header));
  fuzz::must(again.ok() && again->stem == header->stem && again->total_bytes == header->total_bytes,
             "a header changes when it is written again");
  const auto entry = container::decode(std::span(bytes).subspan(16).first<container::entry_bytes>());
  (void)shape.end(shape.streams - 1, std::max<int64_t>(0, entry.bytes));
  return 0;
}
