// netcdf4: netCDF-4 through its parallel library: define, write, sync, close.
#include <algorithm>

#include "core/base/guarded.hpp"
#include "core/comm/mpi/io_library.hpp"
#include "core/comm/mpi/native.hpp"
#include "core/engine/netcdf4/file.hpp"
#include "core/engine/portions.hpp"
#include "core/engine/reserve.hpp"
#include "core/hdf5/handles.hpp"

namespace penstock {

Descriptor netcdf4_descriptor();

namespace netcdf4 {
namespace {

// Its calls take one box, packed in memory.
constexpr PortionLimits limits{.boxes = 1};

// One call. PORTION null: this rank takes part without elements.
Status move_portion(const EngineJob& job, const Variable& variable, const Dataset& dataset, const Portion* portion,
                    Direction direction) {
  static std::byte nothing;
  size_t start[max_rank + 1] = {}, count[max_rank + 1] = {};
  const int64_t size = bytes(dataset.type);
  std::vector<std::byte> buffer;
  std::byte* data = &nothing;
  const Status ready = guarded([&]() -> Status {
    if (portion == nullptr) return {};
    data = portion->packed;
    if (data == nullptr) {
      buffer.resize(static_cast<size_t>(portion->count * size));
      data = buffer.data();
      const PhaseTimer timer(*job.phases, Phase::pack);
      if (direction == Direction::write) copy(*portion, size, data, direction);
    }
    const Box box = boxes_of(*portion).front();
    std::copy(box.start.begin(), box.start.end(), start);
    std::copy(box.count.begin(), box.count.end(), count);
    if (dataset.type.kind == Kind::text) count[dataset.shape.rank()] = static_cast<size_t>(dataset.type.text_bytes);
    return {};
  });
  const bool writes = direction == Direction::write;
  int error = NC_NOERR;
  {
    const PhaseTimer timer(*job.phases, writes ? Phase::write : Phase::read);
    error = writes ? nc_put_vara(variable.group, variable.id, start, count, data)
                   : nc_get_vara(variable.group, variable.id, start, count, data);
  }
  PENSTOCK_TRY(ready);
  PENSTOCK_TRY(check(error, writes ? "nc_put_vara" : "nc_get_vara"));
  if (writes || portion == nullptr || buffer.empty()) return {};
  const PhaseTimer timer(*job.phases, Phase::pack);
  copy(*portion, size, data, direction);
  return {};
}

// A scalar has no call without elements: the rank that has it moves it alone.
bool is_collective(const Dataset& dataset, const Settings& settings, IoLibrary library, Direction direction) {
  if (direction == Direction::read && library == IoLibrary::ompio) return false;
  return dataset.shape.rank() > 0 && (dataset.unlimited || settings.word("mode") == "collective");
}

Status move_dataset(const EngineJob& job, const Settings& settings, IoLibrary library, size_t at,
                    const Variable& variable, int64_t rounds, Direction direction) {
  const Dataset& dataset = job.dataset(at);
  const bool collective = is_collective(dataset, settings, library, direction);
  Status failure = check(nc_var_par_access(variable.group, variable.id, collective ? NC_COLLECTIVE : NC_INDEPENDENT),
                         "nc_var_par_access");
  std::vector<Portion> portions;
  const Status cut = guarded([&] {
    portions = portions_of(job, at, limits);
    return Status();
  });
  if (failure.ok()) failure = cut;
  const auto calls = collective ? static_cast<size_t>(rounds) : portions.size();
  for (size_t round = 0; round < calls; ++round) {
    const Portion* portion = round < portions.size() ? &portions[round] : nullptr;
    const Status moved = move_portion(job, variable, dataset, portion, direction);
    if (failure.ok()) failure = moved;
  }
  return failure.in("dataset '" + dataset.name + "'");
}

Status move(const EngineJob& job, const Settings& settings, IoLibrary library, const std::vector<Variable>& variables,
            Direction direction) {
  PENSTOCK_ASSIGN(const auto rounds, rounds_of(job, limits));
  Status failure;
  for (size_t at = 0; at < job.datasets.size(); ++at) {
    if (elements(job.dataset(at).shape) == 0) continue;
    const Status moved = move_dataset(job, settings, library, at, variables[at], rounds[at], direction);
    if (failure.ok()) failure = moved;
  }
  return agree(job.comm, failure);
}

Status fill(const EngineJob& job, const Settings& settings, IoLibrary library, const std::vector<Dims>& chunks,
            File& file) {
  int64_t total = 0;
  for (const Dataset& dataset : job.catalogue.datasets) total += bytes(dataset);
  {
    const PhaseTimer timer(*job.phases, Phase::define);
    PENSTOCK_TRY(agree(job.comm, guarded([&]() -> Status {
                         PENSTOCK_TRY(file.define(job.catalogue, chunks));
                         if (!settings.boolean("preallocate") || job.comm->rank() != 0) return {};
                         return reserve(job.path, total);
                       })));
  }
  PENSTOCK_TRY(move(job, settings, library, file.variables(), Direction::write));
  if (!job.sync) return {};
  const PhaseTimer timer(*job.phases, Phase::sync);
  return check(nc_sync(file.id()), "nc_sync");
}

// The library does not report the effect of hints.
void say_of_hints(const EngineJob& job, IoLibrary library) {
  if (job.hints_outcome == nullptr || job.hints.empty()) return;
  judge_hints(job.hints, job.hints, library, *job.comm, *job.hints_outcome);
  job.hints_outcome->effective.clear();
  job.hints_outcome->warnings.emplace_back(
      "hints were passed on, but netCDF-4 does not tell what became of them: see 'penstock hints'");
}

Status write(const EngineJob& job, const Settings& settings) {
  if (job.partial)
    return {Code::unsupported,
            "netcdf4 cannot promise zeros where nothing is put: put every element, or use phdf5 or pnetcdf"};
  PENSTOCK_ASSIGN(const auto blocks, largest_blocks(job));
  File file;
  PENSTOCK_ASSIGN(const Hints hints, hints_for_writing(job.comm, job.hints, job.hints_outcome));
  PENSTOCK_TRY(agree(job.comm, file.create(job, hints)));
  const IoLibrary library = io_library_of(job.comm, job.path);
  say_of_hints(job, library);
  Status status = guarded([&] { return fill(job, settings, library, blocks, file); });
  const PhaseTimer timer(*job.phases, Phase::write);
  const Status closed = file.close();
  return status.ok() ? closed : status;
}

Status read(const EngineJob& job, const Settings& settings) {
  File file;
  PENSTOCK_TRY(agree(job.comm, file.open(job)));
  const IoLibrary library = io_library_of(job.comm, job.path);
  say_of_hints(job, library);
  if (settings.word("mode") == "collective" && library == IoLibrary::ompio) warn_of_ompio(job.hints_outcome);
  std::vector<Variable> variables;
  Status status = agree(job.comm, guarded([&]() -> Status {
                          for (size_t at = 0; at < job.datasets.size(); ++at) {
                            PENSTOCK_ASSIGN(const Variable found, file.find(job.dataset(at)));
                            variables.push_back(found);
                          }
                          return {};
                        }));
  if (status.ok()) status = move(job, settings, library, variables, Direction::read);
  const Status closed = file.close();
  return status.ok() ? closed : status;
}

class Netcdf4 final : public Engine {
 public:
  const Descriptor& describe() const override {
    static const Descriptor descriptor = netcdf4_descriptor();
    return descriptor;
  }
  std::string_view format() const override { return "hdf5"; }
  std::string_view extension() const override { return "nc"; }
  Status check(const Catalogue& catalogue, const Settings&) const override { return check_definitions(catalogue); }
  Status write(const EngineJob& job, const Settings& settings) const override {
    const hdf5::QuietErrors quiet;
    PENSTOCK_TRY(mpi_running());
    PENSTOCK_TRY(check_hints(job.hints));
    return netcdf4::write(job, settings);
  }
  Status read(const EngineJob& job, const Settings& settings) const override {
    const hdf5::QuietErrors quiet;
    PENSTOCK_TRY(mpi_running());
    PENSTOCK_TRY(check_hints(job.hints));
    return netcdf4::read(job, settings);
  }
};

}  // namespace
}  // namespace netcdf4

const Engine& netcdf4_engine() {
  static const netcdf4::Netcdf4 engine;
  return engine;
}

}  // namespace penstock
