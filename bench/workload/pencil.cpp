// pencil: the velocity of a channel flow, as written by users of ESIO: three cubes, long in y, divided in x and z.
#include "bench/workload/blocks.hpp"

namespace penstock::bench {

namespace {

constexpr int components = 3;

// In file order z, x, y: a rank has whole, contiguous lines in y.
class Pencil : public Blocks {
 public:
  using Blocks::Blocks;

 private:
  Dims grid(int, int size) const override {
    const Dims cut = squarest_grid(size, 2);
    return Dims{cut[0], cut[1], 1};
  }
};

}  // namespace

Result<std::unique_ptr<Workload>> make_pencil(const WorkloadRequest& request) {
  const int64_t n = integer_root(request.total_bytes / components / bytes(request.type), 3);
  if (n < 1) return Status(Code::invalid, "pencil: --total is less than one element for each component");
  std::vector<Field> fields;
  for (const char* name : {"u", "v", "w"}) fields.push_back({name, Dims{n, n, n}, request.type});
  return std::unique_ptr<Workload>(std::make_unique<Pencil>(std::move(fields), false));
}

}  // namespace penstock::bench
