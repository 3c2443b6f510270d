// Widen: converts by C++ types, with one loop for each pair.
#include "core/model/widen.hpp"

#include <cstring>
#include <limits>
#include <type_traits>

#include "core/model/numbers.hpp"

namespace penstock {
namespace {

template <typename From, typename To>
constexpr bool holds() {
  if constexpr (is_complex<From> && is_complex<To>) {
    return sizeof(From) <= sizeof(To);
  } else if constexpr (is_complex<To>) {
    return holds<From, typename To::value_type>();
  } else if constexpr (is_complex<From> || (std::is_signed_v<From> && std::is_unsigned_v<To>) ||
                       (std::is_floating_point_v<From> && std::is_integral_v<To>)) {
    return false;
  } else {
    return std::numeric_limits<From>::digits <= std::numeric_limits<To>::digits;
  }
}

template <typename From, typename To>
void convert(std::byte* out, int64_t count) {
  const std::byte* in = out + count * static_cast<int64_t>(sizeof(To) - sizeof(From));
  for (int64_t i = 0; i < count; ++i, in += sizeof(From), out += sizeof(To)) {
    From value;
    std::memcpy(&value, in, sizeof value);
    const auto wide = static_cast<To>(value);  // NOLINT(bugprone-signed-char-misuse,cert-str34-c): a number
    std::memcpy(out, &wide, sizeof wide);
  }
}

}  // namespace

bool widens(const ElementType& from, const ElementType& to) {
  if (from.kind == Kind::text || to.kind == Kind::text) return from.kind == to.kind && from.text_bytes <= to.text_bytes;
  return with_number(from.kind, [&]<typename From>(From) {
    return with_number(to.kind, []<typename To>(To) { return holds<From, To>(); });
  });
}

void widen_in_place(const ElementType& from, const ElementType& to, std::byte* out, int64_t count) {
  if (from == to) return;
  if (from.kind == Kind::text) {
    const int64_t size = bytes(from), wide = bytes(to);
    for (int64_t i = 0; i < count; ++i) {
      std::memmove(out + i * wide, out + count * (wide - size) + i * size, static_cast<size_t>(size));
      std::memset(out + i * wide + size, 0, static_cast<size_t>(wide - size));
    }
    return;
  }
  with_number(from.kind, [&]<typename From>(From) {
    return with_number(to.kind, [&]<typename To>(To) {
      if constexpr (holds<From, To>()) convert<From, To>(out, count);
      return true;
    });
  });
}

}  // namespace penstock
