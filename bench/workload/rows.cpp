// Rows: sums of counts.
#include "bench/workload/rows.hpp"

#include <algorithm>
#include <numeric>

namespace penstock::bench {

Rows::Rows(std::vector<RowsField> fields, nlohmann::json description) : description_(std::move(description)) {
  std::sort(fields.begin(), fields.end(), [](const RowsField& a, const RowsField& b) { return a.name < b.name; });
  for (const RowsField& field : fields) {
    ends_.emplace_back(field.counts.size());
    std::partial_sum(field.counts.begin(), field.counts.end(), ends_.back().begin());
    Dims shape = Dims::filled(field.row.rank() + 1, ends_.back().back());
    for (int d = 0; d < field.row.rank(); ++d) shape[d + 1] = field.row[d];
    fields_.push_back({field.name, shape, field.type});
  }
  number_elements(fields_);
}

Result<Decomposition> Rows::part(int field, int rank, int size) const {
  const auto f = static_cast<size_t>(field);
  if (static_cast<size_t>(size) != ends_[f].size())
    return Status(Code::internal, "a workload of rows is for the number of ranks it was made for");
  Dims start = Dims::filled(fields_[f].shape.rank(), 0), count = fields_[f].shape;
  start[0] = rank == 0 ? 0 : ends_[f][static_cast<size_t>(rank) - 1];
  count[0] = ends_[f][static_cast<size_t>(rank)] - start[0];
  return Decomposition::block(fields_[f].shape, start, count);
}

}  // namespace penstock::bench
