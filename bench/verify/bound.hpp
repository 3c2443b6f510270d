// Bound: how far a plan may move values, and by how much one is off.
#pragma once

#include <cstddef>

#include <penstock/type.hpp>

#include "core/plan/plan.hpp"

namespace penstock::bench {

// A value may differ by ABSOLUTE, or by RELATIVE of its magnitude, whichever is more.
struct Bound {
  double absolute = 0, relative = 0;
  bool exact() const { return absolute == 0 && relative == 0; }
};

// What the parameters of PLAN allow for elements of TYPE: nothing unless one of them rounds. keep_bits=N keeps N
// explicit bits of the mantissas of reals; max_error=E is a bound. max_relative_error is one of the largest value of a
// dataset, which nobody here knows.
Bound bound_of(const Plan& plan, const ElementType& type);

// Whether PLAN stores fewer bytes than there are, by a codec of ours or a filter of an engine.
bool compresses(const Plan& plan);

// The largest differences found.
struct Deviation {
  double absolute = 0, relative = 0;
  void include(const Deviation& other);
};

// Whether the element FOUND is within BOUND of EXPECTED; each part of a complex number for itself. Infinities and NaN
// must have the same bits. LARGEST learns by how much it is off.
bool within(Kind kind, const std::byte* expected, const std::byte* found, const Bound& bound, Deviation& largest);

}  // namespace penstock::bench
