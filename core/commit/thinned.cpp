// Thinned: strides where memory allows it, copies elsewhere; cut blocks travel once, to the rank that joins them.
#include "core/commit/thinned.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "core/commit/captured.hpp"

namespace penstock {
namespace {

using Form = Decomposition::Form;

constexpr int64_t window_bytes = 1 << 20;      // of a supplier's elements, of which some stay
constexpr int64_t blocks_of_a_rank = 1 << 12;  // neighbours that one rank joins

bool is_one_box(const Decomposition& part) {
  return part.form() == Form::boxes ? part.box_list().size() == 1 : part.form() != Form::runs;
}

Box whole_box(const Dims& shape) { return {Dims::filled(shape.rank(), 0), shape}; }

// PART, as one box, of which STORED stays.
Result<Decomposition> part_of(const Decomposition& part, const Subset& subset, const Box& stored) {
  const Dims shape = subset.stored();
  switch (part.form()) {
    case Form::ragged: return Decomposition::ragged(shape[0], Dims(std::span(shape.begin() + 1, shape.end())));
    case Form::replicated: return Decomposition::replicated(shape);
    default: return Decomposition::block(shape, stored.start, stored.count);
  }
}

Status hold(Pending& pending, int64_t size) {
  pending.captured = captured_memory(size);
  if (!pending.captured) return {Code::memory, fmt::format("no memory to copy {} bytes", size)};
  pending.data = pending.captured.get();
  pending.memory = {};
  return {};
}

Status hold(Pending& pending, std::span<const std::byte> values) {
  PENSTOCK_TRY(hold(pending, std::ssize(values)));
  if (!values.empty()) std::memcpy(pending.data, values.data(), values.size());
  return {};
}

void copy_strided(const std::byte* from, int64_t stride, int64_t count, int64_t size, std::byte* to) {
  if (stride == 1) {
    std::memcpy(to, from, static_cast<size_t>(count * size));
    return;
  }
  for (int64_t i = 0; i < count; ++i) std::memcpy(to + i * size, from + i * stride * size, static_cast<size_t>(size));
}

Supplier thinned(Supplier supplier, std::vector<Kept> kept, int64_t size) {
  return [supplier = std::move(supplier), kept = std::move(kept), size](int64_t first,
                                                                        std::span<std::byte> out) -> Status {
    auto at = std::ranges::upper_bound(kept, first, {}, &Kept::first) - 1;
    std::vector<std::byte> window;
    for (int64_t left = std::ssize(out) / size; left > 0;) {
      if (first == at->first + at->count) ++at;
      const int64_t stride = at->stride, source = at->source + (first - at->first) * stride;
      int64_t count = std::min(left, at->first + at->count - first);
      const auto take = [&](int64_t elements) { return out.first(static_cast<size_t>(elements * size)); };
      if (stride == 1) {
        PENSTOCK_TRY(supplier(source, take(count)));
      } else {
        count = std::clamp<int64_t>(window_bytes / (stride * size), 1, count);
        window.resize(static_cast<size_t>(((count - 1) * stride + 1) * size));
        PENSTOCK_TRY(supplier(source, window));
        copy_strided(window.data(), stride, count, size, out.data());
      }
      out = out.subspan(static_cast<size_t>(count * size));
      first += count;
      left -= count;
    }
    return {};
  };
}

// Runs of neighbouring blocks, with their values.
Result<Pending> pending_of(const CutBlocks& cut, Pending pending,
                           std::span<const std::pair<int64_t, BlockSum>> blocks) {
  std::vector<Run> runs;
  std::vector<std::byte> values;
  for (const auto& [block, sum] : blocks) {
    if (!runs.empty() && runs.back().offset + runs.back().length == block)
      ++runs.back().length;
    else
      runs.push_back({block, 1});
    add_mean(sum, cut.type, values);
  }
  PENSTOCK_ASSIGN(pending.part, Decomposition::runs(cut.subset.stored(), runs));
  pending.type = cut.type;
  PENSTOCK_TRY(hold(pending, values));
  PENSTOCK_TRY(convert_captured(pending, cut.precision));
  return pending;
}

// The first extent of an unlimited dataset grows from put to put.
void grow(Subset& subset, const Subset& other) {
  subset.shape[0] = std::max(subset.shape[0], other.shape[0]);
  subset.count[0] = std::max(subset.count[0], other.count[0]);
}

// As it travels.
struct SentBlock {
  int64_t block;
  BlockSum sum;
};

void encode(Encoder& out, const std::string& name, const CutBlocks& cut) {
  out.text(name);
  out.value(cut.type.kind);
  encode(out, std::optional(cut.subset));
  const Precision& precision = cut.precision;
  out.text(precision.type ? penstock::name(*precision.type) : "");
  out.value(precision.keep_bits);
  out.value(precision.packed);
  out.value(precision.scale);
  out.value(precision.offset);
}

Result<Precision> decode_precision(Decoder& in) {
  Precision precision;
  if (const std::string word = in.text(); !word.empty()) {
    PENSTOCK_ASSIGN(precision.type, parse_type(word));
  }
  precision.keep_bits = in.value<int>();
  precision.packed = in.value<bool>();
  precision.scale = in.value<double>();
  precision.offset = in.value<double>();
  return precision;
}

// Adds the blocks of MESSAGE to ALL.
Status add_message(std::span<const std::byte> message, AllCutBlocks& all) {
  Decoder in(message);
  while (in.ok() && !in.done()) {
    const std::string name = in.text();
    CutBlocks theirs;
    theirs.type.kind = in.value<Kind>();
    const auto subset = decode_subset(in);
    PENSTOCK_ASSIGN(theirs.precision, decode_precision(in));
    const auto blocks = in.list<SentBlock>();
    if (!subset || subset->shape.rank() == 0) break;
    theirs.subset = *subset;
    for (const SentBlock& one : blocks) theirs.sums[one.block].add(one.sum);
    add(all, {{name, std::move(theirs)}});
  }
  if (in.ok() && in.done()) return {};
  return {Code::internal, "parts of block means from another rank cannot be decoded"};
}

std::vector<Message> messages_of(const AllCutBlocks& all, int ranks) {
  std::map<int, Encoder> out;
  for (const auto& [name, cut] : all) {
    std::map<int, std::vector<SentBlock>> of_ranks;
    for (const auto& [block, sum] : cut.sums)
      of_ranks[static_cast<int>(block / blocks_of_a_rank % ranks)].push_back({block, sum});
    for (const auto& [rank, blocks] : of_ranks) {
      encode(out[rank], name, cut);
      out[rank].list(std::span<const SentBlock>(blocks));
    }
  }
  std::vector<Message> messages;
  for (auto& [rank, encoder] : out) messages.push_back({rank, encoder.take()});
  return messages;
}

Result<std::vector<Pending>> joined(const AllCutBlocks& all) {
  std::vector<Pending> puts;
  for (const auto& [name, cut] : all) {
    for (const auto& [block, sum] : cut.sums) {
      if (is_whole(cut.subset, block, sum)) continue;
      const int64_t points = points_of(cut.subset, block);
      const std::string what = sum.count == points ? "some points twice, and others not"
                                                   : fmt::format("{} of its {} points", sum.count, points);
      return Status(
          sum.count > points ? Code::overlap : Code::incomplete,
          fmt::format("'{}': the output profile stores the means of blocks {}, and block {} was put with {}: "
                      "a commit needs each point of a block once",
                      name, describe(cut.subset.step), describe(coordinates(cut.subset.stored(), block)), what));
    }
    const std::vector<std::pair<int64_t, BlockSum>> blocks(cut.sums.begin(), cut.sums.end());
    PENSTOCK_ASSIGN(const Decomposition none, Decomposition::runs(cut.subset.stored(), {}));
    Pending pending{name, cut.type, none, {}, nullptr, nullptr, {}};
    PENSTOCK_ASSIGN(pending, pending_of(cut, std::move(pending), blocks));
    puts.push_back(std::move(pending));
  }
  return puts;
}

}  // namespace

void add(AllCutBlocks& all, AllCutBlocks more) {
  for (auto& [name, theirs] : more) {
    const auto [at, added] = all.try_emplace(name, std::move(theirs));
    if (added) continue;
    grow(at->second.subset, theirs.subset);
    for (const auto& [block, sum] : theirs.sums) at->second.sums[block].add(sum);
  }
}

Dims whole_shape(const Pending& put) {
  return put.part.form() == Form::ragged ? box_shape(put.part) : put.part.shape();
}

Result<Pending> thin(Pending put, const Subset& subset) {
  const int64_t size = bytes(put.type);
  std::vector<Kept> kept;
  if (is_one_box(put.part)) {
    const Box box = put.part.form() == Form::boxes ? put.part.box_list()[0] : whole_box(whole_shape(put));
    Memory memory = put.memory;
    const Box stored = thin(subset, box, memory);
    PENSTOCK_ASSIGN(put.part, part_of(put.part, subset, stored));
    put.memory = put.supplier ? Memory() : memory;
    if (put.supplier) kept = kept_of(stored.count, memory);
  } else {
    PENSTOCK_ASSIGN(Thinned thinned, penstock::thin(subset, put.part));
    put.part = std::move(thinned.part);
    kept = std::move(thinned.kept);
    const std::byte* const from = put.data;
    if (!put.supplier) {
      PENSTOCK_TRY(hold(put, put.part.elements() * size));
      for (const Kept& one : kept)
        copy_strided(from + one.source * size, one.stride, one.count, size, put.data + one.first * size);
    }
  }
  if (put.supplier) put.supplier = thinned(std::move(put.supplier), std::move(kept), size);
  put.subset = subset;
  if (subset.rows) put.subset->shape[0] = put.subset->count[0] = 0;
  return put;
}

Result<Pending> take_means(Pending put, const Subset& subset, const Precision& precision, AllCutBlocks& cut) {
  CutBlocks& of = cut.try_emplace(put.name, CutBlocks{put.type, subset, precision, {}}).first->second;
  grow(of.subset, subset);
  put.subset = subset;
  std::vector<Box> boxes;
  std::vector<std::byte> values;
  if (put.part.form() == Form::runs) {
    sum_runs(subset, put.type, put.part.run_list(), put.data, of.sums);
  } else if (put.part.form() == Form::replicated) {
    values = sum_box(subset, put.type, whole_box(subset.shape), put.data, put.memory, of.sums).values;
  } else {
    Memory memory = put.memory;
    for (const Box& box : put.part.box_list()) {
      BlockMeans means = sum_box(subset, put.type, box, put.data, memory, of.sums);
      memory.offset += elements(box.count);
      if (means.values.empty()) continue;
      boxes.push_back(means.box);
      values.insert(values.end(), means.values.begin(), means.values.end());
    }
  }
  if (put.part.form() == Form::replicated) {
    PENSTOCK_ASSIGN(put.part, Decomposition::replicated(subset.stored()));
  } else {
    PENSTOCK_ASSIGN(put.part, Decomposition::boxes(subset.stored(), boxes));
  }
  PENSTOCK_TRY(hold(put, values));
  PENSTOCK_TRY(convert_captured(put, precision));
  return put;
}

Result<std::vector<Pending>> take_whole_blocks(AllCutBlocks& cut, std::span<const Pending> puts) {
  std::vector<Pending> whole;
  for (auto& [name, of] : cut) {
    std::vector<std::pair<int64_t, BlockSum>> blocks;
    for (const auto& [block, sum] : of.sums)
      if (is_whole(of.subset, block, sum)) blocks.emplace_back(block, sum);
    const auto put = std::ranges::find(puts, name, &Pending::name);
    if (blocks.empty() || put == puts.end()) continue;
    for (const auto& [block, sum] : blocks) of.sums.erase(block);
    PENSTOCK_ASSIGN(Pending pending, pending_of(of, *put, blocks));
    pending.subset = of.subset;
    whole.push_back(std::move(pending));
  }
  std::erase_if(cut, [](const auto& one) { return one.second.sums.empty(); });
  return whole;
}

Result<std::vector<Pending>> join_blocks(const Communicator& comm, AllCutBlocks cut) {
  PENSTOCK_ASSIGN(const std::vector<Message> received, comm->sparse_exchange(messages_of(cut, comm->size())));
  AllCutBlocks all;
  Status status;
  for (const Message& message : received)
    if (status.ok()) status = add_message(message.bytes, all);
  Result<std::vector<Pending>> puts = std::vector<Pending>();
  if (status.ok()) puts = joined(all);
  PENSTOCK_TRY(agree(comm, status.ok() ? puts.status() : status));
  return puts;
}

}  // namespace penstock
