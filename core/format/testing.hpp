// Testing: a scratch folder, catalogues, and files written from a layout like a transport does, for tests of this room.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "core/format/format.hpp"

namespace penstock::testing {

// A folder that is removed at the end of the test.
class Scratch {
 public:
  Scratch() {
    std::string pattern = (std::filesystem::temp_directory_path() / "penstock-format-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  const std::string& folder() const { return folder_; }
  std::string path(const std::string& name) const { return folder_ + "/" + name; }

 private:
  std::string folder_;
};

inline Status read_foreign(const Format& format, const std::string& path, const Dataset& dataset, const Box& box,
                           std::span<std::byte> out) {
  PENSTOCK_ASSIGN(const auto open, format.open_foreign({}, path, dataset, 0));
  return open->read(box, out);
}

inline std::vector<std::byte> random_bytes(int64_t size, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::byte> bytes(static_cast<size_t>(size));
  for (auto& b : bytes) b = static_cast<std::byte>(random() >> 32);
  return bytes;
}

inline void pwrite_all(int fd, int64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::pwrite(fd, bytes.data(), bytes.size(), offset);
    ASSERT_GT(n, 0) << std::strerror(errno);
    offset += n;
    bytes = bytes.subspan(static_cast<size_t>(n));
  }
}

// Writes a new file of LAYOUT's size: its metadata, and DATA[i] at the base of dataset i (nothing if empty). If FILL,
// the file first contains 0xA5, so that an unwritten byte is not correct by chance.
inline void write_layout(const std::string& path, const Layout& layout, const std::vector<std::vector<std::byte>>& data,
                         bool fill) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0644);
  ASSERT_GE(fd, 0);
  ASSERT_EQ(::ftruncate(fd, layout.end), 0);
  if (fill) pwrite_all(fd, 0, std::vector<std::byte>(static_cast<size_t>(layout.end), std::byte{0xA5}));
  for (const auto& metadata : layout.metadata) pwrite_all(fd, metadata.offset, metadata.bytes);
  for (size_t i = 0; i < data.size(); ++i) pwrite_all(fd, layout.blocks[i].base, data[i]);
  ::close(fd);
}

inline void write_text(const std::string& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

inline std::string read_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

inline void sort(Catalogue& catalogue) {
  std::sort(catalogue.datasets.begin(), catalogue.datasets.end(),
            [](const Dataset& a, const Dataset& b) { return a.name < b.name; });
}

// All kinds, as element types.
inline std::vector<ElementType> every_type() {
  std::vector<ElementType> types;
  for (int k = 0; k < kind_count; ++k)
    types.push_back({static_cast<Kind>(k), static_cast<Kind>(k) == Kind::text ? 11 : 0});
  return types;
}

// Checks the locations of the data: no two ranges share a byte, and none lies in the metadata.
inline void expect_apart(const Catalogue& catalogue, const Layout& layout) {
  std::vector<std::pair<int64_t, int64_t>> ranges;
  for (const auto& metadata : layout.metadata)
    ranges.emplace_back(metadata.offset, metadata.offset + static_cast<int64_t>(metadata.bytes.size()));
  for (size_t i = 0; i < catalogue.datasets.size(); ++i)
    if (const int64_t size = bytes(catalogue.datasets[i]); size > 0)
      ranges.emplace_back(layout.blocks[i].base, layout.blocks[i].base + size);
  std::sort(ranges.begin(), ranges.end());
  for (size_t i = 1; i < ranges.size(); ++i) ASSERT_LE(ranges[i - 1].second, ranges[i].first);
  if (!ranges.empty()) {
    ASSERT_LE(ranges.back().second, layout.end);
  }
}

// The output of a shell command; STATUS is its exit status.
inline std::string shell(const std::string& command, int& status) {
  std::string output;
  FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");  // NOLINT(cert-env33-c): no input of anybody's
  char buffer[4096];
  while (const size_t n = std::fread(buffer, 1, sizeof buffer, pipe)) output.append(buffer, n);
  status = ::pclose(pipe);
  return output;
}

// A Python that can import MODULE, "" if there is none; PENSTOCK_TEST_PYTHON selects one.
inline std::string python_with(const std::string& module) {
  const char* chosen = std::getenv("PENSTOCK_TEST_PYTHON");
  const std::string python = chosen != nullptr ? chosen : "python3";
  int status = 0;
  shell(python + " -c 'import " + module + "'", status);
  return status == 0 ? python : "";
}

}  // namespace penstock::testing
