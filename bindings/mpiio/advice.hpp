// Advice: what wisdom says of the movements of a file whose plan nobody has named.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <penstock/communicator.hpp>

#include "bindings/mpiio/shape.hpp"
#include "core/plan/wisdom.hpp"

namespace penstock::mpiio {

class Advice {
 public:
  // Local, on rank 0. What its environment's wisdom knows of the file system of FILE; empty if nothing.
  static std::vector<std::byte> known(const File& file);
  // Collective. BYTES are those of known() on rank 0. Null if no plan can be used.
  static Result<std::shared_ptr<const Advice>> tell(const File& file, std::vector<std::byte> bytes);

  // Local. Whether there is a plan for any movement in this direction.
  bool has(Direction direction) const;
  // Local, with the same result on all ranks where SHAPE is. The plan that was faster than the default for such a
  // movement; null if none is known, or it is none for programs that are not changed.
  const Plan* plan(Direction direction, const Shape& shape) const;
  // The reason for that plan, "wisdom of 2026-11-27: ..."; "" where there is none.
  std::string reason(Direction direction, const Shape& shape) const;

 private:
  Problem problem(Direction direction, const Shape& shape) const;

  std::string filesystem_;
  bool in_memory_ = false;  // the file, when it was opened
  int64_t ranks_ = 1, ranks_per_node_ = 1;
  Plan base_;
  Wisdom wisdom_;
  std::vector<std::optional<Plan>> plans_;  // of its entries
};

}  // namespace penstock::mpiio
