// OwnMethod: a format, a placement and a transport of ours.
#include <algorithm>

#include <fmt/format.h>

#include "core/access/here.hpp"
#include "core/base/guarded.hpp"
#include "core/comm/calling.hpp"
#include "core/format/format.hpp"
#include "core/integrity/files.hpp"
#include "core/integrity/parity.hpp"
#include "core/session/keep.hpp"
#include "core/session/method.hpp"
#include "core/session/supply.hpp"
#include "core/session/writing.hpp"

namespace penstock {
namespace {

class OwnMethod final : public Method {
 public:
  OwnMethod(const Plan& plan, const Format& format, const Placement& placement, const Transport& transport)
      : Method({.format = format.describe().name,
                .writer = format.describe().name,
                .extension = format.extension(),
                .master_extension = format.master_extension(),
                .convention = format.convention(),
                .hints = transport.describe().hints,
                .own_files = placement.own_files()}),
        plan_(plan),
        format_(format),
        placement_(placement),
        transport_(transport) {}

  Status check(const Catalogue& catalogue) const override { return format_.check(catalogue); }

  Status check_keep() const override {
    if (placement_.keeps()) return {};
    return {Code::unsupported,
            fmt::format("with placement={} a file is written anew: change or copy it with placement=single or parts",
                        plan_.placement)};
  }

  Status check_format(std::string_view format) const override {
    if (find_format(format) != nullptr) return {};
    return {Code::unsupported, fmt::format("only engine '{}' reads it: name it as the plan", format)};
  }

  Status begin(File::State& state, Writing& writing) const override;
  Status complete(File::State& state, Writing& writing) const override;
  Status read(File::State& state, const Resolved& resolved) const override;

 private:
  Status place(File::State& state, const Catalogue& catalogue, std::span<const Claim> claims, Output& output) const;
  // Same status on all ranks. The method completes JOB except for what is in it.
  Result<std::unique_ptr<Transfer>> begin_transfer(File::State& state, Job& job) const;

  const Plan& plan_;
  const Format& format_;
  const Placement& placement_;
  const Transport& transport_;
};

constexpr int64_t min_direct = 8 << 20;  // below this, direct writes cost more than they save

// The files of a commit, created by this rank in the name of OUTPUT.
class OurFiles final : public NewFiles {
 public:
  OurFiles(const File::State& state, Output& output) : state_(state), output_(output) {}

  std::string whole() const override { return output_.partial; }
  std::string part(std::string_view label) const override { return part_path(state_.target, label); }

  Io wanted(int64_t bytes) const override {
    const std::string_view word = io_word();
    if (word != "auto") return parse_io(word);
    return state_.target.durable && bytes >= min_direct ? Io::direct : Io::buffered;
  }

  Status create(const std::string& path, int64_t bytes, Io& io) override {
    const bool preallocate = state_.plan.settings.boolean("preallocate");
    auto file = state_.target.storage->create(path, bytes, io, preallocate);
    if (!file.ok() && file.status().code() == Code::unsupported && io_word() == "auto") {
      io = Io::buffered;
      file = state_.target.storage->create(path, bytes, io, preallocate);
    }
    if (!file.ok()) return file.status();
    output_.created.push_back(path);
    return (*file)->close();
  }

 private:
  // "" for transports that do not call the file system themselves.
  std::string_view io_word() const {
    const auto found = state_.plan.settings.all().find("io");
    return found == state_.plan.settings.all().end() ? std::string_view() : found->second;
  }

  const File::State& state_;
  Output& output_;
};

Status create_master(File::State& state, Output& output) {
  PENSTOCK_ASSIGN(auto file, state.target.storage->create(output.partial, 0, Io::buffered, false));
  output.created.push_back(output.partial);
  return file->close();
}

// Collective. Places CATALOGUE and CLAIMS, and creates the files. After a failure OUTPUT.created lists those to remove.
Status OwnMethod::place(File::State& state, const Catalogue& catalogue, std::span<const Claim> claims,
                        Output& output) const {
  output.partial = partial_path(state.target);
  if (state.target.set)
    PENSTOCK_TRY(agree(state.target.comm, state.target.comm->rank() == 0 ? create_master(state, output) : Status()));
  OurFiles files(state, output);
  const Slots slots = placement_.rank_order() ? transport_.slots(plan_.settings) : Slots();
  PENSTOCK_ASSIGN(output.placed, placement_.place({state.target.comm, &format_, &plan_.settings, &catalogue, claims,
                                                   slots, state.supplied, &files}));
  output.placed.contents.generation = fmt::format("{:016x}", state.target.token);
  return {};
}

Result<std::unique_ptr<Transfer>> OwnMethod::begin_transfer(File::State& state, Job& job) const {
  job.storage = state.target.storage;
  job.hints = state.hints;
  job.block = plan_.settings.integer("block");
  auto transfer = transport_.begin(job, plan_.settings);
  PENSTOCK_TRY(agree(state.target.comm, transfer.status()));
  return transfer;
}

// Syncs the parts that this rank wrote.
Status sync_parts(const File::State& state, const Output& output) {
  if (!state.target.durable) return {};
  for (const Part& part : output.placed.parts) {
    PENSTOCK_ASSIGN(auto file, state.target.storage->open(part.path, Io::buffered, true));
    PENSTOCK_TRY(file->sync());
    PENSTOCK_TRY(file->close());
  }
  return {};
}

Job write_job(const File::State& state, Writing& writing, bool keep) {
  Output& output = writing.output;
  Job job;
  job.comm = writing.comm;
  job.direction = Direction::write;
  job.parts = output.placed.parts;
  job.pieces = std::move(output.placed.pieces);
  job.keep = keep;
  job.disjoint = !keep && !state.partial;  // as proved for the tiling
  job.sync = state.target.durable;
  job.io = output.placed.io;
  return job;
}

// Creates the files, carries over what is kept, and starts the movement.
Status OwnMethod::begin(File::State& state, Writing& writing) const {
  NewContents& target = writing.target;
  writing.known = !state.target.set;
  const bool keep = state.file && std::any_of(target.kept.begin(), target.kept.end(), [](int64_t n) { return n > 0; });
  {
    PhaseTimer timer(state.report.phases, Phase::define);
    if (keep) PENSTOCK_TRY(check_carry(state));
    if (keep) PENSTOCK_TRY(check_whole(state));
    PENSTOCK_TRY(place(state, target.catalogue, writing.resolved.claims, writing.output));
    writing.output.placed.contents.catalogue = std::move(target.catalogue);
  }
  if (state.supplied) PENSTOCK_TRY(supply(state, writing));
  if (writing.sums.early) {
    PhaseTimer timer(state.report.phases, Phase::define);
    PENSTOCK_TRY(sum_now(state, writing));
  }
  if (keep) {
    PhaseTimer timer(state.report.phases, Phase::write);
    PENSTOCK_TRY(agree(state.target.comm, guarded([&] { return carry(state, target.kept, writing.output); })));
  }
  if (keep || state.supplied)
    PENSTOCK_TRY(agree(state.target.comm, guarded([&] { return sync_parts(state, writing.output); })));
  writing.job = write_job(state, writing, keep || state.supplied);
  writing.job.phases = &writing.phases;
  writing.job.hints_outcome = &writing.hints_outcome;
  PENSTOCK_ASSIGN(auto transfer, begin_transfer(state, writing.job));
  writing.communicates = transfer->communicates();
  writing.mover = std::make_unique<Mover>(std::move(transfer));
  return {};
}

// Rank 0. Blocks in slots are where the file pointer happened to be.
Status place_slots(const Slots& slots, Writing& writing) {
  Output& output = writing.output;
  if (output.placed.in_slot.empty()) return {};
  const std::vector<int64_t> order = writing.mover->slot_order();
  if (order.size() != output.placed.in_slot.size())
    return {Code::io,
            fmt::format("{} blocks were written, {} are in the file", output.placed.in_slot.size(), order.size())};
  const int64_t slot = slots.header + slots.payload;
  for (size_t s = 0; s < order.size(); ++s) {
    const auto [dataset, block] = output.placed.in_slot[static_cast<size_t>(order[s])];
    output.placed.contents.blocks[dataset][block].base = static_cast<int64_t>(s) * slot + slots.header;
  }
  return {};
}

Status OwnMethod::complete(File::State& state, Writing& writing) const {
  if (!writing.sums.early) PENSTOCK_TRY(add_up_sums(state, writing));
  // Only rank 0 has work left on files that all ranks share.
  const bool by_root = !placement_.own_files() && !state.target.parity;
  const auto finish = [&] {
    PENSTOCK_TRY(place_slots(transport_.slots(plan_.settings), writing));
    return cut_parts(state.target, writing.output);
  };
  if (!by_root) PENSTOCK_TRY(agree(state.target.comm, finish()));
  PENSTOCK_TRY(write_parity(state.target, writing.output));
  if (state.target.parity)
    state.report.memory_peak = std::max(state.report.memory_peak, 2 * combine_window(state.target));
  return publish_together(state.target.comm, [&] {
    if (by_root) PENSTOCK_TRY(finish());
    PENSTOCK_TRY(place_record(state, writing));
    return publish(state.target, writing.output, state.report.warnings);
  });
}

// Plain data in parts moves by the transport; each rank reads the rest through the format's library.
Status OwnMethod::read(File::State& state, const Resolved& resolved) const {
  const Contents& contents = state.file->contents;
  Job job;
  job.direction = Direction::read;
  job.comm = state.target.comm;
  std::vector<int> asked;
  for (const Dataset& dataset : resolved.catalogue.datasets) asked.push_back(contents.catalogue.index_of(dataset.name));
  job.parts = parts_of(contents, asked, state.plan.settings.integer("block"));
  Status foreign;
  for (const Claim& claim : resolved.claims) {
    const int index = asked[static_cast<size_t>(claim.dataset)];
    if (!contents.foreign[static_cast<size_t>(index)]) {
      add_pieces(contents, job.parts, index, claim, job.pieces);
    } else if (foreign.ok()) {
      PhaseTimer timer(state.report.phases, Phase::read);
      foreign = read_foreign(contents, state.file->path, index, claim.selection, claim.memory,
                             std::max<int64_t>(state.target.buffer_bytes, 1 << 20));
    }
  }
  job.phases = &state.report.phases;
  HintsOutcome outcome;
  job.hints_outcome = &outcome;
  PENSTOCK_ASSIGN(const auto transfer, begin_transfer(state, job));
  const Status status = transfer->finish();
  state.report.statistics = transfer->statistics();
  state.report.hints = outcome.effective;
  state.report.warnings.insert(state.report.warnings.end(), outcome.warnings.begin(), outcome.warnings.end());
  state.report.memory_peak = std::max(state.report.memory_peak, transfer->memory_peak());
  state.report.writers = transfer->touched_files() ? 1 : 0;
  PENSTOCK_TRY(agree(state.target.comm, status));
  return agree(state.target.comm, foreign);
}

}  // namespace

std::unique_ptr<Method> own_method(const Plan& plan) {
  return std::make_unique<OwnMethod>(plan, *find_format(plan.format), *find_placement(plan.placement),
                                     *find_transport(plan.transport));
}

}  // namespace penstock
