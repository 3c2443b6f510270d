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

}  // namespace

void make_element(std::byte* out, const ElementType& type, uint64_t seed, int64_t index) {
  const uint64_t bits = mix(seed, static_cast<uint64_t>(index));
  switch (type.kind) {
    case Kind::f32: return real<float>(out, bits);
    case Kind::f64: return real<double>(out, bits);
    case Kind::complex64: real<float>(out, bits); return real<float>(out + 4, mix(bits, 1));
    case Kind::complex128: real<double>(out, bits); return real<double>(out + 8, mix(bits, 1));
    case Kind::text: {
      const auto used = static_cast<int64_t>(bits % static_cast<uint64_t>(type.text_bytes + 1));
      for (int64_t i = 0; i < type.text_bytes; ++i)
        out[i] = i < used ? std::byte('a' + mix(bits, static_cast<uint64_t>(i)) % 26) : std::byte{0};
      return;
    }
    default: std::memcpy(out, &bits, static_cast<size_t>(bytes(type)));
  }
}

}  // namespace penstock::test
