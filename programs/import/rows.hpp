// Rows: combines the columns of many files to the rows of one dataset, read on demand.
#pragma once

#include <vector>

#include <penstock/supplier.hpp>
#include <penstock/type.hpp>

#include "programs/import/ramses.hpp"

namespace penstock::importing {

// Conversions of numbers.
enum class Change : uint8_t {
  none,
  is_positive,  // i32 -> i8: 1 if positive
};

// Rows of all columns of each of FILES, one file after another.
Supplier rows_of(std::vector<Columns> files, Change change = Change::none);
// VALUES[i] for each row of the i-th of FILES.
Supplier value_of_each(std::vector<int64_t> rows, std::vector<int32_t> values);

}  // namespace penstock::importing
