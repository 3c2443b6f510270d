// Advice: wisdom of rank 0, for all.
#include "bindings/mpiio/advice.hpp"

#include "core/base/encode.hpp"
#include "core/methods/methods.hpp"
#include "core/methods/predict.hpp"
#include "core/session/bind.hpp"
#include "core/storage/filesystem.hpp"
#include "core/storage/target.hpp"

namespace penstock::mpiio {

std::vector<std::byte> Advice::known(const File& file) {
  const auto system = known_file_system(folder_of(file.path));
  if (!system.ok()) return {};
  const Wisdom wisdom = known_wisdom(system->type, file.writable(), "raw").wisdom;
  if (wisdom.entries.empty()) return {};
  Encoder out;
  out.text(system->type);
  out.text(text_of(wisdom));
  out.value(file.readable() && is_in_page_cache(file.path));
  return out.take();
}

Result<std::shared_ptr<const Advice>> Advice::tell(const File& file, std::vector<std::byte> bytes) {
  PENSTOCK_TRY(file.comm->broadcast(bytes, 0));
  Decoder in(bytes);
  auto advice = std::make_shared<Advice>();
  advice->filesystem_ = in.text();
  PENSTOCK_ASSIGN(advice->wisdom_, parse_wisdom(in.text(), {}));
  advice->in_memory_ = in.value<bool>();
  advice->ranks_ = file.comm->size();
  int64_t most[] = {file.comm->node_size()};
  PENSTOCK_TRY(file.comm->all_reduce_max(most));
  advice->ranks_per_node_ = most[0];
  advice->base_ = file.plan;
  for (const Wise& wise : advice->wisdom_.entries) {
    auto plan = with_transport(file.plan, wise.plan, vocabulary());
    const bool fits = plan.ok() && wise.plan != default_transport && !names_stripes(wise.plan) &&
                      (plan->transport == "two_phase" || plan->transport == "independent");
    advice->plans_.push_back(fits ? std::optional(*std::move(plan)) : std::nullopt);
  }
  const bool any = advice->has(Direction::write) || advice->has(Direction::read);
  return std::shared_ptr<const Advice>(any ? advice : nullptr);
}

bool Advice::has(Direction direction) const {
  for (size_t i = 0; i < plans_.size(); ++i)
    if (plans_[i] && wisdom_.entries[i].problem.write == (direction == Direction::write)) return true;
  return false;
}

Problem Advice::problem(Direction direction, const Shape& shape) const {
  const ProblemOf of{&base_, filesystem_, false, ranks_, ranks_per_node_};
  return make_problem(of, direction == Direction::write, {shape.bytes, shape.calls, shape.minus_run}, in_memory_);
}

const Plan* Advice::plan(Direction direction, const Shape& shape) const {
  const Wise* wise = wisdom_.find(problem(direction, shape));
  if (wise == nullptr) return nullptr;
  const std::optional<Plan>& plan = plans_[static_cast<size_t>(wise - wisdom_.entries.data())];
  return plan ? &*plan : nullptr;
}

std::string Advice::reason(Direction direction, const Shape& shape) const {
  const Problem asked = problem(direction, shape);
  const Wise* wise = wisdom_.find(asked);
  return plan(direction, shape) == nullptr ? "" : reason_of(*wise, asked);
}

}  // namespace penstock::mpiio
