// File: whole files through the public interface, which checks and reads every byte. If the bytes begin with '{', they
// are the sidecar of a raw set, a NUL, and the set's part "part".
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <penstock/file.hpp>
#include <penstock/stream.hpp>

#include "core/base/crc64.hpp"
#include "core/container/header.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace {

using namespace penstock;
namespace fs = std::filesystem;

constexpr int64_t max_bytes = 4 << 20;  // of one dataset, or all streams
constexpr std::string_view hdf5_head = "\x89HDF";

// In the working folder, which the caller removes.
const std::string& scratch() {
  static const std::string folder = [] {
    std::string name = fs::current_path() / "fuzz-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    return name;
  }();
  return folder;
}

void write(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

void read_all(File& file) {
  std::vector<std::vector<std::byte>> memory;
  for (const DatasetInfo& dataset : file.datasets()) {
    const auto part = Decomposition::replicated(dataset.shape);
    if (!part.ok()) return fuzz::check_refusal(part.status());
    if (part->elements() > max_bytes / bytes(dataset.type)) continue;
    memory.emplace_back(static_cast<size_t>(part->elements() * bytes(dataset.type)) + 1);
    const Status asked = file.get(dataset.name, dataset.type, *part, memory.back().data());
    if (!asked.ok()) return fuzz::check_refusal(asked);
    (void)file.attributes(dataset.name);
  }
  if (const Status read = file.commit(); !read.ok()) fuzz::check_refusal(read);
}

void open_file(const std::string& path) {
  auto file = File::open(serial_communicator(), path, "independent:verify=always");
  if (!file.ok()) return fuzz::check_refusal(file.status());
  int64_t all = 0;
  for (const DatasetInfo& dataset : file->datasets())
    if (const auto part = Decomposition::replicated(dataset.shape); part.ok())
      all += std::min(part->elements() * bytes(dataset.type), int64_t{1} << 40);
  if (all <= 16 * max_bytes) {
    const auto seen = file->verify();
    if (!seen.ok()) fuzz::check_refusal(seen.status());
  }
  read_all(*file);
  if (const Status closed = file->close(); !closed.ok()) fuzz::check_refusal(closed);
}

// With the header's checksum made right, or nothing behind it would ever be reached.
void open_stream(const std::string& path, std::string bytes) {
  constexpr auto head = static_cast<size_t>(container::header_bytes);
  if (bytes.size() >= head) {
    const uint64_t crc = crc64(std::as_bytes(std::span(bytes)).first(head - 8));
    std::memcpy(bytes.data() + head - 8, &crc, sizeof crc);
    write(path, bytes);
  }
  auto stream = Stream::open(serial_communicator(), path);
  if (!stream.ok()) return fuzz::check_refusal(stream.status());
  std::vector<std::byte> memory(max_bytes);
  for (int64_t i = -1; i < std::min<int64_t>(stream->count(), 100); ++i) {
    const auto size = stream->bytes(i);
    if (!size.ok()) return fuzz::check_refusal(size.status());
    if (const auto got = stream->read(i, 0, memory); !got.ok()) fuzz::check_refusal(got.status());
  }
  if (const Status closed = stream->close(); !closed.ok()) fuzz::check_refusal(closed);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  // HDF5 has a fuzzer of its own, since what it finds is mostly in libhdf5.
  if (text.starts_with(hdf5_head) != PENSTOCK_FUZZ_HDF5) return 0;
  const std::string path = scratch() + "/f";
  if (text.starts_with('{')) {
    const size_t end = std::min(text.find('\0'), text.size());
    write(path, text.substr(0, end));
    write(scratch() + "/part", end < text.size() ? text.substr(end + 1) : "");
  } else {
    write(path, text);
  }
  if (container::recognises(fuzz::bytes_of(data, size)))
    open_stream(path, std::string(text));
  else
    open_file(path);
  return 0;
}
