// Dims: up to eight 64-bit extents, indices or strides, stored in place.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <span>

namespace penstock {

inline constexpr int max_rank = 8;

// Slowest dimension first, as in C. Rank 0 is a scalar: one element.
class Dims {
 public:
  Dims() = default;
  Dims(std::initializer_list<int64_t> values) : Dims(std::span(values.begin(), values.size())) {}
  // REQUIRES: values.size() <= max_rank.
  explicit Dims(std::span<const int64_t> values) : rank_(static_cast<int>(values.size())) {
    std::copy(values.begin(), values.end(), value_);
  }
  static Dims filled(int rank, int64_t value) {
    Dims dims;
    dims.rank_ = rank;
    std::fill_n(dims.value_, rank, value);
    return dims;
  }

  int rank() const { return rank_; }
  bool empty() const { return rank_ == 0; }
  int64_t& operator[](int i) { return value_[i]; }
  int64_t operator[](int i) const { return value_[i]; }
  const int64_t* begin() const { return value_; }
  const int64_t* end() const { return value_ + rank_; }
  void push_back(int64_t value) { value_[rank_++] = value; }  // REQUIRES: rank() < max_rank

  friend bool operator==(const Dims& a, const Dims& b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); }

 private:
  int64_t value_[max_rank] = {};
  int rank_ = 0;
};

}  // namespace penstock
