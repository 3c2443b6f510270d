// Errors: by how much elements differ from those of a reference, and which are beyond a bound.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <penstock/type.hpp>

namespace penstock::program {

// An element may differ by ABSOLUTE, or by RELATIVE of the reference's magnitude, whichever is more.
struct Limits {
  double absolute = 0, relative = 0;
};

// What the attributes of a dataset say of its values, as in CF: they are stored * scale + offset, and stored ones that
// are the fill value are no numbers.
struct Packing {
  bool packed = false;
  double scale = 1, offset = 0;
  std::optional<double> fill;

  friend bool operator==(const Packing&, const Packing&) = default;
};

// Some elements of a dataset as they are stored.
struct Elements {
  ElementType type;
  Packing packing;
  const std::byte* data = nullptr;
};

// The largest error so far and where it was found first; indices are linear, -1 if there is none.
struct Largest {
  double error = 0;
  int64_t at = -1;
  void include(double other, int64_t other_at);
};

struct Errors {
  int64_t bits = 0;                         // elements of which any stored bit differs, or all if the types do
  int64_t differing = 0, first = -1;        // by value; NaN equals NaN
  int64_t beyond = 0, first_beyond = -1;    // of these, outside the limits
  int64_t one_nan = 0, first_one_nan = -1;  // NaN here or in the reference only
  Largest absolute, relative;               // infinite where one value is, or where the reference is zero
  void add(const Errors& other);
};

// COUNT elements of OURS beside those of REFERENCE; the first has index AT. REQUIRES: comparable types.
Errors errors_of(const Elements& ours, const Elements& reference, int64_t count, int64_t at, const Limits& limits);

}  // namespace penstock::program
