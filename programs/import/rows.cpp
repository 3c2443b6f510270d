// Rows: gathers a window of rows column by column.
#include "programs/import/rows.hpp"

#include <algorithm>
#include <cstring>

namespace penstock::importing {
namespace {

// Copies rows [FIRST, FIRST + COUNT) of COLUMNS to OUT, which has rows of the same width.
Status gather(FortranFile& file, const Columns& columns, int64_t first, int64_t count, Change change, std::byte* out) {
  const int64_t size = bytes(columns.type), wide = change == Change::none ? size : 1;
  std::vector<std::byte> column(static_cast<size_t>(count * size));
  for (int64_t c = 0; c < columns.columns; ++c) {
    PENSTOCK_TRY(file.read(columns.offset + c * columns.stride + first * size, column));
    if (columns.swapped) swap_bytes(column, size);
    for (int64_t i = 0; i < count; ++i) {
      std::byte* to = out + (i * columns.columns + c) * wide;
      if (change == Change::none) {
        std::memcpy(to, column.data() + i * size, static_cast<size_t>(size));
        continue;
      }
      int32_t value = 0;
      std::memcpy(&value, column.data() + i * size, sizeof value);
      *to = static_cast<std::byte>(value > 0);
    }
  }
  return {};
}

}  // namespace

Supplier rows_of(std::vector<Columns> files, Change change) {
  return [files = std::move(files), change](int64_t first, std::span<std::byte> out) -> Status {
    std::vector<std::byte> rows;
    for (const Columns& columns : files) {
      const int64_t wide = change == Change::none ? bytes(columns.type) : 1;
      const int64_t all = columns.rows * columns.columns;
      if (out.empty()) break;
      if (first >= all) {
        first -= all;
        continue;
      }
      // A window may start and end inside a row.
      const int64_t count = std::min(all - first, std::ssize(out) / wide);
      const int64_t row = first / columns.columns, end = (first + count - 1) / columns.columns + 1;
      rows.resize(static_cast<size_t>((end - row) * columns.columns * wide));
      PENSTOCK_ASSIGN(FortranFile file, FortranFile::open(columns.path));
      PENSTOCK_TRY(gather(file, columns, row, end - row, change, rows.data()));
      std::memcpy(out.data(), rows.data() + (first - row * columns.columns) * wide, static_cast<size_t>(count * wide));
      out = out.subspan(static_cast<size_t>(count * wide));
      first = 0;
    }
    return out.empty() ? Status() : Status(Code::internal, "more rows are asked for than there are");
  };
}

Supplier value_of_each(std::vector<int64_t> rows, std::vector<int32_t> values) {
  return [rows = std::move(rows), values = std::move(values)](int64_t first, std::span<std::byte> out) -> Status {
    size_t file = 0;
    for (; !out.empty(); out = out.subspan(sizeof(int32_t)), ++first) {
      while (file < rows.size() && first >= rows[file]) first -= rows[file++];
      if (file == rows.size()) return {Code::internal, "more rows are asked for than there are"};
      std::memcpy(out.data(), &values[file], sizeof(int32_t));
    }
    return {};
  };
}

}  // namespace penstock::importing
