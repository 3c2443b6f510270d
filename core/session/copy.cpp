// Copying: files that start with the contents of another: all ranks carry the data over, or supply it in pieces if the
// file is rewritten.
#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/access/here.hpp"
#include "core/comm/calling.hpp"
#include "core/commit/method.hpp"
#include "core/format/format.hpp"
#include "core/methods/methods.hpp"
#include "core/model/boxes.hpp"
#include "core/session/state.hpp"

namespace penstock {
namespace {

// Whether a file can start with another's contents: carried-over data has no blocks of ranks.
bool carries(const Opened& to) { return to.method->check_keep().ok(); }

Status check_source_of_copy(const Opened& from, const Opened& to) {
  if (find_format(from.file->contents.format) == nullptr)
    return {Code::unsupported, fmt::format("'{}' cannot be copied: only engine '{}' reads it", from.target.path,
                                           from.file->contents.format)};
  if (to.target.path == from.target.path)
    return {Code::invalid, fmt::format("'{}' would be copied onto itself: name another file", to.target.path)};
  return {};
}

Status check_whole_copy(const Opened& from) {
  if (from.file->contents.left_out.empty()) return {};
  return {Code::unsupported, fmt::format("'{}' cannot be copied without loss: {}; name what to copy, where that is "
                                         "enough: 'penstock convert --only NAME'",
                                         from.target.path, from.file->contents.left_out)};
}

Status check_clone(const Opened& from, const Opened& to) {
  PENSTOCK_TRY(check_whole_copy(from));
  const bool holds = std::ranges::any_of(from.file->contents.catalogue.datasets,
                                         [](const Dataset& dataset) { return elements(dataset.shape) > 0; });
  return holds ? to.method->check_keep().in(fmt::format("cloning '{}'", from.target.path)) : Status();
}

// The objects of ALL that ONLY names: datasets, or groups of them.
Result<Catalogue> choose(const Contents& contents, const std::string& path, std::span<const std::string> only) {
  const Catalogue& all = contents.catalogue;
  std::vector<std::string> wanted;
  for (const std::string& word : only) {
    PENSTOCK_ASSIGN(std::string name, object_name(word));
    const auto there = [&](const Dataset& dataset) { return is_in(dataset.name, name); };
    if (std::ranges::none_of(all.datasets, there)) {
      if (const std::string why = contents.why_unread(name); !why.empty())
        return Status(Code::unsupported, fmt::format("'{}' in '{}' cannot be read: it {}", name, path, why));
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
    const auto takes = [&object = object](const std::string& name) {  // a capture for Debian 12's clang
      return object.empty() || is_in(object, name) || is_in(name, object);
    };
    if (std::ranges::any_of(wanted, takes)) chosen.attributes.emplace(object, attributes);
  }
  return chosen;
}

// The part of a dataset that a rank copies: boxes one after another.
struct CopiedShare {
  std::vector<Box> boxes;
  std::vector<int64_t> begin;  // of each, in elements of the share
};

// A slab along the first extent that is at least the number of ranks, else along the longest.
Result<std::vector<Box>> slab_of(const Dims& shape, const CommunicatorInterface& comm) {
  int cut = -1;
  for (int i = 0; i < shape.rank() && (cut < 0 || shape[cut] < comm.size()); ++i)
    if (cut < 0 || shape[i] > shape[cut]) cut = i;
  Dims grid = Dims::filled(shape.rank(), 1);
  if (cut >= 0) grid[cut] = std::min<int64_t>(comm.size(), std::max<int64_t>(1, shape[cut]));
  PENSTOCK_ASSIGN(const Decomposition slab, Decomposition::grid(shape, grid, comm.rank()));
  return std::vector<Box>(slab.box_list().begin(), slab.box_list().end());
}

int64_t pieces_of(int64_t extent, int64_t piece) { return (extent - 1) / piece + 1; }

// The extents of as many whole chunks as fit in MOST elements, joined along the fastest dimensions first.
Dims tile_of(const Dims& shape, const Dims& chunk, int64_t most) {
  Dims tile = chunk;
  for (int i = 0; i < shape.rank(); ++i) tile[i] = std::min(chunk[i], shape[i]);
  for (int i = shape.rank() - 1; i >= 0; --i) {
    const int64_t joined = std::clamp<int64_t>(most / elements(tile), 1, pieces_of(shape[i], tile[i]));
    tile[i] = std::min(shape[i], tile[i] * joined);
  }
  return tile;
}

// This rank's tiles; nothing, on all ranks, if there are too many to list.
std::optional<std::vector<Box>> tiles_of(const Dims& shape, const Dims& tile, const CommunicatorInterface& comm) {
  constexpr int64_t max_tiles = 1 << 16;  // of a rank
  Dims count = shape;
  __int128 all = 1;
  for (int i = 0; i < shape.rank(); ++i) {
    count[i] = pieces_of(shape[i], tile[i]);
    all *= count[i];
    if (all > static_cast<__int128>(max_tiles) * comm.size()) return std::nullopt;
  }
  const auto begin = [&](int rank) { return static_cast<int64_t>(all * rank / comm.size()); };
  std::vector<Box> tiles;
  for (int64_t t = begin(comm.rank()); t < begin(comm.rank() + 1); ++t) {
    Box box{coordinates(count, t), tile};
    for (int i = 0; i < shape.rank(); ++i) {
      box.start[i] *= tile[i];
      box.count[i] = std::min(tile[i], shape[i] - box.start[i]);
    }
    tiles.push_back(box);
  }
  return tiles;
}

// Whole chunks, since each is unpacked as a whole. Slabs if there are no chunks, or if each block becomes a dataset in
// a part.
Result<CopiedShare> share_of(const Opened& from, const Opened& to, const Dataset& dataset) {
  std::optional<std::vector<Box>> boxes;
  const auto chunk = from.file->contents.chunks.find(dataset.name);
  if (chunk != from.file->contents.chunks.end() && !to.target.method.own_files) {
    const int64_t most = std::max<int64_t>(1, to.target.buffer_bytes / bytes(dataset.type));
    boxes = tiles_of(dataset.shape, tile_of(dataset.shape, chunk->second, most), *to.target.comm);
  }
  if (!boxes) {
    PENSTOCK_ASSIGN(boxes, slab_of(dataset.shape, *to.target.comm));
  }
  CopiedShare share{*std::move(boxes), {}};
  int64_t begin = 0;
  for (const Box& box : share.boxes) {
    share.begin.push_back(begin);
    begin += elements(box.count);
  }
  return share;
}

// Elements of SHARE from FIRST on, in its own order, of dataset INDEX.
Status read_elements(const Opened& from, int index, const CopiedShare& share, int64_t first, std::span<std::byte> out) {
  const Dataset& dataset = from.file->contents.catalogue.datasets[static_cast<size_t>(index)];
  const int64_t size = bytes(dataset.type), end = first + std::ssize(out) / size;
  std::vector<Claim> claims;
  std::byte* at = out.data();
  auto k =
      static_cast<size_t>(std::upper_bound(share.begin.begin(), share.begin.end(), first) - share.begin.begin()) - 1;
  for (; first < end; ++k) {
    const Box& box = share.boxes[k];
    const int64_t skip = first - share.begin[k], length = std::min(end - first, elements(box.count) - skip);
    std::vector<Box> pieces;
    boxes_of_run(box.count, skip, length, pieces);
    for (Box& piece : pieces) {
      for (int i = 0; i < piece.start.rank(); ++i) piece.start[i] += box.start[i];
      claims.push_back({index, Selection::of_box(dataset.shape, piece), at});
      at += elements(piece.count) * size;
    }
    first += length;
  }
  return read_here(from.file->contents, from.file->path, claims, from.target.storage);
}

Status supply_dataset(const Opened& from, File& to, const Dataset& dataset, CopiedShare share) {
  const int index = from.file->contents.catalogue.index_of(dataset.name);
  PENSTOCK_ASSIGN(const Decomposition part, Decomposition::boxes(dataset.shape, share.boxes));
  PENSTOCK_TRY(to.supply(dataset.name, dataset.type, part,
                         [&from, index, share = std::move(share)](int64_t first, std::span<std::byte> out) {
                           const Status read = read_elements(from, index, share, first, out);
                           const std::string name = fmt::format("'{}'", from.target.path);
                           return read.message().find(name) == std::string::npos ? read.in("reading " + name) : read;
                         }));
  return dataset.unlimited ? to.set_unlimited(dataset.name) : Status();
}

Status supply_all(const Opened& from, const Opened& state, File& to, const Catalogue& catalogue) {
  for (const auto& [object, attributes] : catalogue.attributes) {
    if (!object.empty() && catalogue.find(object) == nullptr) PENSTOCK_TRY(to.make_group(object));
    for (const auto& [name, attribute] : attributes) PENSTOCK_TRY(to.set_attribute(object, attribute));
  }
  for (const Dataset& dataset : catalogue.datasets) {
    PENSTOCK_ASSIGN(CopiedShare share, share_of(from, state, dataset));
    PENSTOCK_TRY(supply_dataset(from, to, dataset, std::move(share)));
  }
  return {};
}

}  // namespace

Result<File> File::clone(const Communicator& comm, std::string from, std::string to, std::string_view plan) {
  const Calling calling(comm, "clone", to, false);
  PENSTOCK_ASSIGN(File source, open(comm, std::move(from)));
  PENSTOCK_ASSIGN(File file, create(comm, std::move(to), plan));
  State& state = *file.state_;
  state.profile.reset();  // a copy has all contents
  PENSTOCK_TRY(check_source_of_copy(*source.state_, state));
  PENSTOCK_TRY(check_clone(*source.state_, state));
  PENSTOCK_ASSIGN(state.source, hold_source(state.target, source.path()));
  state.file = std::move(source.state_->file);
  return file;
}

Status File::copy(const Communicator& comm, std::string from, std::string to, std::string_view plan,
                  std::span<const std::string> only) {
  const Calling calling(comm, "copy", to, false);
  PENSTOCK_ASSIGN(File source, open(comm, std::move(from)));
  PENSTOCK_ASSIGN(File file, create(comm, std::move(to), plan));
  State &was = *source.state_, &state = *file.state_;
  state.profile.reset();  // a copy has all contents
  PENSTOCK_TRY(check_source_of_copy(was, state));
  if (only.empty()) PENSTOCK_TRY(check_whole_copy(was));
  PENSTOCK_ASSIGN(state.source, hold_source(state.target, source.path()));
  const bool has_record = !was.file->contents.record.empty() || was.file->contents.record_words > 0;
  const bool rounds = state.plan.settings.integer("keep_bits") > 0;
  if (carries(state) && !rounds && only.empty() && was.file->contents.chunks.empty() && has_record) {
    state.file = std::move(was.file);
    return file.close();
  }
  state.copied_chunks = was.file->contents.chunks;
  Catalogue wanted = was.file->contents.catalogue;
  if (!only.empty()) {
    PENSTOCK_ASSIGN(wanted, choose(was.file->contents, was.target.path, only));
  }
  file.remember_failure(supply_all(was, state, file, wanted));
  return file.close();
}

}  // namespace penstock
