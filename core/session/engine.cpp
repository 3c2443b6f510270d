// Engines in a session: checks before and after a third-party library's work.
#include <sys/statvfs.h>

#include <algorithm>

#include <fmt/format.h>

#include "core/base/guarded.hpp"
#include "core/base/units.hpp"
#include "core/engine/reserve.hpp"
#include "core/model/checksums.hpp"
#include "core/session/state.hpp"
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

}  // namespace

Status check_engine(File::State& state, const Catalogue& catalogue, const std::string& path, int64_t bytes) {
  PENSTOCK_TRY(agree(state.comm, guarded([&] { return state.engine->check(catalogue, state.plan.settings); })));
  return agree(state.comm, state.comm->rank() == 0 ? check_space(path, bytes) : Status());
}

Status engine_write(File::State& state, Problem problem) {
  PENSTOCK_TRY(guarded([&] { return state.engine->write(problem, state.plan.settings); }));
  if (!state.durable()) return {};
  PhaseTimer timer(*problem.phases, Phase::sync);
  return sync_written(*state.storage, problem.path);
}

Result<Contents> check_written(File::State& state, const Catalogue& catalogue, const std::string& path) {
  PENSTOCK_ASSIGN(Contents contents, read_contents(state.comm, *state.storage, path));
  PENSTOCK_TRY(same_catalogue(catalogue, contents.catalogue, state.plan.engine));
  return contents;
}

Status check_stored(File::State& state, const Contents& contents, const std::string& path) {
  if (state.partial) return {};
  std::string dataset;
  int64_t hole = state.comm->rank() == 0 ? find_hole(contents, dataset) : -1;
  PENSTOCK_TRY(state.comm->all_reduce_max(std::span(&hole, 1)));
  if (hole < 0) return {};
  PENSTOCK_ASSIGN(File file, File::open_to_check(state.comm, path));
  const auto found = file.verify();
  (void)file.close();
  const std::string text = fmt::format("engine '{}' reported success, but nothing was stored at byte {} of '{}'",
                                       state.plan.engine, hole, path);
  if (found.ok() && found->damages.empty()) return {};  // zeros, which the file system does not store
  if (found.ok()) return {Code::io, fmt::format("{}: {}", text, found->damages[0].what)};
  if (found.status().code() != Code::not_found) return found.status().in(text);
  state.report.warnings.push_back(text + ": zeros, or data that are lost; without checksums it cannot be told");
  return {};
}

Status engine_read(File::State& state, const Resolved& resolved) {
  Problem problem;
  problem.comm = state.comm;
  problem.path = state.path;
  problem.hints = state.hints;
  problem.phases = &state.report.phases;
  HintsOutcome outcome;
  problem.hints_outcome = &outcome;
  for (const Dataset& dataset : resolved.catalogue.datasets) {
    problem.datasets.push_back(static_cast<int>(problem.catalogue.datasets.size()));
    problem.catalogue.datasets.push_back(*state.contents->catalogue.find(dataset.name));
  }
  problem.claims = by_dataset(resolved.claims);
  const Status status = guarded([&] { return state.engine->read(problem, state.plan.settings); });
  state.report.hints = outcome.effective;
  state.report.warnings.insert(state.report.warnings.end(), outcome.warnings.begin(), outcome.warnings.end());
  state.report.writers = 1;
  return agree(state.comm, status);
}

}  // namespace penstock
