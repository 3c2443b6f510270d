// mdspan.cpp: std::mdspan is a view for penstock/array.hpp; compiled where a standard library has it.
#include <version>

#ifndef __cpp_lib_mdspan
#error "this standard library has no std::mdspan"
#endif
#include <mdspan>

#include <penstock/array.hpp>

using Rows = std::mdspan<double, std::dextents<int64_t, 3>>;
using Columns = std::mdspan<const float, std::dextents<int, 2>, std::layout_left>;
using Part = std::mdspan<int64_t, std::dextents<size_t, 2>, std::layout_stride>;
static_assert(penstock::StridedView<Rows> && penstock::StridedView<Columns> && penstock::StridedView<Part>);
static_assert(penstock::StridedView<std::mdspan<double, std::extents<int>>>);
static_assert(!penstock::StridedView<std::mdspan<bool, std::dextents<int, 1>>>);

penstock::Status use(penstock::File& file, Rows rows, Columns columns, Part part) {
  PENSTOCK_TRY(penstock::put(file, "rows", rows, {{8, 8, 8}, {0, 4, 0}}));
  PENSTOCK_TRY(penstock::lend(file, "columns", columns, {{8, 8}, {0, 4}}));
  PENSTOCK_TRY(penstock::put(file, "same", columns));
  return penstock::get(file, "part", part, {{8, 8}, {0, 4}});
}
