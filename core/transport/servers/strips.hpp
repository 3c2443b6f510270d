// Strips: a compact description of runs of bytes in files, sent together with their data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace penstock {

// COUNT runs of LENGTH bytes, STEP bytes apart, the first at OFFSET of file PART. Their data is packed, in order.
struct Strip {
  int64_t part = 0;
  int64_t offset = 0;
  int64_t length = 0;
  int64_t step = 0;
  int64_t count = 0;
};

// Joins adjacent or evenly spaced runs to strips: a row of a box costs nothing, a plane a few bytes. Numbers are
// written as differences in groups of seven bits.
class StripWriter {
 public:
  void add(int64_t part, int64_t offset, int64_t length);
  // An upper bound of the size that take() would return after one more add().
  int64_t max_bytes() const { return static_cast<int64_t>(bytes_.size()) + 2 * largest; }
  std::vector<std::byte> take();

 private:
  static constexpr int64_t largest = 50;  // five numbers of ten bytes
  void close();
  void number(int64_t value);

  std::vector<std::byte> bytes_;
  Strip open_;
  int64_t part_ = 0, offset_ = 0;
};

// Reading past the end, or an invalid strip, ends the iteration and makes ok() false.
class StripReader {
 public:
  explicit StripReader(std::span<const std::byte> bytes) : rest_(bytes) {}
  bool next(Strip& strip);
  bool ok() const { return ok_; }

 private:
  int64_t number();

  std::span<const std::byte> rest_;
  int64_t part_ = 0, offset_ = 0;
  bool ok_ = true;
};

}  // namespace penstock
