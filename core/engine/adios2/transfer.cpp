// Transfer: a box is one put or get; data with gaps in memory is packed, at most 16 MiB at a time.
#include "core/engine/adios2/transfer.hpp"

#include <cstring>

#include "core/engine/adios2/attributes.hpp"
#include "core/engine/portions.hpp"

namespace penstock::bp5 {
namespace {

constexpr size_t gets_at_once = 1024;
constexpr PortionLimits limits{.boxes = 1};

Status select(adios2_variable* variable, const Dataset& dataset, const Portion& portion) {
  const Box box = boxes_of(portion).front();
  const auto start = extents(box.start, dataset.type, true), count = extents(box.count, dataset.type);
  return check(adios2_set_selection(variable, start.size(), start.data(), count.data()), "adios2_set_selection");
}

class Getter {
 public:
  Getter(const EngineJob& job, const Folder& folder) : job_(job), folder_(folder) {}

  Status get(size_t at) {
    const Dataset& dataset = job_.dataset(at);
    const auto portions = portions_of(job_, at, limits);
    if (portions.empty()) return {};
    adios2_variable* variable = find_variable(folder_.io(), dataset.name);
    if (variable != nullptr) PENSTOCK_TRY(check_variable(variable, dataset));
    for (const Portion& portion : portions) PENSTOCK_TRY(get(dataset, variable, portion));
    return {};
  }

  Status finish() {
    {
      const PhaseTimer timer(*job_.phases, Phase::read);
      if (posted_ > 0) PENSTOCK_TRY(check(adios2_perform_gets(folder_.engine()), "adios2_perform_gets"));
    }
    const PhaseTimer timer(*job_.phases, Phase::pack);
    for (Staged& one : staged_) copy(one.portion, one.element_bytes, one.buffer.data(), Direction::read);
    staged_.clear();
    posted_ = 0;
    in_stage_ = 0;
    return {};
  }

 private:
  struct Staged {
    Portion portion;
    int64_t element_bytes = 0;
    std::vector<std::byte> buffer;
  };

  static Status check_variable(adios2_variable* variable, const Dataset& dataset) {
    adios2_type type = adios2_type_unknown;
    size_t rank = 0;
    PENSTOCK_TRY(check(adios2_variable_type(&type, variable), "asking for its type"));
    PENSTOCK_TRY(check(adios2_variable_ndims(&rank, variable), "asking for its dimensions"));
    std::vector<size_t> shape(rank);
    if (rank > 0) PENSTOCK_TRY(check(adios2_variable_shape(shape.data(), variable), "asking for its shape"));
    if (type != stored_type(dataset.type) || shape != extents(dataset.shape, dataset.type))
      return {Code::mismatch, "its variable has another type or shape"};
    return {};
  }

  // The library leaves memory unchanged for unwritten elements, so it must be zero.
  Status get(const Dataset& dataset, adios2_variable* variable, const Portion& portion) {
    const auto size = static_cast<size_t>(portion.count * bytes(dataset.type));
    if (in_stage_ + static_cast<int64_t>(size) > limits.staged_bytes || posted_ == gets_at_once) PENSTOCK_TRY(finish());
    std::byte* data = portion.packed;
    if (data == nullptr) {
      staged_.push_back({portion, bytes(dataset.type), std::vector<std::byte>(size)});
      data = staged_.back().buffer.data();
      in_stage_ += static_cast<int64_t>(size);
    } else {
      std::memset(data, 0, size);
    }
    if (variable == nullptr) return {};
    const PhaseTimer timer(*job_.phases, Phase::read);
    if (!is_value(dataset)) PENSTOCK_TRY(select(variable, dataset, portion));
    ++posted_;
    return check(adios2_get(folder_.engine(), variable, data, adios2_mode_deferred), "adios2_get");
  }

  const EngineJob& job_;
  const Folder& folder_;
  std::vector<Staged> staged_;
  int64_t in_stage_ = 0;
  size_t posted_ = 0;
};

adios2_variable* define(const Folder& folder, const Dataset& dataset) {
  const auto shape = extents(dataset.shape, dataset.type);
  return adios2_define_variable(folder.io(), dataset.name.c_str(), stored_type(dataset.type), shape.size(),
                                shape.data(), nullptr, nullptr, adios2_constant_dims_false);
}

// Deferred: the library reads the elements at the end of the step. Synchronous: it copies them now.
Status put_portion(const EngineJob& job, const Folder& folder, const Dataset& dataset, adios2_variable* variable,
                   const Portion& portion) {
  PENSTOCK_TRY(select(variable, dataset, portion));
  std::vector<std::byte> buffer;
  if (portion.packed == nullptr) {
    const PhaseTimer timer(*job.phases, Phase::pack);
    buffer.resize(static_cast<size_t>(portion.count * bytes(dataset.type)));
    copy(portion, bytes(dataset.type), buffer.data(), Direction::write);
  }
  const PhaseTimer timer(*job.phases, Phase::write);
  const bool packed = portion.packed != nullptr;
  return check(adios2_put(folder.engine(), variable, packed ? portion.packed : buffer.data(),
                          packed ? adios2_mode_deferred : adios2_mode_sync),
               "adios2_put");
}

}  // namespace

bool is_value(const Dataset& dataset) { return dataset.shape.rank() == 0 && dataset.type.kind != Kind::text; }

Status put(const EngineJob& job, const Folder& folder, const std::vector<std::vector<std::byte>>& scalars) {
  for (size_t at = 0; at < job.datasets.size(); ++at) {
    const Dataset& dataset = job.dataset(at);
    const bool value = is_value(dataset);
    std::vector<Portion> portions;
    if (!value) portions = portions_of(job, at, limits);
    if (value ? scalars[at].empty() : portions.empty()) continue;
    adios2_variable* variable = define(folder, dataset);
    if (variable == nullptr) return {Code::io, "dataset '" + dataset.name + "': ADIOS2 does not take it"};
    if (value)
      PENSTOCK_TRY(check(adios2_put(folder.engine(), variable, scalars[at].data(), adios2_mode_sync), "adios2_put")
                       .in("dataset '" + dataset.name + "'"));
    for (const Portion& portion : portions)
      PENSTOCK_TRY(put_portion(job, folder, dataset, variable, portion).in("dataset '" + dataset.name + "'"));
  }
  return {};
}

Status get(const EngineJob& job, const Folder& folder) {
  Getter getter(job, folder);
  for (size_t at = 0; at < job.datasets.size(); ++at)
    if (elements(job.dataset(at).shape) > 0) PENSTOCK_TRY(getter.get(at).in("dataset '" + job.dataset(at).name + "'"));
  return getter.finish();
}

}  // namespace penstock::bp5
