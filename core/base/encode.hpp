// Encoder and Decoder: convert values to bytes and back, for messages between ranks of one job (native byte order).
#pragma once

#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <penstock/dims.hpp>
#include <penstock/status.hpp>

namespace penstock {

class Encoder {
 public:
  template <typename T>
    requires std::is_trivially_copyable_v<T>
  void value(const T& v) {
    raw(&v, sizeof v);
  }
  void text(std::string_view s) {
    value<int64_t>(static_cast<int64_t>(s.size()));
    raw(s.data(), s.size());
  }
  template <typename T>
    requires std::is_trivially_copyable_v<T>
  void list(std::span<const T> values) {
    value<int64_t>(static_cast<int64_t>(values.size()));
    raw(values.data(), values.size_bytes());
  }
  void texts(std::span<const std::string> values) {
    value<int64_t>(std::ssize(values));
    for (const std::string& one : values) text(one);
  }
  void dims(const Dims& d) { list(std::span(d.begin(), d.end())); }
  std::vector<std::byte> take() { return std::move(bytes_); }
  size_t size() const { return bytes_.size(); }

 private:
  void raw(const void* p, size_t n) {
    const auto* b = static_cast<const std::byte*>(p);
    bytes_.insert(bytes_.end(), b, b + n);
  }
  std::vector<std::byte> bytes_;
};

// Reading past the end yields zeros and makes ok() false. Sizes are checked before any allocation.
class Decoder {
 public:
  explicit Decoder(std::span<const std::byte> bytes) : rest_(bytes) {}
  template <typename T>
    requires std::is_trivially_copyable_v<T>
  T value() {
    if constexpr (std::is_same_v<T, bool>) return value<uint8_t>() != 0;
    T v{};
    raw(&v, sizeof v);
    return v;
  }
  std::string text() {
    std::string s(length(1), '\0');
    raw(s.data(), s.size());
    return s;
  }
  template <typename T>
    requires std::is_trivially_copyable_v<T>
  std::vector<T> list() {
    std::vector<T> values(length(sizeof(T)));
    raw(values.data(), values.size() * sizeof(T));
    return values;
  }
  std::vector<std::string> texts() {
    std::vector<std::string> values;
    for (auto n = value<int64_t>(); n > 0 && ok_; --n) values.push_back(text());
    return values;
  }
  Dims dims() {
    auto values = list<int64_t>();
    if (values.size() > max_rank) {
      ok_ = false;
      return {};
    }
    return Dims(std::span<const int64_t>(values));
  }
  bool ok() const { return ok_; }
  bool done() const { return rest_.empty(); }

 private:
  size_t length(size_t unit) {
    const auto n = value<int64_t>();
    if (n < 0 || static_cast<uint64_t>(n) > rest_.size() / unit) {
      ok_ = false;
      return 0;
    }
    return static_cast<size_t>(n);
  }
  void raw(void* p, size_t n) {
    if (n > rest_.size()) {
      ok_ = false;
      rest_ = {};
      return;
    }
    if (n > 0) std::memcpy(p, rest_.data(), n);
    rest_ = rest_.subspan(n);
  }
  std::span<const std::byte> rest_;
  bool ok_ = true;
};

}  // namespace penstock
