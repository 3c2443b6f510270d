// Preparation: shared by the placements: creates files, informs all ranks, records locations.
#include "core/session/prepare.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/crc64.hpp"
#include "core/base/units.hpp"
#include "core/comm/share.hpp"
#include "core/transport/open_parts.hpp"

namespace penstock {
namespace {

constexpr int64_t least_direct = 8 << 20;  // below this, direct writes cost more than they save

// "" for transports that do not call the file system themselves.
std::string_view io_word(const File::State& state) {
  const auto found = state.plan.settings.all().find("io");
  return found == state.plan.settings.all().end() ? std::string_view() : found->second;
}

int64_t swap_unit(const ElementType& type, bool swapped) { return swapped ? scalar_bytes(type) : 0; }

void encode(Encoder& out, Io io, const std::vector<SharedPart>& parts) {
  out.value(io);
  out.value(std::ssize(parts));
  for (const SharedPart& part : parts) {
    out.text(part.path);
    out.value(part.layout.end);
    out.value(part.layout.exact);
    out.list(std::span<const Layout::Place>(part.layout.places));
  }
}

Status decode(std::span<const std::byte> bytes, Io& io, std::vector<SharedPart>& parts) {
  Decoder in(bytes);
  io = in.value<Io>();
  parts.resize(static_cast<size_t>(in.value<int64_t>()));
  for (SharedPart& part : parts) {
    part.path = in.text();
    part.layout.end = in.value<int64_t>();
    part.layout.exact = in.value<bool>();
    part.layout.places = in.list<Layout::Place>();
  }
  return in.ok() ? Status() : Status(Code::internal, "the layout from rank 0 cannot be decoded");
}

Status create_master(File::State& state, Output& output) {
  PENSTOCK_ASSIGN(auto file, state.storage->create(output.partial, 0, Io::buffered, false));
  output.created.push_back(output.partial);
  return file->close();
}

Status create_parts(File::State& state, const std::vector<SharedPart>& parts, Output& output) {
  const int64_t block = state.plan.settings.integer("block");
  int64_t largest = 0;
  for (const SharedPart& part : parts) largest = std::max(largest, part.layout.end);
  output.io = wanted_io(state, largest);
  for (const SharedPart& part : parts)
    PENSTOCK_TRY(create_part(state, output, part.path, round_up(part.layout.end, block)));
  return {};
}

}  // namespace

Io wanted_io(const File::State& state, int64_t bytes) {
  const std::string_view word = io_word(state);
  if (word != "auto") return parse_io(word);
  return state.durable() && bytes >= least_direct ? Io::direct : Io::buffered;
}

Status create_part(File::State& state, Output& output, const std::string& path, int64_t bytes) {
  const bool preallocate = state.plan.settings.boolean("preallocate");
  auto file = state.storage->create(path, bytes, output.io, preallocate);
  if (!file.ok() && file.status().code() == Code::unsupported && io_word(state) == "auto") {
    output.io = Io::buffered;
    file = state.storage->create(path, bytes, output.io, preallocate);
  }
  if (!file.ok()) return file.status();
  output.created.push_back(path);
  return (*file)->close();
}

FileSum head_of(const std::vector<Layout::Metadata>& metadata) {
  const bool covered = metadata.size() == 1 && metadata[0].offset == 0;
  return covered ? FileSum{std::ssize(metadata[0].bytes), crc64(metadata[0].bytes)} : FileSum{};
}

void add_metadata(Output& output, int32_t part, std::vector<Layout::Metadata> metadata) {
  for (Layout::Metadata& block : metadata) output.metadata.push_back(std::move(block));
  for (size_t i = output.metadata.size() - metadata.size(); i < output.metadata.size(); ++i) {
    Layout::Metadata& block = output.metadata[i];
    const Dims shape{static_cast<int64_t>(block.bytes.size())};
    output.pieces.push_back({part, output.parts[static_cast<size_t>(part)].virtual_base + block.offset, 1, 0,
                             Selection::whole(shape), block.bytes.data()});
  }
}

Result<std::vector<SharedPart>> share_parts(File::State& state, Output& output,
                                            const std::function<Status(std::vector<SharedPart>&)>& lay_out) {
  std::vector<SharedPart> parts;
  std::vector<std::vector<Layout::Metadata>> metadata;
  const auto message = from_rank_0(state.comm, [&](Encoder& out) -> Status {
    PENSTOCK_TRY(lay_out(parts));
    PENSTOCK_TRY(create_parts(state, parts, output));
    encode(out, output.io, parts);
    for (SharedPart& part : parts) {
      output.heads.push_back(head_of(part.layout.metadata));
      metadata.push_back(std::move(part.layout.metadata));
    }
    return {};
  });
  PENSTOCK_TRY(message.status());
  PENSTOCK_TRY(decode(*message, output.io, parts));
  for (const SharedPart& part : parts) {
    const int64_t bytes = round_up(part.layout.end, state.plan.settings.integer("block"));
    if (part.layout.exact && state.comm->rank() == 0)
      output.cuts.push_back({static_cast<int32_t>(output.parts.size()), 0, part.layout.end});
    output.parts.push_back({part.path, bytes, output.virtual_bytes});
    output.virtual_bytes += bytes;
  }
  for (size_t p = 0; p < metadata.size(); ++p) add_metadata(output, static_cast<int32_t>(p), std::move(metadata[p]));
  return parts;
}

void begin_contents(const File::State& state, const Catalogue& catalogue, Output& output) {
  output.contents = {};
  output.contents.format = std::string(state.format->describe().name);
  output.contents.generation = fmt::format("{:016x}", state.token);
  output.contents.blocks.resize(catalogue.datasets.size());
  output.contents.foreign.assign(catalogue.datasets.size(), false);
  for (const Part& part : output.parts) output.contents.parts.push_back(part.path);
}

void add_piece(Output& output, int32_t part, const Layout::Place& place, const ElementType& type, Selection selection,
               std::byte* memory) {
  output.pieces.push_back({part, output.parts[static_cast<size_t>(part)].virtual_base + place.base, bytes(type),
                           swap_unit(type, place.swapped), std::move(selection), memory, place.row_stride});
}

Status check_counts(const Catalogue& catalogue, const Contents& contents) {
  for (size_t d = 0; d < contents.blocks.size(); ++d) {
    const Dataset& dataset = catalogue.datasets[d];
    int64_t count = 0;
    for (const StoredBlock& block : contents.blocks[d]) count += block.where.count();
    if (count > elements(dataset.shape))
      return {Code::overlap, fmt::format("{} elements of '{}' {} were put: put every element once", count, dataset.name,
                                         describe(dataset))};
  }
  return {};
}

Status prepare_output(File::State& state, const Catalogue& catalogue, std::span<const Claim> claims,
                      std::span<std::byte* const> memory, Output& output) {
  output.partial = partial_path(state);
  if (state.is_set())
    PENSTOCK_TRY(agree(state.comm, state.comm->rank() == 0 ? create_master(state, output) : Status()));
  if (state.plan.placement == "single") return prepare_single(state, catalogue, claims, memory, output);
  if (state.plan.placement == "parts") return prepare_slabs(state, catalogue, claims, memory, output);
  if (state.plan.placement == "rank_order") return prepare_rank_order(state, catalogue, claims, memory, output);
  return prepare_per_rank(state, catalogue, claims, memory, output);
}

}  // namespace penstock
