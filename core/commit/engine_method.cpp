// EngineMethod: a third-party library does all of the work; checks come before and after it.
#include <sys/statvfs.h>

#include <algorithm>

#include <fmt/format.h>

#include "core/access/recognise.hpp"
#include "core/base/guarded.hpp"
#include "core/base/units.hpp"
#include "core/comm/calling.hpp"
#include "core/commit/method.hpp"
#include "core/commit/supply.hpp"
#include "core/engine/engine.hpp"
#include "core/engine/reserve.hpp"
#include "core/format/format.hpp"
#include "core/integrity/files.hpp"
#include "core/integrity/verify.hpp"
#include "core/model/checksums.hpp"
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

  Status begin(Opened& file, Moving& moving) const override;
  Status complete(Opened& file, Moving& moving) const override;
  Status read(Opened& file, std::span<const Dataset> datasets, std::span<const Claim> claims) const override;

 private:
  // Collective. Whether the engine can write CATALOGUE of BYTES to PATH. Same status on all ranks.
  Status check_before(const Target& target, const Catalogue& catalogue, const std::string& path, int64_t bytes) const;
  // Collective inside the engine's library; returns this rank's own status.
  Status write(const Target& target, const EngineJob& job) const;
  // Collective, after the record is written. If a dataset of the file at PATH has a hole, which the library should have
  // filled, compares all data with the checksums.
  Status check_stored(const Target& target, const Contents& contents, const std::string& path, Report& report) const;

  const Settings& settings_;
  const Engine& engine_;
};

Status EngineMethod::check_before(const Target& target, const Catalogue& catalogue, const std::string& path,
                                  int64_t bytes) const {
  PENSTOCK_TRY(agree(target.comm, guarded([&] { return engine_.check(catalogue, settings_); })));
  return agree(target.comm, target.comm->rank() == 0 ? check_space(path, bytes) : Status());
}

Status EngineMethod::write(const Target& target, const EngineJob& job) const {
  PENSTOCK_TRY(guarded([&] { return engine_.write(job, settings_); }));
  if (!target.durable) return {};
  PhaseTimer timer(*job.phases, Phase::sync);
  return sync_written(*target.storage, job.path);
}

Status EngineMethod::check_stored(const Target& target, const Contents& contents, const std::string& path,
                                  Report& report) const {
  std::string dataset;
  int64_t hole = target.comm->rank() == 0 ? find_hole(contents, dataset) : -1;
  PENSTOCK_TRY(target.comm->all_reduce_max(std::span(&hole, 1)));
  if (hole < 0) return {};
  Target there;
  there.comm = target.comm;
  there.storage = target.storage;
  there.path = path;
  there.buffer_bytes = target.buffer_bytes;
  Published written{contents, path};
  const auto found = verify(there, written, {});
  const std::string text = fmt::format("engine '{}' reported success, but nothing was stored at byte {} of '{}'",
                                       facts().writer, hole, path);
  if (found.ok() && found->damages.empty()) return {};  // zeros, which the file system does not store
  if (found.ok()) return {Code::io, fmt::format("{}: {}", text, found->damages[0].what)};
  if (found.status().code() != Code::not_found) return found.status().in(text);
  report.warnings.push_back(text + ": these are zeros or lost data; without checksums they cannot be told apart");
  return {};
}

Status EngineMethod::begin(Opened& file, Moving& moving) const {
  if (file.file) PENSTOCK_TRY(check_keep());
  const Target& target = file.target;
  NewContents& contents = moving.contents;
  Output& output = moving.output;
  output.partial = partial_path(target);
  output.placed.contents.catalogue = std::move(contents.catalogue);
  EngineJob job;
  job.path = output.partial;
  job.catalogue = output.placed.contents.catalogue;
  job.comm = moving.comm;
  job.partial = contents.options.partial;
  job.sync = target.durable;
  job.hints = file.hints;
  job.phases = &moving.phases;
  job.hints_outcome = &moving.hints_outcome;
  job.supplied = &moving.supplied;
  if (contents.options.supplied && contents.sums.wanted) PENSTOCK_TRY(supply(target, moving, file.report));
  start_sums(target, moving, false);
  PENSTOCK_TRY(add_up_sums(target, file.published(), moving));
  job.claims = by_dataset(contents.claims);
  int64_t total = 0;
  for (size_t d = 0; d < job.catalogue.datasets.size(); ++d) {
    job.datasets.push_back(static_cast<int>(d));
    total += bytes(job.catalogue.datasets[d]);
  }
  PENSTOCK_TRY(check_before(target, job.catalogue, job.path, total));
  if (target.comm->rank() == 0) output.created.push_back(job.path);
  moving.mover = std::make_unique<Mover>([this, &target, &moving, job = std::move(job)] {
    PENSTOCK_TRY(write(target, job));
    return moving.supplied;
  });
  return {};
}

Status EngineMethod::complete(Opened& file, Moving& moving) const {
  Target& target = file.target;
  Output& output = moving.output;
  const std::string& path = output.partial;
  PENSTOCK_ASSIGN(Contents written, read_contents(target.comm, *target.storage, path));
  PENSTOCK_TRY(same_catalogue(output.placed.contents.catalogue, written.catalogue, facts().writer));
  const bool root = target.comm->rank() == 0;
  PENSTOCK_TRY(agree(target.comm, root ? guarded([&] { return place_record(target, moving); }) : Status()));
  if (!moving.contents.options.partial) PENSTOCK_TRY(check_stored(target, written, path, file.report));
  PENSTOCK_TRY(publish_together(target.comm, [&] { return publish(target, output, file.report.warnings); }));
  output.placed.contents = std::move(written);
  return {};
}

Status EngineMethod::read(Opened& file, std::span<const Dataset> datasets, std::span<const Claim> claims) const {
  Report& report = file.report;
  EngineJob job;
  job.comm = file.target.comm;
  job.path = file.target.path;
  job.hints = file.hints;
  job.phases = &report.phases;
  HintsOutcome outcome;
  job.hints_outcome = &outcome;
  for (const Dataset& dataset : datasets) {
    job.datasets.push_back(static_cast<int>(job.catalogue.datasets.size()));
    job.catalogue.datasets.push_back(*file.file->contents.catalogue.find(dataset.name));
  }
  job.claims = by_dataset({claims.begin(), claims.end()});
  const Status status = guarded([&] { return engine_.read(job, settings_); });
  report_hints(outcome, report);
  report.writers = 1;
  return agree(file.target.comm, status);
}

}  // namespace

std::unique_ptr<Method> engine_method(const Plan& plan, const Engine& engine) {
  return std::make_unique<EngineMethod>(plan, engine);
}

}  // namespace penstock
