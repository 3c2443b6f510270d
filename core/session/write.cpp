// Writing: one commit, from what the ranks put to one published file.
#include <algorithm>

#include <fmt/format.h>

#include "core/base/guarded.hpp"
#include "core/session/output.hpp"
#include "core/session/proof.hpp"
#include "core/session/state.hpp"

namespace penstock {
namespace {

constexpr int64_t carry_bytes = 8 << 20;

// What the new file holds, and how much of it the published one already has.
struct Target {
  Catalogue catalogue;
  std::vector<int64_t> kept;  // elements of each dataset that are in the published file
};

Status add_old(const Dataset& old, Catalogue& catalogue) {
  const int index = catalogue.index_of(old.name);
  if (index < 0) {
    const auto at = std::lower_bound(catalogue.datasets.begin(), catalogue.datasets.end(), old,
                                     [](const Dataset& a, const Dataset& b) { return a.name < b.name; });
    catalogue.datasets.insert(at, old);
    return {};
  }
  Dataset& now = catalogue.datasets[static_cast<size_t>(index)];
  Dims shape = now.shape;
  if (old.unlimited && shape.rank() == old.shape.rank() && shape.rank() > 0) shape[0] = old.shape[0];
  if (now.type != old.type || !(shape == old.shape))
    return {Code::mismatch,
            fmt::format("'{}' is {} in the file but put as {}{}", old.name, describe(old), describe(now),
                        old.unlimited ? "" : ": only the first extent of an unlimited dataset can change")};
  if (old.unlimited) now.shape[0] = std::max(now.shape[0], old.shape[0]);
  now.unlimited = now.unlimited || old.unlimited;
  return {};
}

Result<Target> target_of(const File::State& state, const Resolved& resolved) {
  Target target{resolved.catalogue, {}};
  if (state.contents) {
    for (const Dataset& old : state.contents->catalogue.datasets) PENSTOCK_TRY(add_old(old, target.catalogue));
    for (const auto& [object, list] : state.contents->catalogue.attributes)
      target.catalogue.attributes[object].insert(list.begin(), list.end());  // what is set now wins
  }
  for (const Dataset& dataset : target.catalogue.datasets) {
    const Dataset* old = state.contents ? state.contents->catalogue.find(dataset.name) : nullptr;
    target.kept.push_back(old == nullptr ? 0 : elements(old->shape));
  }
  for (const std::string& name : resolved.unlimited) {
    const int index = target.catalogue.index_of(name);
    if (index < 0)
      return Status(Code::invalid, fmt::format("'{}' was declared unlimited, but is not in the file", name));
    Dataset& dataset = target.catalogue.datasets[static_cast<size_t>(index)];
    if (dataset.shape.rank() == 0)
      return Status(Code::invalid, fmt::format("'{}' is a scalar, which cannot be unlimited", name));
    dataset.unlimited = true;
  }
  PENSTOCK_TRY(check_names(target.catalogue));
  PENSTOCK_TRY(state.format->check(target.catalogue));
  return target;
}

// This rank's share of the published data goes to its place in the new file, in bounded pieces.
Status carry(File::State& state, const Target& target, const Output& output) {
  const std::string& path = output.parts[0].path;
  PENSTOCK_ASSIGN(auto file, state.storage->open(path, Io::buffered, true));
  std::vector<std::byte> buffer;
  for (size_t d = 0; d < target.catalogue.datasets.size(); ++d) {
    const Dataset& dataset = target.catalogue.datasets[d];
    const int old = state.contents->catalogue.index_of(dataset.name);
    if (old < 0) continue;
    const auto share = [&](int rank) {
      return static_cast<int64_t>(static_cast<__int128>(target.kept[d]) * rank / state.comm->size());
    };
    const int64_t size = bytes(dataset.type), most = std::max<int64_t>(1, carry_bytes / size);
    const Dims& shape = state.contents->catalogue.datasets[static_cast<size_t>(old)].shape;
    for (int64_t at = share(state.comm->rank()), end = share(state.comm->rank() + 1); at < end; at += most) {
      const Run run{at, std::min(most, end - at)};
      buffer.resize(static_cast<size_t>(run.length * size));
      PENSTOCK_TRY(read_here(*state.contents, state.path, old, Selection::of_runs(shape, std::span(&run, 1)),
                             buffer.data(), state.storage));
      PENSTOCK_TRY(file->write(output.contents.blocks[d][0].base + at * size, buffer));
    }
  }
  if (state.durable()) PENSTOCK_TRY(file->sync());
  return file->close();
}

Status move_data(File::State& state, Output& output, bool keep) {
  Job job;
  job.direction = Direction::write;
  job.parts = output.parts;
  job.pieces = output.pieces;
  job.virtual_bytes = output.virtual_bytes;
  job.keep = keep;
  job.disjoint = !keep && !state.partial;  // as the tiling was proved
  job.sync = state.durable();
  Settings settings = state.plan.settings;
  for (const Parameter& p : state.transport->describe().parameters)
    if (p.name == "io") PENSTOCK_TRY(settings.set(p, name(output.io)));
  return move_pieces(state, std::move(job), settings);
}

Status write_output(File::State& state, const Target& target, const std::vector<Claim>& claims,
                    const std::vector<std::byte*>& memory, Output& output) {
  const bool keep =
      state.contents && std::any_of(target.kept.begin(), target.kept.end(), [](int64_t n) { return n > 0; });
  {
    PhaseTimer timer(state.report.phases, Phase::define);
    if (keep && state.plan.placement != "single")
      return {Code::unsupported,
              "a file can be reopened and changed with placement=single only: write a set of files anew"};
    PENSTOCK_TRY(prepare_output(state, target.catalogue, claims, memory, output));
  }
  if (keep) {
    PhaseTimer timer(state.report.phases, Phase::write);
    PENSTOCK_TRY(agree(state.comm, guarded([&] { return carry(state, target, output); })));
  }
  PENSTOCK_TRY(move_data(state, output, keep));
  PhaseTimer timer(state.report.phases, Phase::commit);
  return agree(state.comm, state.comm->rank() == 0 ? guarded([&] { return publish(state, output); }) : Status());
}

}  // namespace

Status write_pending(File::State& state) {
  Target target;
  Resolved resolved;
  {
    PhaseTimer timer(state.report.phases, Phase::define);
    if (state.contents) PENSTOCK_TRY(check_held(state));
    auto mine = local_definitions(state, state.puts);
    const Status local = state.misuse.ok() ? mine.status() : state.misuse;
    PENSTOCK_TRY(agree(state.comm, local));
    PENSTOCK_ASSIGN(const Definitions agreed, agree_definitions(state.comm, *mine));
    PENSTOCK_ASSIGN(resolved, resolve(state, state.puts, agreed, Direction::write));
    PENSTOCK_ASSIGN(target, target_of(state, resolved));
    for (Claim& claim : resolved.claims)
      claim.dataset = target.catalogue.index_of(resolved.catalogue.datasets[static_cast<size_t>(claim.dataset)].name);
    if (!state.partial)
      PENSTOCK_TRY(prove_tiling(state.comm, target.catalogue, resolved.claims, target.kept,
                                state.token + static_cast<uint64_t>(state.commits)));
  }
  Output output;
  Status status = write_output(state, target, resolved.claims, resolved.memory, output);
  if (!status.ok()) {
    if (status.code() != Code::in_doubt) remove_created(state, output);
    return status;
  }
  state.contents = std::move(output.contents);
  state.stale = state.plan.placement != "single";
  if (state.format->self_contained() && !state.stale) state.contents->parts = {state.path};
  (void)hold(state);  // if that fails, the next commit says that the file was replaced
  state.puts.clear();
  state.attributes.clear();
  state.captured_bytes = 0;
  state.published = true;
  state.token += 0x9E3779B97F4A7C15;  // the next commit's generation
  ++state.commits;
  return {};
}

}  // namespace penstock
