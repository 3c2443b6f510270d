// EngineMethod: a third-party library does all of the work; checks come before and after it.
#include <sys/statvfs.h>

#include <algorithm>

#include <fmt/format.h>

#include "core/base/guarded.hpp"
#include "core/base/units.hpp"
#include "core/comm/calling.hpp"
#include "core/engine/engine.hpp"
#include "core/engine/reserve.hpp"
#include "core/format/format.hpp"
#include "core/integrity/files.hpp"
#include "core/model/checksums.hpp"
#include "core/session/method.hpp"
#include "core/session/supply.hpp"
#include "core/session/writing.hpp"
#include "core/storage/target.hpp"

namespace penstock {
namespace {

// Some MPI-IO libraries hang, or report success, on a full disk, so it is checked in advance.
Status check_space(const std::string& path, int64_t bytes) {
  const std::string folder = folder_of(path).empty() ? "." : folder_of(path);
  struct statvfs info = {};
  if (::statvfs(folder.c_str(), &info) != 0) return {};  // unknown free space is accepted
  const int64_t free = static_cast<int64_t>(info.f_bavail) * static_cast<int64_t>(info.f_frsize);
  if (free >= bytes) return {};
  return {Code::no_space,
          fmt::format("'{}' has {} free, {} are to be written", folder, format_bytes(free), format_bytes(bytes))};
}

Status same_catalogue(const Catalogue& meant, const Catalogue& found, std::string_view engine) {
  for (const Dataset& dataset : meant.datasets) {
    if (dataset.name == record_name) continue;
    const Dataset* there = found.find(dataset.name);
    if (there == nullptr)
      return {Code::io, fmt::format("engine '{}' reported success, but '{}' is not in the file", engine, dataset.name)};
    if (there->type != dataset.type || !(there->shape == dataset.shape))
      return {Code::io,
              fmt::format("engine '{}' made {} of '{}' {}", engine, describe(*there), dataset.name, describe(dataset))};
  }
  return {};
}

// The first unwritten byte of a dataset in the one file of CONTENTS; -1 if there is none.
int64_t find_hole(const Contents& contents, std::string& dataset) {
  for (size_t d = 0; d < contents.blocks.size() && contents.parts.size() == 1; ++d) {
    const Dataset& here = contents.catalogue.datasets[d];
    if (contents.foreign[d]) continue;
    for (const StoredBlock& block : contents.blocks[d]) {
      const int64_t end = block.base + span_bytes(block, bytes(here.type));
      const int64_t hole = first_hole(contents.parts[0], block.base, end);
      if (hole < 0) continue;
      dataset = here.name;
      return hole;
    }
  }
  return -1;
}

// Syncs the files of a folder that this rank wrote, and the folder.
Status sync_written(Storage& storage, const std::string& path) {
  const auto info = storage.stat(path);
  if (!info.ok()) return {};  // this rank wrote nothing
  if (!info->directory) {
    PENSTOCK_ASSIGN(auto file, storage.open(path, Io::buffered, true));
    PENSTOCK_TRY(file->sync());
    return file->close();
  }
  PENSTOCK_ASSIGN(const auto names, storage.list(path));
  for (const std::string& name : names)
    if (name != "." && name != "..") PENSTOCK_TRY(sync_written(storage, path + "/" + name));
  return storage.sync_directory(path + "/");
}

class EngineMethod final : public Method {
 public:
  EngineMethod(const Plan& plan, const Engine& engine)
      : Method({.format = engine.format().empty() ? engine.describe().name : engine.format(),
                .writer = engine.describe().name,
                .extension = engine.extension(),
                .master_extension = engine.extension(),
                .convention = engine.convention(),
                .hints = engine.describe().hints,
                .folders = engine.format().empty(),
                .at_once = true}),
        settings_(plan.settings),
        engine_(engine) {}

  bool may_replace(const std::string& path) const override { return engine_.recognises(path); }
  Status check(const Catalogue& catalogue) const override { return engine_.check(catalogue, settings_); }

  Status check_keep() const override {
    return {Code::unsupported,
            fmt::format("engine '{}' writes files anew: name a transport to change or copy one", facts().writer)};
  }

  Status check_format(std::string_view format) const override {
    if (format == facts().format) return {};
    return {Code::mismatch, fmt::format("it is {}, the plan says {}: name another plan", format, facts().format)};
  }

  Status begin(File::State& state, Writing& writing) const override;
  Status complete(File::State& state, Writing& writing) const override;
  Status read(File::State& state, const Resolved& resolved) const override;

 private:
  // Collective. Whether the engine can write CATALOGUE of BYTES to PATH. Same status on all ranks.
  Status check_before(File::State& state, const Catalogue& catalogue, const std::string& path, int64_t bytes) const;
  // Collective inside the engine's library; returns this rank's own status.
  Status write(File::State& state, Problem problem) const;
  // Collective. Reads the file that the engine wrote to PATH, and checks that it is complete and has the intended
  // contents.
  Result<Contents> check_written(File::State& state, const Catalogue& catalogue, const std::string& path) const;
  // Collective, after the record is written. If a dataset has a hole, which the library should have filled, compares
  // all data with the checksums.
  Status check_stored(File::State& state, const Contents& contents, const std::string& path) const;

  const Settings& settings_;
  const Engine& engine_;
};

Status EngineMethod::check_before(File::State& state, const Catalogue& catalogue, const std::string& path,
                                  int64_t bytes) const {
  PENSTOCK_TRY(agree(state.target.comm, guarded([&] { return engine_.check(catalogue, settings_); })));
  return agree(state.target.comm, state.target.comm->rank() == 0 ? check_space(path, bytes) : Status());
}

Status EngineMethod::write(File::State& state, Problem problem) const {
  PENSTOCK_TRY(guarded([&] { return engine_.write(problem, settings_); }));
  if (!state.target.durable) return {};
  PhaseTimer timer(*problem.phases, Phase::sync);
  return sync_written(*state.target.storage, problem.path);
}

Result<Contents> EngineMethod::check_written(File::State& state, const Catalogue& catalogue,
                                             const std::string& path) const {
  PENSTOCK_ASSIGN(Contents contents, read_contents(state.target.comm, *state.target.storage, path));
  PENSTOCK_TRY(same_catalogue(catalogue, contents.catalogue, facts().writer));
  return contents;
}

Status EngineMethod::check_stored(File::State& state, const Contents& contents, const std::string& path) const {
  if (state.partial) return {};
  std::string dataset;
  int64_t hole = state.target.comm->rank() == 0 ? find_hole(contents, dataset) : -1;
  PENSTOCK_TRY(state.target.comm->all_reduce_max(std::span(&hole, 1)));
  if (hole < 0) return {};
  PENSTOCK_ASSIGN(File file, File::open_to_check(state.target.comm, path));
  const auto found = file.verify();
  (void)file.close();
  const std::string text = fmt::format("engine '{}' reported success, but nothing was stored at byte {} of '{}'",
                                       facts().writer, hole, path);
  if (found.ok() && found->damages.empty()) return {};  // zeros, which the file system does not store
  if (found.ok()) return {Code::io, fmt::format("{}: {}", text, found->damages[0].what)};
  if (found.status().code() != Code::not_found) return found.status().in(text);
  state.report.warnings.push_back(text + ": zeros, or data that are lost; without checksums it cannot be told");
  return {};
}

Status EngineMethod::begin(File::State& state, Writing& writing) const {
  if (state.file) PENSTOCK_TRY(check_keep());
  Problem problem;
  problem.path = writing.output.partial = partial_path(state.target);
  problem.catalogue = writing.target.catalogue;
  problem.comm = writing.comm;
  problem.partial = state.partial;
  problem.sync = state.target.durable;
  problem.hints = state.hints;
  problem.phases = &writing.phases;
  problem.hints_outcome = &writing.hints_outcome;
  problem.supplied = &writing.supplied;
  writing.output.placed.contents.catalogue = problem.catalogue;
  if (state.supplied && writing.sums.wanted) PENSTOCK_TRY(supply(state, writing));
  PENSTOCK_TRY(sum_now(state, writing));
  problem.claims = by_dataset(writing.resolved.claims);
  int64_t total = 0;
  for (size_t d = 0; d < problem.catalogue.datasets.size(); ++d) {
    problem.datasets.push_back(static_cast<int>(d));
    total += bytes(problem.catalogue.datasets[d]);
  }
  PENSTOCK_TRY(check_before(state, problem.catalogue, problem.path, total));
  if (state.target.comm->rank() == 0) writing.output.created.push_back(problem.path);
  writing.communicates = true;
  writing.mover = std::make_unique<Mover>([this, &state, &writing, problem = std::move(problem)]() mutable {
    PENSTOCK_TRY(write(state, std::move(problem)));
    return writing.supplied;
  });
  return {};
}

Status EngineMethod::complete(File::State& state, Writing& writing) const {
  PENSTOCK_ASSIGN(Contents contents, check_written(state, writing.target.catalogue, writing.output.partial));
  const bool root = state.target.comm->rank() == 0;
  PENSTOCK_TRY(agree(state.target.comm, root ? guarded([&] { return place_record(state, writing); }) : Status()));
  PENSTOCK_TRY(check_stored(state, contents, writing.output.partial));
  PENSTOCK_TRY(publish_together(state.target.comm,
                                [&] { return publish(state.target, writing.output, state.report.warnings); }));
  writing.output.placed.contents = std::move(contents);
  return {};
}

Status EngineMethod::read(File::State& state, const Resolved& resolved) const {
  Problem problem;
  problem.comm = state.target.comm;
  problem.path = state.target.path;
  problem.hints = state.hints;
  problem.phases = &state.report.phases;
  HintsOutcome outcome;
  problem.hints_outcome = &outcome;
  for (const Dataset& dataset : resolved.catalogue.datasets) {
    problem.datasets.push_back(static_cast<int>(problem.catalogue.datasets.size()));
    problem.catalogue.datasets.push_back(*state.file->contents.catalogue.find(dataset.name));
  }
  problem.claims = by_dataset(resolved.claims);
  const Status status = guarded([&] { return engine_.read(problem, settings_); });
  state.report.hints = outcome.effective;
  state.report.warnings.insert(state.report.warnings.end(), outcome.warnings.begin(), outcome.warnings.end());
  state.report.writers = 1;
  return agree(state.target.comm, status);
}

}  // namespace

std::unique_ptr<Method> engine_method(const Plan& plan, const Engine& engine) {
  return std::make_unique<EngineMethod>(plan, engine);
}

}  // namespace penstock
