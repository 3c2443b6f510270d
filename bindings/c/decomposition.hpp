// Decomposition: what a penstock_decomposition is, for the sources that take one.
#pragma once

#include <penstock.h>

#include <cstdint>

#include <penstock/decomposition.hpp>
#include <penstock/dims.hpp>
#include <penstock/status.hpp>

struct penstock_decomposition {
  penstock::Decomposition value;
};

namespace penstock::c {

// RANK numbers; WHAT they are is said where they are NULL.
Result<Dims> dims(int rank, const int64_t* values, const char* what);

}  // namespace penstock::c
