// The values of elements, for every type.
#include "tests/harness/values.hpp"

#include <cstring>

namespace penstock::test {

namespace {

template <typename T>
void real(std::byte* out, uint64_t bits) {
  const T value = static_cast<T>(static_cast<int64_t>(bits) >> 12) / static_cast<T>(4099);
  std::memcpy(out, &value, sizeof value);
}

template <typename T>
void complex(std::byte* out, uint64_t bits) {
  real<T>(out, bits);
  real<T>(out + sizeof(T), mix(bits, 1));
}

template <typename T>
void whole(std::byte* out, uint64_t bits) {
  std::memcpy(out, &bits, sizeof(T));
}

void text(std::byte* out, int64_t length, uint64_t bits) {
  const auto used = static_cast<int64_t>(bits % static_cast<uint64_t>(length + 1));
  for (int64_t i = 0; i < length; ++i)
    out[i] = i < used ? std::byte('a' + mix(bits, static_cast<uint64_t>(i)) % 26) : std::byte{0};
}

}  // namespace

void make_elements(std::byte* out, const ElementType& type, uint64_t seed, int64_t index, int64_t count) {
  const int64_t size = bytes(type);
  const auto make = [&](auto one) {
    for (int64_t i = 0; i < count; ++i) one(out + i * size, mix(seed, static_cast<uint64_t>(index + i)));
  };
  switch (type.kind) {
    case Kind::f32: return make([](auto* at, uint64_t bits) { real<float>(at, bits); });
    case Kind::f64: return make([](auto* at, uint64_t bits) { real<double>(at, bits); });
    case Kind::complex64: return make([](auto* at, uint64_t bits) { complex<float>(at, bits); });
    case Kind::complex128: return make([](auto* at, uint64_t bits) { complex<double>(at, bits); });
    case Kind::text: return make([&](auto* at, uint64_t bits) { text(at, size, bits); });
    default: break;
  }
  switch (size) {
    case 1: return make([](auto* at, uint64_t bits) { whole<uint8_t>(at, bits); });
    case 2: return make([](auto* at, uint64_t bits) { whole<uint16_t>(at, bits); });
    case 4: return make([](auto* at, uint64_t bits) { whole<uint32_t>(at, bits); });
    default: return make([](auto* at, uint64_t bits) { whole<uint64_t>(at, bits); });
  }
}

}  // namespace penstock::test
