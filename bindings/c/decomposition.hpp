// Decomposition: the definition of penstock_decomposition, for sources that take one.
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

// Copies RANK numbers. If they are NULL, the error names them as WHAT.
Result<Dims> dims(int rank, const int64_t* values, const char* what);

}  // namespace penstock::c
