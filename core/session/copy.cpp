// Copying: files that begin with what is in another, carried over by all ranks, or supplied in pieces where files are written anew.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/comm/calling.hpp"
#include "core/model/boxes.hpp"
#include "core/session/state.hpp"

namespace penstock {
namespace {

// Whether a file can begin with what another holds: what is carried over has no blocks of ranks.
bool carries(const File::State& to) {
  return to.engine == nullptr && (to.plan.placement == "single" || to.plan.placement == "parts");
}

Status check_source_of_copy(const File::State& from, const File::State& to) {
  if (from.engine != nullptr)
    return {Code::unsupported,
            fmt::format("'{}' cannot be copied: only engine '{}' reads it", from.path, from.plan.engine)};
  if (to.path == from.path)
    return {Code::invalid, fmt::format("'{}' would be copied onto itself: name another file", to.path)};
  return {};
}

Status check_whole_copy(const File::State& from) {
  if (from.contents->left_out.empty()) return {};
  return {Code::unsupported, fmt::format("'{}' cannot be copied without loss: {}; name what to copy, where that is "
                                         "enough: 'penstock convert --only NAME'",
                                         from.path, from.contents->left_out)};
}

Status check_clone(const File::State& from, const File::State& to) {
  PENSTOCK_TRY(check_whole_copy(from));
  if (to.engine != nullptr)
    return {Code::unsupported, fmt::format("engine '{}' cannot make a clone: name a transport", to.plan.engine)};
  const bool holds = std::ranges::any_of(from.contents->catalogue.datasets,
                                         [](const Dataset& dataset) { return elements(dataset.shape) > 0; });
  if (holds && !carries(to))
    return {Code::unsupported,
            fmt::format("a clone of '{}' cannot have placement={}, where blocks of ranks make up the files: name "
                        "placement=single or parts",
                        from.path, to.plan.placement)};
  return {};
}

// So that whoever replaces or edits FROM is noticed.
Status hold_source(const File::State& from, File::State& state) {
  state.source = from.path;
  Status status;
  if (state.comm->rank() == 0) {
    const auto hold = [&]() -> Status {
      PENSTOCK_ASSIGN(state.source_held, state.storage->open(state.source, Io::buffered, false));
      PENSTOCK_ASSIGN(state.source_was, state.storage->stat(state.source));
      return {};
    };
    status = hold();
  }
  return agree(state.comm, status);
}

bool is_in(std::string_view name, std::string_view group) {
  return name == group || (name.size() > group.size() && name.starts_with(group) && name[group.size()] == '/');
}

// What of ALL is named by ONLY, datasets or groups of them.
Result<Catalogue> choose(const Catalogue& all, const std::string& path, std::span<const std::string> only) {
  std::vector<std::string> wanted;
  for (const std::string& word : only) {
    PENSTOCK_ASSIGN(std::string name, dataset_name(word));
    const auto there = [&](const Dataset& dataset) { return is_in(dataset.name, name); };
    if (std::ranges::none_of(all.datasets, there)) {
      constexpr size_t most = 20;
      std::vector<std::string_view> names;
      for (const Dataset& dataset : all.datasets)
        if (names.size() < most) names.push_back(dataset.name);
      return Status(Code::not_found, fmt::format("there is no dataset or group '{}' in '{}': it has {}{}", name, path,
                                                 fmt::join(names, ", "), all.datasets.size() > most ? ", ..." : ""));
    }
    wanted.push_back(std::move(name));
  }
  Catalogue chosen;
  for (const Dataset& dataset : all.datasets)
    if (std::ranges::any_of(wanted, [&](const std::string& name) { return is_in(dataset.name, name); }))
      chosen.datasets.push_back(dataset);
  for (const auto& [object, attributes] : all.attributes) {
    const auto takes = [&](const std::string& name) {
      return object.empty() || is_in(object, name) || is_in(name, object);
    };
    if (std::ranges::any_of(wanted, takes)) chosen.attributes.emplace(object, attributes);
  }
  return chosen;
}

// Slabs of the first extent that has one for each rank, else of the longest.
Result<Decomposition> share_of(const Dims& shape, const CommunicatorInterface& comm) {
  int cut = -1;
  for (int i = 0; i < shape.rank() && (cut < 0 || shape[cut] < comm.size()); ++i)
    if (cut < 0 || shape[i] > shape[cut]) cut = i;
  Dims grid = Dims::filled(shape.rank(), 1);
  if (cut >= 0) grid[cut] = std::min<int64_t>(comm.size(), std::max<int64_t>(1, shape[cut]));
  return Decomposition::grid(shape, grid, comm.rank());
}

// Elements from FIRST on of BOX, in its own order, of dataset INDEX.
Status read_elements(const File::State& from, int index, const Box& box, int64_t first, std::span<std::byte> out) {
  const Dataset& dataset = from.contents->catalogue.datasets[static_cast<size_t>(index)];
  const int64_t size = bytes(dataset.type);
  std::vector<Box> pieces;
  boxes_of_run(box.count, first, std::ssize(out) / size, pieces);
  std::vector<Claim> claims;
  std::vector<std::byte*> memory;
  std::byte* at = out.data();
  for (Box& piece : pieces) {
    for (int i = 0; i < piece.start.rank(); ++i) piece.start[i] += box.start[i];
    claims.push_back({index, Selection::of_box(dataset.shape, piece)});
    memory.push_back(at);
    at += elements(piece.count) * size;
  }
  return read_here(*from.contents, from.described(), claims, memory, from.storage);
}

Status supply_dataset(const File::State& from, File& to, const Dataset& dataset) {
  const int index = from.contents->catalogue.index_of(dataset.name);
  PENSTOCK_ASSIGN(const Decomposition share, share_of(dataset.shape, *to.communicator()));
  const Box box = share.box_list().empty() ? Box{} : share.box_list()[0];
  const auto read = [&from, index, box](int64_t first, std::span<std::byte> out) {
    return read_elements(from, index, box, first, out).in(fmt::format("reading '{}'", from.path));
  };
  PENSTOCK_TRY(to.supply(dataset.name, dataset.type, share, read));
  return dataset.unlimited ? to.set_unlimited(dataset.name) : Status();
}

Status supply_all(const File::State& from, File& to, const Catalogue& catalogue) {
  for (const auto& [object, attributes] : catalogue.attributes)
    for (const auto& [name, attribute] : attributes) PENSTOCK_TRY(to.set_attribute(object, attribute));
  for (const Dataset& dataset : catalogue.datasets) PENSTOCK_TRY(supply_dataset(from, to, dataset));
  return {};
}

}  // namespace

Status check_source(File::State& state) {
  if (state.source.empty()) return {};
  Status status;
  if (state.comm->rank() == 0) {
    const auto now = state.storage->stat(state.source);
    if (!now.ok() || !same_file(*now, *state.source_was) || now->changed_at != state.source_was->changed_at ||
        now->bytes != state.source_was->bytes)
      status = {Code::mismatch,
                fmt::format("'{}' was changed or replaced since the copy was begun: begin it again", state.source)};
  }
  return agree(state.comm, status);
}

Result<File> File::clone(const Communicator& comm, std::string from, std::string to, std::string_view plan) {
  const Calling calling(comm, "clone", to, false);
  PENSTOCK_ASSIGN(File source, open(comm, std::move(from)));
  PENSTOCK_ASSIGN(File file, create(comm, std::move(to), plan));
  State& state = *file.state_;
  PENSTOCK_TRY(check_source_of_copy(*source.state_, state));
  PENSTOCK_TRY(check_clone(*source.state_, state));
  PENSTOCK_TRY(hold_source(*source.state_, state));
  state.contents = std::move(source.state_->contents);
  return file;
}

Status File::copy(const Communicator& comm, std::string from, std::string to, std::string_view plan,
                  std::span<const std::string> only) {
  const Calling calling(comm, "copy", to, false);
  PENSTOCK_ASSIGN(File source, open(comm, std::move(from)));
  PENSTOCK_ASSIGN(File file, create(comm, std::move(to), plan));
  State &was = *source.state_, &state = *file.state_;
  PENSTOCK_TRY(check_source_of_copy(was, state));
  if (only.empty()) PENSTOCK_TRY(check_whole_copy(was));
  PENSTOCK_TRY(hold_source(was, state));
  if (carries(state) && only.empty()) {
    state.contents = std::move(was.contents);
    return file.close();
  }
  Catalogue wanted = was.contents->catalogue;
  if (!only.empty()) {
    PENSTOCK_ASSIGN(wanted, choose(was.contents->catalogue, was.path, only));
  }
  file.remember_failure(supply_all(was, file, wanted));
  return file.close();
}

}  // namespace penstock
