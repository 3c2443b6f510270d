// Rows: datasets in which each rank has some consecutive rows, any number of them or none.
#pragma once

#include "bench/workload/workload.hpp"

namespace penstock::bench {

struct RowsField {
  std::string name;
  ElementType type;
  Dims row;                     // shape of one row; rank 0 if a row is one element
  std::vector<int64_t> counts;  // rows of each rank
};

class Rows : public Workload {
 public:
  // DESCRIPTION is the result of describe(). All fields have the same number of counts: the ranks that write.
  Rows(std::vector<RowsField> fields, nlohmann::json description);
  const std::vector<Field>& fields() const override { return fields_; }
  Result<Decomposition> part(int field, int rank, int size) const override;
  bool read_by_rows() const override { return true; }
  nlohmann::json describe(int) const override { return description_; }

 private:
  std::vector<Field> fields_;
  std::vector<std::vector<int64_t>> ends_;  // for each field: where each rank's rows end
  nlohmann::json description_;
};

}  // namespace penstock::bench
