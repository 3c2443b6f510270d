// Bound: the one place that knows which parameters of plans round.
#include "bench/verify/bound.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string_view>

#include "core/base/words.hpp"
#include "core/model/kinds.hpp"

namespace penstock::bench {

namespace {

double number_in(const Plan& plan, std::string_view name) {
  return parse_number<double>(plan.settings.word(name)).value_or(0);
}

// Explicit bits of the mantissa of a real, or of a part of a complex number; 0 for other types.
int mantissa_bits(const ElementType& type) {
  const Kind part = part_of(type).kind;
  return part == Kind::f64 ? 52 : part == Kind::f32 ? 23 : 0;
}

template <typename T>
bool part_within(T expected, T found, const Bound& bound, Deviation& largest) {
  if (std::memcmp(&expected, &found, sizeof(T)) == 0) return true;
  const auto wanted = static_cast<long double>(expected), got = static_cast<long double>(found);
  if (!std::isfinite(wanted) || !std::isfinite(got)) return false;
  const long double off = std::fabs(got - wanted), magnitude = std::fabs(wanted);
  Deviation own{static_cast<double>(off), 0};
  if (magnitude > 0) own.relative = static_cast<double>(off / magnitude);
  largest.include(own);
  return off <= std::max(static_cast<long double>(bound.absolute), bound.relative * magnitude);
}

}  // namespace

Bound bound_of(const Plan& plan, const ElementType& type) {
  Bound bound{.absolute = number_in(plan, "max_error"), .relative = 0};
  const std::string& word = plan.settings.word("keep_bits");
  const auto kept = parse_number<int>(word);
  if (kept && *kept > 0 && *kept < mantissa_bits(type))
    bound.relative = std::max(bound.relative, std::ldexp(1, -(*kept + 1)));
  return mantissa_bits(type) > 0 ? bound : Bound();
}

bool compresses(const Plan& plan) {
  for (const char* name : {"compression", "filter"})
    if (const std::string& word = plan.settings.word(name); !word.empty() && word != "none") return true;
  return false;
}

void Deviation::include(const Deviation& other) {
  absolute = std::max(absolute, other.absolute);
  relative = std::max(relative, other.relative);
}

bool within(Kind kind, const std::byte* expected, const std::byte* found, const Bound& bound, Deviation& largest) {
  return with_number(kind, [&]<typename T>(T wanted) -> bool {
    T got;
    std::memcpy(&wanted, expected, sizeof wanted);
    std::memcpy(&got, found, sizeof got);
    if constexpr (is_complex_type<T>) {
      const bool real = part_within(wanted.real(), got.real(), bound, largest);
      return part_within(wanted.imag(), got.imag(), bound, largest) && real;
    } else {
      return part_within(wanted, got, bound, largest);
    }
  });
}

}  // namespace penstock::bench
