// Output: names, creation and publication of the files of a commit.
#include "core/session/output.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/encode.hpp"
#include "core/base/guarded.hpp"
#include "core/transport/open_parts.hpp"

namespace penstock {
namespace {

constexpr int64_t least_direct = 8 << 20;  // below this, direct writes cost more than they save

int64_t round_up(int64_t n, int64_t block) { return (n + block - 1) / block * block; }

std::string base_name(const std::string& path) { return path.substr(folder_of(path).size()); }

// "heat.h5" of "heat.h5", "heat" of the sidecar "heat.json", "heat.raw" of "heat.raw.json": what the parts of a set
// begin with.
std::string stem_of(const File::State& state) {
  const std::string name = base_name(state.path);
  return state.plan.format == "raw" && name.ends_with(".json") ? name.substr(0, name.size() - 5) : name;
}

std::string extension(const File::State& state) { return state.plan.format == "hdf5" ? "h5" : state.plan.format; }

// Parts carry the generation, so that they never meet those of the file that is still valid.
std::string part_path(const File::State& state, std::string_view label) {
  return fmt::format("{}{}.g{:016x}{}{}.{}", folder_of(state.path), stem_of(state), state.token,
                     label.empty() ? "" : ".", label, extension(state));
}

std::string partial_path(const File::State& state) {
  return fmt::format("{}.{}.{:016x}.partial", folder_of(state.path), base_name(state.path), state.token);
}

Io wanted_io(const File::State& state, int64_t bytes) {
  const std::string& word = state.plan.settings.word("io");
  if (word != "auto") return parse_io(word);
  return state.durable() && bytes >= least_direct ? Io::direct : Io::buffered;
}

// Creates PATH; io = auto falls back to buffered where there is no O_DIRECT.
Status create(File::State& state, Output& output, const std::string& path, int64_t bytes) {
  const bool preallocate = state.plan.settings.boolean("preallocate");
  auto file = state.storage->create(path, bytes, output.io, preallocate);
  if (!file.ok() && file.status().code() == Code::unsupported && state.plan.settings.word("io") == "auto") {
    output.io = Io::buffered;
    file = state.storage->create(path, bytes, output.io, preallocate);
  }
  if (!file.ok()) return file.status();
  output.created.push_back(path);
  return (*file)->close();
}

int64_t swap_unit(const ElementType& type, bool swapped) { return swapped ? scalar_bytes(type) : 0; }

void add_metadata(Output& output, int32_t part, std::vector<Layout::Metadata> metadata) {
  for (Layout::Metadata& block : metadata) output.metadata.push_back(std::move(block));
  for (size_t i = output.metadata.size() - metadata.size(); i < output.metadata.size(); ++i) {
    Layout::Metadata& block = output.metadata[i];
    const Dims shape{static_cast<int64_t>(block.bytes.size())};
    output.pieces.push_back({part, output.parts[static_cast<size_t>(part)].virtual_base + block.offset, 1, 0,
                             Selection::whole(shape), block.bytes.data()});
  }
}

// What rank 0 tells the others about a single file.
std::vector<std::byte> pack(const Status& status, const Layout& layout, Io io) {
  Encoder out;
  out.value(status.code());
  out.text(status.message());
  out.value(io);
  out.value(layout.end);
  out.list(std::span<const Layout::Place>(layout.places));
  return out.take();
}

Status unpack(std::span<const std::byte> bytes, Layout& layout, Io& io) {
  Decoder in(bytes);
  const auto code = in.value<Code>();
  const std::string message = in.text();
  io = in.value<Io>();
  layout.end = in.value<int64_t>();
  layout.places = in.list<Layout::Place>();
  if (!in.ok()) return {Code::internal, "the layout from rank 0 cannot be decoded"};
  return {code, message};
}

Status prepare_single(File::State& state, const Catalogue& catalogue, std::span<const Claim> claims,
                      std::span<std::byte* const> memory, Output& output) {
  const int64_t block = state.plan.settings.integer("block");
  const std::string path = state.format->self_contained() ? output.partial : part_path(state, "");
  Layout layout;
  std::vector<std::byte> message;
  if (state.comm->rank() == 0) {
    const Status status = guarded([&]() -> Status {
      PENSTOCK_ASSIGN(layout, state.format->layout(catalogue, Alignment{block}));
      output.io = wanted_io(state, layout.end);
      return create(state, output, path, round_up(layout.end, block));
    });
    message = pack(status, layout, output.io);
  }
  PENSTOCK_TRY(state.comm->broadcast(message, 0));
  PENSTOCK_TRY(unpack(message, layout, output.io));

  output.virtual_bytes = round_up(layout.end, block);
  output.parts = {{path, output.virtual_bytes, 0}};
  if (state.comm->rank() == 0) add_metadata(output, 0, std::move(layout.metadata));
  for (size_t i = 0; i < claims.size(); ++i) {
    const auto d = static_cast<size_t>(claims[i].dataset);
    const ElementType& type = catalogue.datasets[d].type;
    output.pieces.push_back({0, layout.places[d].base, bytes(type), swap_unit(type, layout.places[d].swapped),
                             claims[i].selection, memory[i]});
  }
  output.contents = {
      std::string(state.format->describe().name), fmt::format("{:016x}", state.token), catalogue, {path}, {}, {}, {}};
  for (size_t d = 0; d < catalogue.datasets.size(); ++d) {
    output.contents.blocks.push_back(
        {{0, layout.places[d].base, layout.places[d].swapped, Selection::whole(catalogue.datasets[d].shape)}});
    output.contents.foreign.push_back(false);
  }
  return {};
}

// One rank's own files under per_rank, and what the index must say of them.
Status prepare_own(File::State& state, const Catalogue& catalogue, std::span<const Claim> claims,
                   std::span<std::byte* const> memory, Output& output, Encoder& index) {
  const int64_t block = state.plan.settings.integer("block");
  const auto own = own_parts(catalogue, claims, state.plan.settings.word("split") == "group");
  index.value(static_cast<int64_t>(own.size()));
  for (const OwnPart& part : own) {
    PENSTOCK_ASSIGN(Layout layout, state.format->layout(part.catalogue, Alignment{block}));
    const std::string label = fmt::format("{:06d}{}{}", state.comm->rank(), part.label.empty() ? "" : ".", part.label);
    const auto number = static_cast<int32_t>(output.parts.size());
    output.parts.push_back({part_path(state, label), round_up(layout.end, block), output.virtual_bytes});
    PENSTOCK_TRY(create(state, output, output.parts.back().path, output.parts.back().bytes));
    output.virtual_bytes += output.parts.back().bytes;
    index.text(output.parts.back().path);
    index.value(static_cast<int64_t>(part.claims.size()));
    for (size_t i = 0; i < part.claims.size(); ++i) {
      const auto c = static_cast<size_t>(part.claims[i]);
      const ElementType& type = part.catalogue.datasets[i].type;
      const Layout::Place& place = layout.places[i];
      output.pieces.push_back({number, output.parts.back().virtual_base + place.base, bytes(type),
                               swap_unit(type, place.swapped), in_packed(claims[c].selection), memory[c]});
      index.value(static_cast<int64_t>(claims[c].dataset));
      index.value(static_cast<int64_t>(part.claims[i]));
      index.value(place.base);
      index.value(place.swapped);
      claims[c].selection.packed(0, INT64_MAX).encode(index);
    }
    add_metadata(output, number, std::move(layout.metadata));
  }
  return {};
}

Status read_index(std::span<const std::byte> bytes, Contents& contents) {
  struct Numbered {
    int64_t dataset, claim;
    StoredBlock block;
  };
  Decoder in(bytes);
  std::vector<Numbered> all;
  for (auto n = in.value<int64_t>(); n > 0 && in.ok(); --n) {
    const auto part = static_cast<int32_t>(contents.parts.size());
    contents.parts.push_back(in.text());
    for (auto m = in.value<int64_t>(); m > 0 && in.ok(); --m) {
      Numbered one;
      one.dataset = in.value<int64_t>();
      one.claim = in.value<int64_t>();
      one.block.part = part;
      one.block.base = in.value<int64_t>();
      one.block.swapped = in.value<bool>();
      one.block.where = Selection::decode(in);
      all.push_back(std::move(one));
    }
  }
  if (!in.ok()) return {Code::internal, "an index from another rank cannot be decoded"};
  // The order in which a rank put its blocks is the order of their names in the part.
  std::sort(all.begin(), all.end(), [](const Numbered& a, const Numbered& b) { return a.claim < b.claim; });
  for (Numbered& one : all) contents.blocks[static_cast<size_t>(one.dataset)].push_back(std::move(one.block));
  return {};
}

// What partial leaves unproved: a set whose blocks hold more elements than there are could not be read again.
Status check_counts(const Contents& contents) {
  for (size_t d = 0; d < contents.blocks.size(); ++d) {
    const Dataset& dataset = contents.catalogue.datasets[d];
    int64_t count = 0;
    for (const StoredBlock& block : contents.blocks[d]) count += block.where.count();
    if (count > elements(dataset.shape))
      return {Code::overlap, fmt::format("{} elements of '{}' {} were put: put every element once", count, dataset.name,
                                         describe(dataset))};
  }
  return {};
}

Status prepare_per_rank(File::State& state, const Catalogue& catalogue, std::span<const Claim> claims,
                        std::span<std::byte* const> memory, Output& output) {
  int64_t total = 0;
  for (const Claim& claim : claims)
    total += claim.selection.count() * bytes(catalogue.datasets[static_cast<size_t>(claim.dataset)].type);
  PENSTOCK_TRY(state.comm->all_reduce_sum(std::span(&total, 1)));
  output.io = wanted_io(state, total / state.comm->size());
  Encoder index;
  PENSTOCK_TRY(
      agree(state.comm, guarded([&] { return prepare_own(state, catalogue, claims, memory, output, index); })));
  int64_t buffered =
      output.io == Io::buffered;  // one rank that fell back takes the others along: a writer may hold anybody's part
  PENSTOCK_TRY(state.comm->all_reduce_max(std::span(&buffered, 1)));
  if (buffered != 0) output.io = Io::buffered;

  int64_t before = output.virtual_bytes;
  PENSTOCK_TRY(state.comm->exclusive_sum(std::span(&before, 1)));
  PENSTOCK_TRY(state.comm->all_reduce_sum(std::span(&output.virtual_bytes, 1)));
  for (Part& part : output.parts) part.virtual_base += before;
  for (Piece& piece : output.pieces) piece.address += before;

  output.contents = {
      std::string(state.format->describe().name), fmt::format("{:016x}", state.token), catalogue, {}, {}, {}, {}};
  output.contents.blocks.resize(catalogue.datasets.size());
  output.contents.foreign.assign(catalogue.datasets.size(), false);
  const auto bytes = index.take();
  PENSTOCK_ASSIGN(const auto all, state.comm->gather(bytes, 0));
  Status status;
  for (const auto& one : all)
    if (status.ok()) status = read_index(one, output.contents);
  if (status.ok()) status = check_counts(output.contents);
  return agree(state.comm, status);
}

// The generation that the file at the target has now: its parts stay until the next commit, for those who are reading
// them.
std::string published_generation(File::State& state) {
  if (!state.storage->stat(state.path).ok()) return {};
  const auto contents = state.format->read(state.path);
  return contents.ok() ? contents->generation : std::string();
}

// Parts are recognised by the stem, ".g", sixteen hexadecimal digits, a dot, and the extension of the format at the end.
bool is_part(const File::State& state, const std::string& name, std::string& generation) {
  const std::string stem = stem_of(state);
  if (!name.starts_with(stem + ".g") || name.size() < stem.size() + 19 || !name.ends_with("." + extension(state)))
    return false;
  generation = name.substr(stem.size() + 2, 16);
  return generation.find_first_not_of("0123456789abcdef") == std::string::npos && name[stem.size() + 18] == '.';
}

void remove_old_generations(File::State& state, const std::vector<std::string>& names, const std::string& previous) {
  const std::string current = fmt::format("{:016x}", state.token);
  std::string generation;
  for (const std::string& name : names)
    if (is_part(state, name, generation) && generation != previous && generation != current)
      (void)state.storage->remove(folder_of(state.path) + name);  // litter, not an error: the commit stands
}

Status write_master(File::State& state, Output& output) {
  PENSTOCK_ASSIGN(const auto bytes, state.format->master(output.contents));
  PENSTOCK_ASSIGN(auto file, state.storage->create(output.partial, 0, Io::buffered, false));
  output.created.push_back(output.partial);
  PENSTOCK_TRY(file->write(0, bytes));
  if (state.durable()) PENSTOCK_TRY(file->sync());
  return file->close();
}

}  // namespace

std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/') + 1); }

Status prepare_output(File::State& state, const Catalogue& catalogue, std::span<const Claim> claims,
                      std::span<std::byte* const> memory, Output& output) {
  output.partial = partial_path(state);
  if (state.plan.placement == "single") return prepare_single(state, catalogue, claims, memory, output);
  return prepare_per_rank(state, catalogue, claims, memory, output);
}

Status publish(File::State& state, Output& output) {
  const bool is_set = !state.format->self_contained() || state.plan.placement != "single";
  const std::string folder = folder_of(state.path);
  std::vector<std::string> names;
  std::string previous;
  if (is_set) {
    auto listed = state.storage->list(folder.empty() ? "." : folder);
    std::string generation;
    if (listed.ok())
      for (std::string& name : *listed)
        if (is_part(state, name, generation) && generation != fmt::format("{:016x}", state.token))
          names.push_back(std::move(name));
    if (!names.empty()) previous = published_generation(state);
    PENSTOCK_TRY(write_master(state, output));
  }
  PENSTOCK_TRY(state.storage->rename(output.partial, state.path));
  if (state.durable())
    if (const Status synced = state.storage->sync_directory(state.path); !synced.ok())
      return {Code::in_doubt, fmt::format("'{}' is in place, but whether it would survive a power loss is unknown: {}",
                                          state.path, synced.message())};
  if (is_set) remove_old_generations(state, names, previous);
  return {};
}

void remove_created(File::State& state, const Output& output) {
  for (const std::string& path : output.created) (void)state.storage->remove(path);  // the first error is what matters
}

}  // namespace penstock
