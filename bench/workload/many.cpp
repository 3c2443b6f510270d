// many: hundreds of small square arrays, in 2-D blocks, slabs of rows and slabs of columns in turn.
#include <fmt/format.h>

#include "bench/workload/blocks.hpp"

namespace penstock::bench {

namespace {

class Many : public Blocks {
 public:
  using Blocks::Blocks;

  nlohmann::json describe(int size) const override {
    nlohmann::json json = Blocks::describe(size);
    json["decompositions"] = {"blocks", "rows", "columns"};
    return json;
  }

 private:
  Dims grid(int field, int size) const override {
    switch (field % 3) {
      case 0: return Blocks::grid(field, size);
      case 1: return Dims{size, 1};
      default: return Dims{1, size};
    }
  }
};

}  // namespace

Result<std::unique_ptr<Workload>> make_many(const WorkloadRequest& request) {
  const int64_t side = integer_root(request.dataset_bytes / bytes(request.type), 2);
  if (side < 1) return Status(Code::invalid, "many: --dataset-bytes is less than one element");
  std::vector<Field> fields;
  for (int i = 0; i < request.datasets; ++i)
    fields.push_back({fmt::format("field{:06}", i), Dims{side, side}, request.type});
  return std::unique_ptr<Workload>(std::make_unique<Many>(std::move(fields), request.fortran));
}

}  // namespace penstock::bench
