// OwnMethod: a format, a placement and a transport of ours.
#include <algorithm>

#include <fmt/format.h>

#include "core/access/decoded.hpp"
#include "core/access/here.hpp"
#include "core/base/guarded.hpp"
#include "core/comm/calling.hpp"
#include "core/comm/share.hpp"
#include "core/commit/keep.hpp"
#include "core/commit/method.hpp"
#include "core/commit/moving.hpp"
#include "core/commit/supply.hpp"
#include "core/format/format.hpp"
#include "core/integrity/files.hpp"
#include "core/integrity/parity.hpp"
#include "core/methods/methods.hpp"
#include "core/model/tiles.hpp"

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

  Status begin(Opened& file, Moving& moving) const override;
  Status complete(Opened& file, Moving& moving) const override;
  Status read(Opened& file, std::span<const Dataset> datasets, std::span<const Claim> claims) const override;

 private:
  // Collective. Makes the file for chunks that are written ahead: see MakeAhead.
  Result<std::optional<AheadFile>> make_ahead(const Target& target, Moving& moving,
                                              std::span<const Encoding> encodings) const;
  // Whether that may be, by what all ranks know.
  bool may_write_ahead(const Target& target, const Moving& moving) const;
  // Collective. After a failure the output's list of created files has those to remove.
  Status place(const Target& target, Moving& moving) const;
  // Same status on all ranks. The method completes JOB except for what is in it.
  Result<std::unique_ptr<Transfer>> begin_transfer(const Target& target, const Hints& hints, Job& job) const;

  const Plan& plan_;
  const Format& format_;
  const Placement& placement_;
  const Transport& transport_;
};

// The files of a commit, created by this rank in the name of OUTPUT.
class OurFiles final : public NewFiles {
 public:
  // AHEAD: the file that was made before; null: none.
  OurFiles(const Target& target, const Settings& settings, Output& output, const AheadFile* ahead = nullptr)
      : target_(target), settings_(settings), output_(output), ahead_(ahead) {}

  std::string whole() const override { return output_.partial; }
  std::string part(std::string_view label) const override { return part_path(target_, label); }

  Io wanted(int64_t bytes) const override {
    const std::string_view word = io_word();
    if (word != "auto") return parse_io(word);
    return target_.durable && bytes >= min_direct_file ? Io::direct : Io::buffered;
  }

  Status create(const std::string& path, int64_t bytes, Io& io) override {
    if (ahead_ != nullptr && ahead_->path == path) {
      io = ahead_->io;
      return target_.storage->truncate(path, bytes);
    }
    return create(path, bytes, target_.preallocate, io);
  }

  Status create(const std::string& path, int64_t bytes, bool preallocate, Io& io) {
    auto file = target_.storage->create(path, bytes, io, preallocate);
    if (!file.ok() && file.status().code() == Code::unsupported && io_word() == "auto") {
      io = Io::buffered;
      file = target_.storage->create(path, bytes, io, preallocate);
    }
    if (!file.ok()) return file.status();
    output_.created.push_back(path);
    return (*file)->close();
  }

 private:
  // "" for transports that do not call the file system themselves.
  std::string_view io_word() const {
    const auto found = settings_.all().find("io");
    return found == settings_.all().end() ? std::string_view() : found->second;
  }

  const Target& target_;
  const Settings& settings_;
  Output& output_;
  const AheadFile* ahead_;
};

Status create_master(const Target& target, Output& output) {
  PENSTOCK_ASSIGN(auto file, target.storage->create(output.partial, 0, Io::buffered, false));
  output.created.push_back(output.partial);
  return file->close();
}

bool OwnMethod::may_write_ahead(const Target& target, const Moving& moving) const {
  return !moving.background && !target.parity && placement_.one_file() && transport_.lets_write_ahead(plan_.settings);
}

// ENCODINGS with all chunks, as large as they are before they are encoded: no file needs more before its first chunk.
std::vector<Encoding> with_all_chunks(std::span<const Encoding> encodings, const Catalogue& catalogue) {
  std::vector<Encoding> full(encodings.begin(), encodings.end());
  for (size_t d = 0; d < full.size(); ++d) {
    if (!full[d].used()) continue;
    const Tiles tiles(catalogue.datasets[d], full[d].chunk, 0);
    for (int64_t i = 0; i < tiles.count(); ++i) full[d].chunks.push_back({i, i * tiles.bytes(), tiles.bytes()});
    full[d].bytes = tiles.count() * tiles.bytes();
  }
  return full;
}

Result<std::optional<AheadFile>> OwnMethod::make_ahead(const Target& target, Moving& moving,
                                                       std::span<const Encoding> encodings) const {
  const Catalogue& catalogue = moving.contents.catalogue;
  int64_t all = 0;
  for (size_t d = 0; d < encodings.size(); ++d)
    if (encodings[d].used()) all += bytes(catalogue.datasets[d]);
  if (all < least_ahead(target.comm->size())) return std::optional<AheadFile>();
  Output& output = moving.output;
  output.partial = partial_path(target);
  AheadFile file{format_.self_contained() ? output.partial : part_path(target, ""), {}, -1, 0};
  PENSTOCK_ASSIGN(const auto message, from_rank_0(target.comm, [&](Encoder& out) -> Status {
                    const std::vector<Encoding> full = with_all_chunks(encodings, catalogue);
                    const auto layout = format_.layout(catalogue, {plan_.settings.integer("block"), full});
                    if (layout.ok()) {
                      file.begin = layout->end;
                      for (size_t d = 0; d < full.size(); ++d)
                        if (full[d].used() && full[d].bytes > 0)
                          file.begin = std::min(file.begin, layout->blocks[d].base);
                      OurFiles files(target, plan_.settings, output);
                      file.io = files.wanted(layout->end);
                      const Status created = files.create(file.path, layout->end, false, file.io);
                      if (!created.ok()) file.begin = -1;
                    }
                    out.value(file.begin);  // -1: the file's true size may fit where this does not
                    out.value(file.io);
                    return {};
                  }));
  Decoder in(message);
  file.begin = file.end = in.value<int64_t>();
  file.io = in.value<Io>();
  return file.begin >= 0 ? std::optional(file) : std::nullopt;
}

Status OwnMethod::place(const Target& target, Moving& moving) const {
  Output& output = moving.output;
  NewContents& contents = moving.contents;
  const Encoded& encoded = moving.encoded;
  output.partial = partial_path(target);
  if (target.set) PENSTOCK_TRY(agree(target.comm, target.comm->rank() == 0 ? create_master(target, output) : Status()));
  OurFiles files(target, plan_.settings, output, encoded.ahead ? &*encoded.ahead : nullptr);
  const Extent written =
      encoded.ahead ? Extent{0, encoded.ahead->begin, encoded.ahead->end - encoded.ahead->begin} : Extent();
  const Slots slots = placement_.rank_order() ? transport_.slots(plan_.settings) : Slots();
  PENSTOCK_ASSIGN(output.placed, placement_.place({target.comm, &format_, &plan_.settings, &contents.catalogue,
                                                   encoded.used() ? encoded.claims : contents.claims, slots,
                                                   contents.options.supplied, encoded.encodings, written, &files}));
  output.placed.contents.generation = fmt::format("{:016x}", target.token);
  output.placed.contents.catalogue = std::move(contents.catalogue);
  return {};
}

Result<std::unique_ptr<Transfer>> OwnMethod::begin_transfer(const Target& target, const Hints& hints, Job& job) const {
  job.files = target.storage;
  job.hints = hints;
  job.block = plan_.settings.integer("block");
  auto transfer = transport_.begin(job, plan_.settings);
  PENSTOCK_TRY(agree(target.comm, transfer.status()));
  return transfer;
}

// Syncs the parts that this rank wrote.
Status sync_parts(const Target& target, const Output& output) {
  if (!target.durable) return {};
  for (const Part& part : output.placed.parts) PENSTOCK_TRY(sync_file(*target.storage, part.path));
  return {};
}

// Collective. Where the movement reaches a node anyway, its sync is enough: that of rank 0, which has the metadata.
Status sync_ahead(const Target& target, const AheadFile& file) {
  const Communicator& comm = target.comm;
  if (!target.durable || comm->node_size() == comm->size()) return {};
  return agree(comm, comm->node_rank() == 0 ? sync_file(*target.storage, file.path) : Status());
}

Job write_job(const Target& target, Moving& moving, bool keep) {
  Placed& placed = moving.output.placed;
  Job job;
  job.comm = moving.comm;
  job.direction = Direction::write;
  job.parts = placed.parts;
  job.pieces = std::move(placed.pieces);
  job.whole = std::move(placed.whole);
  job.keep = keep;
  if (moving.encoded.ahead) {  // nothing else is to be touched
    job.keep = true;
    job.bridge = direct_alignment;
  }
  job.disjoint = !keep && !moving.contents.options.partial;  // as proved for the tiling
  job.sync = target.durable;
  job.io = placed.io;
  job.phases = &moving.phases;
  job.hints_outcome = &moving.hints_outcome;
  return job;
}

// Creates the files, carries over what is kept, and starts the movement.
Status OwnMethod::begin(Opened& file, Moving& moving) const {
  const Target& target = file.target;
  NewContents& contents = moving.contents;
  moving.known = !target.set;
  std::vector<int64_t> kept = file.file ? contents.kept : std::vector<int64_t>(contents.kept.size(), 0);
  const auto any_kept = [&] { return std::ranges::any_of(kept, [](int64_t n) { return n > 0; }); };
  PENSTOCK_TRY(check_files(file));
  if (any_kept()) {
    PhaseTimer timer(file.report.phases, Phase::define);
    PENSTOCK_TRY(file.method->check_keep());
    PENSTOCK_TRY(check_whole(target, *file.file));
  }
  const MakeAhead make = [&](std::span<const Encoding> encodings) { return make_ahead(target, moving, encodings); };
  PENSTOCK_ASSIGN(moving.encoded,
                  encode_datasets(file, contents, may_write_ahead(target, moving) ? make : MakeAhead()));
  if (moving.encoded.ahead) PENSTOCK_TRY(sync_ahead(target, *moving.encoded.ahead));
  for (size_t d = 0; d < moving.encoded.encodings.size(); ++d)
    if (moving.encoded.encodings[d].used()) kept[d] = 0;                     // it was encoded
  const bool keep = any_kept(), before = keep || contents.options.supplied;  // written before the transport moves
  {
    PhaseTimer timer(file.report.phases, Phase::define);
    PENSTOCK_TRY(place(target, moving));
  }
  if (keep) {
    PhaseTimer timer(file.report.phases, Phase::write);
    int64_t& peak = file.report.memory_peak;
    PENSTOCK_TRY(agree(target.comm, guarded([&] { return carry(target, *file.file, kept, moving.output, peak); })));
  }
  if (contents.options.supplied) PENSTOCK_TRY(supply(target, moving, file.report));  // over what was carried
  if (contents.sums.early) {
    PhaseTimer timer(file.report.phases, Phase::define);
    start_sums(target, moving, false);
    PENSTOCK_TRY(add_up_sums(target, file.published(), moving));
  }
  if (before) PENSTOCK_TRY(agree(target.comm, guarded([&] { return sync_parts(target, moving.output); })));
  moving.job = write_job(target, moving, before);
  PENSTOCK_ASSIGN(auto transfer, begin_transfer(target, file.hints, moving.job));
  moving.mover = std::make_unique<Mover>(std::move(transfer));
  return {};
}

// Rank 0. Blocks in slots are where the file pointer happened to be.
Status place_slots(const Slots& slots, Moving& moving) {
  Output& output = moving.output;
  if (output.placed.in_slot.empty()) return {};
  const std::vector<int64_t> order = moving.mover->moved().slot_order;
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

Status OwnMethod::complete(Opened& file, Moving& moving) const {
  Target& target = file.target;
  if (!moving.contents.sums.early) PENSTOCK_TRY(add_up_sums(target, file.published(), moving));
  // Only rank 0 has work left on files that all ranks share.
  const bool by_root = !placement_.own_files() && !target.parity;
  const auto finish = [&] {
    PENSTOCK_TRY(place_slots(transport_.slots(plan_.settings), moving));
    return cut_parts(target, moving.output);
  };
  if (!by_root) PENSTOCK_TRY(agree(target.comm, finish()));
  PENSTOCK_TRY(write_parity(target, moving.output));
  if (target.parity) file.report.memory_peak = std::max(file.report.memory_peak, 2 * combine_window(target));
  return publish_together(target.comm, [&] {
    if (by_root) PENSTOCK_TRY(finish());
    PENSTOCK_TRY(place_record(target, moving));
    return publish(target, moving.output, file.report.warnings);
  });
}

// Plain data in parts moves by the transport; what only the format's library can read is decoded by some ranks for all.
Status OwnMethod::read(Opened& file, std::span<const Dataset> datasets, std::span<const Claim> claims) const {
  const Target& target = file.target;
  const Contents& contents = file.file->contents;
  Report& report = file.report;
  Job job;
  job.direction = Direction::read;
  job.comm = target.comm;
  std::vector<int> asked;
  for (const Dataset& dataset : datasets) asked.push_back(contents.catalogue.index_of(dataset.name));
  job.parts = parts_of(contents, asked, plan_.settings.integer("block"));
  const auto is_foreign = [&](int index) { return contents.foreign[static_cast<size_t>(index)]; };
  for (const Claim& claim : claims)
    if (const int index = asked[static_cast<size_t>(claim.dataset)]; !is_foreign(index))
      add_pieces(contents, job.parts, index, claim, job.pieces);
  for (const int index : asked) {
    const auto d = static_cast<size_t>(index);
    if (!is_foreign(index)) add_whole(contents.blocks[d], job.parts, contents.catalogue.datasets[d].type, job.whole);
  }
  Moved decoded;
  if (std::ranges::any_of(asked, is_foreign)) {
    auto moved = read_decoded(target.comm, contents, file.file->path, asked, claims, report.phases);
    PENSTOCK_TRY(agree(target.comm, moved.status()));
    decoded = *std::move(moved);
  }
  job.phases = &report.phases;
  HintsOutcome outcome;
  job.hints_outcome = &outcome;
  PENSTOCK_ASSIGN(const auto transfer, begin_transfer(target, file.hints, job));
  const Status status = transfer->finish();
  report_moved(transfer->moved(), report);
  report.memory_peak = std::max(report.memory_peak, decoded.memory_peak);
  report.writers = std::max<int64_t>(report.writers, decoded.touched_files ? 1 : 0);
  report_hints(outcome, report);
  return agree(target.comm, status);
}

}  // namespace

std::unique_ptr<Method> own_method(const Plan& plan) {
  return std::make_unique<OwnMethod>(plan, *find_format(plan.format), *find_placement(plan.placement),
                                     *find_transport(plan.transport));
}

}  // namespace penstock
