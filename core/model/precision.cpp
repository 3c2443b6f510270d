// Precision: one loop for each pair of types, over values that a processor's cache holds.
#include "core/model/precision.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "core/model/kinds.hpp"

namespace penstock {
namespace {

constexpr int64_t window = 2048;  // elements

int mantissa_bits(const ElementType& type) {
  return part_of(type).kind == Kind::f32 ? std::numeric_limits<float>::digits - 1
                                         : std::numeric_limits<double>::digits - 1;
}

// Rounds the mantissas of VALUES to BITS bits, to nearest, ties to even. What would become infinite is cut instead;
// infinity and not-a-number stay. As BitRound of netCDF-C and of numcodecs (Klöwer et al., Nature Comp. Sci. 2021).
template <typename Float>
void round_bits(Float* values, int64_t count, int bits) {
  using Word = std::conditional_t<sizeof(Float) == 4, uint32_t, uint64_t>;
  constexpr int digits = std::numeric_limits<Float>::digits - 1;
  constexpr Word sign = Word{1} << (8 * sizeof(Float) - 1);
  constexpr Word infinite = static_cast<Word>(~sign) >> digits << digits;
  const int dropped = digits - bits;
  if (dropped <= 0) return;
  const Word low = (Word{1} << dropped) - 1, half = low >> 1;
  for (int64_t i = 0; i < count; ++i) {
    Word word;
    std::memcpy(&word, values + i, sizeof word);
    const Word rounded = (word + half + ((word >> dropped) & 1)) & ~low;
    const Word cut = word & ~low;
    const bool finite = (word & ~sign) < infinite, stays_finite = (rounded & ~sign) < infinite;
    word = finite ? (stays_finite ? rounded : cut) : word;
    std::memcpy(values + i, &word, sizeof word);
  }
}

// What stands for no number in an integer type, at the end of its range.
template <typename Integer>
constexpr Integer fill =
    std::is_signed_v<Integer> ? std::numeric_limits<Integer>::min() : std::numeric_limits<Integer>::max();

template <typename From, typename To>
void to_float(const Precision& precision, const From* in, To* out, int64_t count, Loss& loss) {
  int64_t overflowed = 0;
  for (int64_t i = 0; i < count; ++i) {
    if constexpr (std::is_floating_point_v<From>) {
      const From value = precision.packed ? static_cast<From>((in[i] - precision.offset) / precision.scale) : in[i];
      out[i] = static_cast<To>(value);
      overflowed += std::isinf(out[i]) && std::isfinite(in[i]) ? 1 : 0;
    } else {
      out[i] = static_cast<To>(precision.packed ? (static_cast<double>(in[i]) - precision.offset) / precision.scale
                                                : static_cast<double>(in[i]));
      overflowed += std::isinf(out[i]) ? 1 : 0;
    }
  }
  loss.overflowed += overflowed;
}

template <typename From, typename To>
void to_integer(const Precision& precision, const From* in, To* out, int64_t count, Loss& loss) {
  if constexpr (std::is_integral_v<From>) {
    if (!precision.packed) {
      for (int64_t i = 0; i < count; ++i) {
        const bool fits = std::in_range<To>(in[i]);
        const To end = std::cmp_less(in[i], 0) ? std::numeric_limits<To>::min() : std::numeric_limits<To>::max();
        out[i] = fits ? static_cast<To>(in[i]) : end;
        loss.overflowed += fits ? 0 : 1;
      }
      return;
    }
  }
  // The range without the fill value. Its ends as doubles may lie beyond it.
  constexpr To lowest = std::numeric_limits<To>::min() + (std::is_signed_v<To> ? 1 : 0);
  constexpr To highest = std::numeric_limits<To>::max() - (std::is_signed_v<To> ? 0 : 1);
  const auto low = static_cast<double>(lowest), high = static_cast<double>(highest);
  for (int64_t i = 0; i < count; ++i) {
    const double value = std::nearbyint((static_cast<double>(in[i]) - precision.offset) / precision.scale);
    if (std::isnan(value)) {
      out[i] = fill<To>;
      ++loss.nan;
    } else if (value <= low || value >= high) {
      out[i] = value <= low ? lowest : highest;
      loss.overflowed += value < low || value > high ? 1 : 0;
    } else {
      out[i] = static_cast<To>(value);
    }
  }
}

// The same as round_bits for a whole window of GIVEN, in vectors. False, and nothing of use in ROUNDED, if a value is
// not finite or would become infinite.
template <typename Float, typename Word>
bool round_window(const Word* given, Word* rounded, int bits) {
  constexpr int digits = std::numeric_limits<Float>::digits - 1;
  constexpr Word sign = Word{1} << (8 * sizeof(Float) - 1);
  constexpr Word infinite = static_cast<Word>(~sign) >> digits << digits, unit = Word{1} << digits;
  const int dropped = digits - bits;
  const Word low = (Word{1} << dropped) - 1, half = low >> 1;
  Word special = 0;  // its sign is set by an exponent of ones
  for (int64_t i = 0; i < window; ++i) {
    const Word word = given[i], out = (word + half + ((word >> dropped) & 1)) & ~low;
    special |= ((word & infinite) + unit) | ((out & infinite) + unit);
    rounded[i] = out;
  }
  return (special & sign) == 0;
}

// Where nothing but rounding is asked for.
template <typename Float>
void round_parts(int bits, const std::byte* in, std::byte* out, int64_t count) {
  using Word = std::conditional_t<sizeof(Float) == 4, uint32_t, uint64_t>;
  Word given[window], rounded[window];
  for (int64_t done = 0; done < count; done += window) {
    const int64_t length = std::min(window, count - done);
    const auto size = static_cast<size_t>(length) * sizeof(Float);
    std::memcpy(given, in + done * static_cast<int64_t>(sizeof(Float)), size);
    if (length < window || !round_window<Float>(given, rounded, bits)) {
      Float values[window];
      std::memcpy(values, given, size);
      round_bits(values, length, bits);
      std::memcpy(rounded, values, size);
    }
    std::memcpy(out + done * static_cast<int64_t>(sizeof(Float)), rounded, size);
  }
}

template <typename From, typename To>
void convert_parts(const Precision& precision, const std::byte* in, std::byte* out, int64_t count, Loss& loss) {
  if constexpr (std::is_floating_point_v<From> && std::is_same_v<From, To>)
    if (!precision.packed && precision.keep_bits > 0 && precision.keep_bits < std::numeric_limits<From>::digits - 1)
      return round_parts<From>(precision.keep_bits, in, out, count);
  From given[window];
  To stored[window];
  for (int64_t done = 0; done < count; done += window) {
    const int64_t length = std::min(window, count - done);
    std::memcpy(given, in + done * static_cast<int64_t>(sizeof(From)), static_cast<size_t>(length) * sizeof(From));
    if constexpr (std::is_floating_point_v<From>)
      if (precision.keep_bits > 0) round_bits(given, length, precision.keep_bits);
    if constexpr (std::is_floating_point_v<To>)
      to_float(precision, given, stored, length, loss);
    else
      to_integer(precision, given, stored, length, loss);
    std::memcpy(out + done * static_cast<int64_t>(sizeof(To)), stored, static_cast<size_t>(length) * sizeof(To));
  }
}

// Calls THEN with a value of the C++ type of a number's part.
template <typename Then>
void with_part(const ElementType& type, Then then) {
  with_number(part_of(type).kind, [&]<typename Number>(Number) {
    if constexpr (!is_complex_type<Number>) then(Number{});
    return true;
  });
}

template <typename Value>
Attribute scalar(std::string name, Value value) {
  return make_attribute(std::move(name), type_of<Value>(), &value, -1);
}

}  // namespace

bool is_integer(const ElementType& type) { return type.kind <= Kind::u64; }
bool is_floating(const ElementType& type) { return type.kind >= Kind::f32 && type.kind <= Kind::complex128; }

Result<ElementType> stored_type(const Precision& precision, const ElementType& given) {
  const ElementType stored = precision.type.value_or(given);
  if (!precision.any() || (stored == given && !precision.packed && precision.keep_bits == 0)) return stored;
  if (given.kind == Kind::text || stored.kind == Kind::text)
    return Status(Code::invalid, fmt::format("{} cannot be stored as {}: texts stay as they are", name(given),
                                             stored == given ? "rounded numbers" : name(stored)));
  if (is_complex(given) != is_complex(stored))
    return Status(Code::invalid, fmt::format("{} cannot be stored as {}: put the real or the imaginary parts",
                                             name(given), name(stored)));
  if (precision.packed && is_complex(given))
    return Status(Code::invalid, "scale and offset are for real numbers, not for complex ones");
  if (precision.keep_bits > 0 && (is_integer(given) || is_integer(stored)))
    return Status(Code::invalid, fmt::format("keep_bits is for floating-point numbers: {} has no mantissa",
                                             name(is_integer(given) ? given : stored)));
  if (precision.keep_bits > mantissa_bits(stored))
    return Status(Code::invalid, fmt::format("keep_bits={}: {} has {} bits in its mantissa", precision.keep_bits,
                                             name(stored), mantissa_bits(stored)));
  return stored;
}

bool converts(const Precision& precision, const ElementType& given) {
  return precision.any() && (precision.packed || precision.type.value_or(given) != given ||
                             (precision.keep_bits > 0 && precision.keep_bits < mantissa_bits(given)));
}

std::string describe(const Precision& precision, const ElementType& given) {
  if (!converts(precision, given)) return {};
  std::string text = name(given);
  if (precision.keep_bits > 0) text += fmt::format(" kept to {} bits of the mantissa", precision.keep_bits);
  if (precision.packed) text += fmt::format(" packed with scale {} and offset {}", precision.scale, precision.offset);
  return text;
}

std::vector<Attribute> attributes_of(const Precision& precision, const ElementType& given) {
  std::vector<Attribute> list;
  if (!converts(precision, given)) return list;
  const ElementType stored = precision.type.value_or(given);
  if (precision.keep_bits > 0 && precision.keep_bits < mantissa_bits(stored))
    list.push_back(scalar("_QuantizeBitRoundNumberOfSignificantBits", static_cast<int32_t>(precision.keep_bits)));
  if (precision.packed) {
    list.push_back(scalar("scale_factor", precision.scale));
    list.push_back(scalar("add_offset", precision.offset));
  }
  if (is_integer(stored) && (precision.packed || !is_integer(given)))
    with_part(stored, [&]<typename To>(To) {
      if constexpr (std::is_integral_v<To>) list.push_back(scalar("_FillValue", fill<To>));
    });
  return list;
}

void convert(const Precision& precision, const ElementType& given, const std::byte* in, std::byte* out, int64_t count,
             Loss& loss) {
  if (is_complex(given)) count *= 2;
  with_part(given, [&]<typename From>(From) {
    with_part(precision.type.value_or(given),
              [&]<typename To>(To) { convert_parts<From, To>(precision, in, out, count, loss); });
  });
}

}  // namespace penstock
