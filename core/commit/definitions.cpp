// Definitions: compares hashes first, and merges up a tree only if ranks differ.
#include "core/commit/definitions.hpp"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "core/base/crc64.hpp"
#include "core/base/encode.hpp"
#include "core/comm/patience.hpp"
#include "core/model/tell_apart.hpp"

namespace penstock {
namespace {

constexpr int tag_length = 1001, tag_payload = 1002;

// The rank that set each attribute, so that an error can name differing ranks.
using Setters = std::map<std::pair<std::string, std::string>, int>;

// With the ranks if SETTERS are given; without them for comparison.
void encode(Encoder& out, const Definitions& d, const Setters* setters) {
  out.value(static_cast<int64_t>(d.datasets.size()));
  for (const auto& [name, definition] : d.datasets) {
    out.text(name);
    out.value(definition.type.kind);
    out.value(definition.type.text_bytes);
    out.value(definition.sharing);
    out.dims(definition.shape);
    out.value(definition.unlimited);
    out.text(definition.meant);
    out.text(definition.precision);
    encode(out, definition.subset);
    if (setters != nullptr) out.value(definition.rank);
  }
  out.value(static_cast<int64_t>(d.attributes.size()));
  for (const auto& [object, list] : d.attributes) {
    out.text(object);
    out.value(static_cast<int64_t>(list.size()));
    for (const auto& [name, attribute] : list) {
      out.text(name);
      out.value(attribute.type.kind);
      out.value(attribute.type.text_bytes);
      out.dims(attribute.shape);
      out.list(std::span<const std::byte>(attribute.value));
      if (setters != nullptr) out.value(setters->at({object, name}));
    }
  }
  out.value(static_cast<int64_t>(d.options.size()));
  for (const auto& [name, options] : d.options) {
    out.text(name);
    out.text(options);
  }
  for (const auto* names : {&d.unlimited, &d.named, &d.groups, &d.removed, &d.left_out}) {
    out.value(static_cast<int64_t>(names->size()));
    for (const std::string& name : *names) out.text(name);
  }
}

// The data merged up the tree.
struct Said {
  Definitions all;
  Setters setters;
};

Result<Said> decode(Decoder& in) {
  Said said;
  Definitions& d = said.all;
  for (auto n = in.value<int64_t>(); n > 0 && in.ok(); --n) {
    Definition& definition = d.datasets[in.text()];
    definition.type.kind = in.value<Kind>();
    definition.type.text_bytes = in.value<int64_t>();
    definition.sharing = in.value<Sharing>();
    definition.shape = in.dims();
    definition.unlimited = in.value<bool>();
    definition.meant = in.text();
    definition.precision = in.text();
    definition.subset = decode_subset(in);
    definition.rank = in.value<int>();
  }
  for (auto n = in.value<int64_t>(); n > 0 && in.ok(); --n) {
    const std::string object = in.text();
    auto& list = d.attributes[object];
    for (auto m = in.value<int64_t>(); m > 0 && in.ok(); --m) {
      const std::string name = in.text();
      Attribute& attribute = list[name];
      attribute.name = name;
      attribute.type.kind = in.value<Kind>();
      attribute.type.text_bytes = in.value<int64_t>();
      attribute.shape = in.dims();
      attribute.value = in.list<std::byte>();
      said.setters[{object, name}] = in.value<int>();
    }
  }
  for (auto n = in.value<int64_t>(); n > 0 && in.ok(); --n) {
    std::string& options = d.options[in.text()];
    options = in.text();
  }
  for (auto* names : {&d.unlimited, &d.named, &d.groups, &d.removed, &d.left_out})
    for (auto n = in.value<int64_t>(); n > 0 && in.ok(); --n) names->insert(in.text());
  if (!in.ok()) return Status(Code::internal, "definitions from another rank cannot be decoded");
  return said;
}

// A status or definitions, as one message up or down the tree.
std::vector<std::byte> pack(const Status& status, const Said& said) {
  Encoder out;
  out.value(status.code());
  out.text(status.message());
  if (status.ok()) encode(out, said.all, &said.setters);
  return out.take();
}

Result<Said> unpack(std::span<const std::byte> bytes) {
  Decoder in(bytes);
  const auto code = in.value<Code>();
  std::string message = in.text();
  if (code != Code::ok) return Status(code, std::move(message));
  return decode(in);
}

Status send_up(const Communicator& comm, int parent, std::vector<std::byte> bytes) {
  struct Sent {
    int64_t length;
    std::vector<std::byte> bytes;
  };
  const auto length = static_cast<int64_t>(bytes.size());
  const auto sent = std::make_shared<Sent>(Sent{length, std::move(bytes)});
  PENSTOCK_ASSIGN(auto first, comm->send(parent, tag_length, std::as_bytes(std::span(&sent->length, 1))));
  PENSTOCK_ASSIGN(auto second, comm->send(parent, tag_payload, sent->bytes));
  Request both[] = {std::move(first), std::move(second)};
  const Status status = wait_all(both);
  if (!status.ok()) keep_for_ever(sent);
  return status;
}

Result<std::vector<std::byte>> receive_from(const Communicator& comm, int child) {
  int64_t length = 0;
  PENSTOCK_ASSIGN(auto first, comm->receive(child, tag_length, std::as_writable_bytes(std::span(&length, 1))));
  PENSTOCK_TRY(wait_all(std::span(&first, 1)));
  const auto bytes = std::make_shared<std::vector<std::byte>>(static_cast<size_t>(length));
  PENSTOCK_ASSIGN(auto second, comm->receive(child, tag_payload, *bytes));
  if (const Status status = wait_all(std::span(&second, 1)); !status.ok()) {
    keep_for_ever(bytes);
    return status;
  }
  return std::move(*bytes);
}

Status merge(Said& ours, const Said& theirs) {
  for (const auto& [name, definition] : theirs.all.datasets) PENSTOCK_TRY(add(ours.all, name, definition));
  for (const auto& [name, options] : theirs.all.options) {
    const auto [at, added] = ours.all.options.try_emplace(name, options);
    if (!added && at->second != options)
      return {Code::mismatch, fmt::format("'{}' has the options '{}' on one rank and '{}' on another: set the same",
                                          name, at->second, options)};
  }
  ours.all.unlimited.insert(theirs.all.unlimited.begin(), theirs.all.unlimited.end());
  ours.all.named.insert(theirs.all.named.begin(), theirs.all.named.end());
  ours.all.groups.insert(theirs.all.groups.begin(), theirs.all.groups.end());
  ours.all.removed.insert(theirs.all.removed.begin(), theirs.all.removed.end());
  ours.all.left_out.insert(theirs.all.left_out.begin(), theirs.all.left_out.end());
  for (const auto& [object, list] : theirs.all.attributes) {
    auto& own_list = ours.all.attributes[object];
    for (const auto& [name, attribute] : list) {
      const int rank = theirs.setters.at({object, name});
      const auto [at, added] = own_list.try_emplace(name, attribute);
      const auto setter = ours.setters.try_emplace({object, name}, rank).first;
      if (added || at->second == attribute) continue;
      const auto [here, there] = tell_apart(at->second, attribute);
      return {
          Code::mismatch,
          fmt::format("attribute '{}' of '{}' is {} on rank {} but {} on rank {}: set it alike, or on one rank only",
                      name, object.empty() ? "/" : object, here, setter->second, there, rank)};
    }
  }
  return {};
}

Result<Definitions> merge_up_tree(const Communicator& comm, Definitions mine) {
  Said said{std::move(mine), {}};
  Status status;
  const int rank = comm->rank();
  for (const auto& [object, list] : said.all.attributes)
    for (const auto& [name, attribute] : list) said.setters[{object, name}] = rank;
  for (int step = 1; step < comm->size(); step *= 2) {
    if (rank % (2 * step) == step) {
      PENSTOCK_TRY(send_up(comm, rank - step, pack(status, said)));
      break;
    }
    if (rank + step >= comm->size()) continue;
    PENSTOCK_ASSIGN(const auto bytes, receive_from(comm, rank + step));
    const auto theirs = unpack(bytes);
    if (status.ok()) status = theirs.ok() ? merge(said, *theirs) : theirs.status();
  }
  std::vector<std::byte> bytes;
  if (rank == 0) bytes = pack(status, said);
  PENSTOCK_TRY(comm->broadcast(bytes, 0));
  PENSTOCK_ASSIGN(Said agreed, unpack(bytes));
  return std::move(agreed.all);
}

}  // namespace

Sharing sharing_of(const Decomposition& part) {
  switch (part.form()) {
    case Decomposition::Form::ragged: return Sharing::ragged;
    case Decomposition::Form::replicated: return Sharing::replicated;
    case Decomposition::Form::per_rank: return Sharing::per_rank;
    default: return Sharing::partitioned;
  }
}

bool is_among(std::string_view object, const std::set<std::string>& names) {
  return std::ranges::any_of(names, [&](const std::string& name) { return is_in(object, name); });
}

Catalogue without(Catalogue old, const std::set<std::string>& removed) {
  if (removed.empty()) return old;
  std::erase_if(old.datasets, [&](const Dataset& dataset) { return is_among(dataset.name, removed); });
  std::erase_if(old.attributes, [&](const auto& one) { return is_among(one.first, removed); });
  return old;
}

std::string describe(const Definition& d) {
  const std::string& given = d.meant.empty() ? d.precision : d.meant;
  const std::string type = given.empty() ? name(d.type) : given + " as " + name(d.type);
  if (d.subset) {
    Definition whole = d;
    whole.subset.reset();
    whole.shape =
        d.subset->rows ? Dims(std::span(d.subset->shape.begin() + 1, d.subset->shape.end())) : d.subset->shape;
    return describe(whole);
  }
  switch (d.sharing) {
    case Sharing::ragged: return fmt::format("a ragged list of {} rows {}", type, describe(d.shape));
    case Sharing::per_rank: return fmt::format("one {} row {} for each rank", type, describe(d.shape));
    case Sharing::replicated: return fmt::format("replicated {} {}", type, describe(d.shape));
    case Sharing::partitioned: break;
  }
  return fmt::format("{} {}", type, describe(d.shape));
}

Status add(Definitions& all, const std::string& name, const Definition& theirs) {
  const auto [at, added] = all.datasets.try_emplace(name, theirs);
  if (added) return {};
  Definition& ours = at->second;
  Definition a = ours, b = theirs;
  const auto follow = [](Definition& one, const Definition& other) {
    if (one.meant != untyped) return;
    std::tie(one.type, one.meant, one.precision, one.rank) =
        std::tie(other.type, other.meant, other.precision, other.rank);
  };
  follow(a, b);
  follow(b, a);
  const bool unlimited = a.unlimited || b.unlimited;
  const bool grows = unlimited && a.sharing == Sharing::partitioned && a.shape.rank() > 0 && b.shape.rank() > 0;
  if (grows) a.shape[0] = b.shape[0] = std::max(a.shape[0], b.shape[0]);
  if (grows && a.subset && b.subset) {
    Subset &one = *a.subset, &other = *b.subset;
    one.shape[0] = other.shape[0] = std::max(one.shape[0], other.shape[0]);
    one.count[0] = other.count[0] = std::max(one.count[0], other.count[0]);
  }
  if (a.type != b.type || a.meant != b.meant || a.precision != b.precision || a.sharing != b.sharing ||
      !(a.shape == b.shape) || a.subset != b.subset) {
    if (ours.rank == theirs.rank)
      return {Code::mismatch,
              fmt::format("'{}' is {} and then {}: define it the same way", name, describe(ours), describe(theirs))};
    return {Code::mismatch, fmt::format("'{}' is {} on rank {} but {} on rank {}: define it the same way on all ranks",
                                        name, describe(ours), ours.rank, describe(theirs), theirs.rank)};
  }
  a.unlimited = unlimited;
  a.rank = std::min(a.rank, b.rank);
  ours = a;
  return {};
}

DefinitionBounds bounds_of(const Result<Definitions>& mine) {
  Encoder out;
  if (mine.ok()) encode(out, *mine, nullptr);
  const auto hash = static_cast<int64_t>(crc64(out.take()) >> 2);
  return {hash, -hash, !mine.ok()};
}

Result<Definitions> agree_definitions(const Communicator& comm, Result<Definitions> mine,
                                      const DefinitionBounds& maxima) {
  if (maxima[2] != 0) PENSTOCK_TRY(agree(comm, mine.status()));
  if (maxima[0] == -maxima[1]) return mine;
  return merge_up_tree(comm, *std::move(mine));
}

}  // namespace penstock
