// Letters: written and read.
#include "core/transport/two_phase/letter.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "core/transport/move.hpp"

namespace penstock {
namespace {

// What many pieces have in common: everything except their place. SELECTION: as far as it is told.
std::vector<std::byte> encode_pattern(const Piece& piece, const Selection& selection) {
  Encoder out;
  out.value(piece.element_bytes);
  out.value(piece.row_stride);
  selection.encode(out);
  return out.take();
}

Piece decode_pattern(std::span<const std::byte> bytes) {
  Decoder in(bytes);
  Piece pattern;
  pattern.element_bytes = in.value<int64_t>();
  pattern.row_stride = in.value<int64_t>();
  pattern.selection = Selection::decode(in);
  return pattern;
}

// Numbers different values in the order of their first occurrence.
template <typename Key>
class Numbers {
 public:
  int32_t of(Key key) {
    const auto [at, isnew] = numbers_.try_emplace(std::move(key), static_cast<int32_t>(order_.size()));
    if (isnew) order_.push_back(&at->first);
    return at->second;
  }
  const std::vector<const Key*>& order() const { return order_; }

 private:
  std::map<Key, int32_t> numbers_;
  std::vector<const Key*> order_;
};

}  // namespace

Status cannot_decode() { return {Code::internal, "a plan of exchange cannot be decoded"}; }

Result<Described> decode_pieces(const Description& description) {
  Decoder in(description.pieces);
  std::vector<Part> parts;
  for (const std::string& name : description.names) parts.push_back({name});
  bool good = in.value<int64_t>() == std::ssize(parts);
  for (Part& part : parts) {
    part.bytes = in.value<int64_t>();
    part.virtual_base = in.value<int64_t>();
  }
  std::vector<Piece> patterns;
  for (auto n = in.value<int64_t>(); n > 0 && in.ok(); --n) patterns.push_back(decode_pattern(in.list<std::byte>()));
  std::vector<Piece> pieces;
  const auto count = in.value<int64_t>();
  const auto bytes = in.list<std::byte>();
  Decoder places(bytes);
  for (auto n = count; n > 0 && places.ok(); --n) {
    const auto pattern = static_cast<size_t>(places.value<int32_t>());
    const auto part = places.value<int32_t>();
    const auto address = places.value<int64_t>();
    good = good && pattern < patterns.size() && static_cast<size_t>(part) < parts.size();
    if (!good) break;
    Piece& piece = pieces.emplace_back(patterns[pattern]);
    piece.part = part;
    piece.address = address;
  }
  if (!good || !in.ok() || !in.done() || !places.done()) return cannot_decode();
  return Described{std::move(pieces), std::move(parts)};
}

Description describe_route(const std::vector<Part>& all_parts, const Domains& domains, const Route& route, int rank) {
  const auto [begin, end] = domains.reach_of(route.writer);
  Numbers<int32_t> parts;
  Numbers<std::vector<std::byte>> patterns;
  std::map<std::array<int64_t, 5>, int32_t> known;  // patterns of runs that pieces share
  Encoder places;
  for (const Piece& piece : route.pieces.all()) {
    const Selection& whole = piece.selection;
    const int64_t from = std::max(whole.first(), element_floor(piece, begin));
    const int64_t to = std::min(whole.last(), element_floor(piece, end - 1) + 1);
    const auto number = [&] { return patterns.of(encode_pattern(piece, whole.packed(from, to))); };
    if (whole.is_box()) {
      places.value(number());
    } else {
      const auto runs = reinterpret_cast<intptr_t>(whole.runs().data());
      const auto [at, is_new] = known.try_emplace({runs, from, to, piece.element_bytes, piece.row_stride});
      if (is_new) at->second = number();
      places.value(at->second);
    }
    places.value(parts.of(piece.part));
    places.value(piece.address);
  }
  Description description{route.writer, rank, {}, {}};
  Encoder out;
  out.value(static_cast<int64_t>(parts.order().size()));
  for (const int32_t* index : parts.order()) {
    const Part& part = all_parts[static_cast<size_t>(*index)];
    description.names.push_back(part.path);
    out.value(part.bytes);
    out.value(part.virtual_base);
  }
  out.value(static_cast<int64_t>(patterns.order().size()));
  for (const auto* pattern : patterns.order()) out.list(std::span<const std::byte>(*pattern));
  out.value(static_cast<int64_t>(route.pieces.all().size()));
  out.list(std::span<const std::byte>(places.take()));
  description.pieces = out.take();
  return description;
}

void Letter::add(const Description& description) {
  descriptions_.value(int32_t{description.writer});
  descriptions_.value(int32_t{description.rank});
  descriptions_.value(static_cast<int32_t>(description.names.size()));
  for (const std::string& name : description.names) {
    const auto at = std::ranges::find(names_, name) - names_.begin();
    if (at == std::ssize(names_)) names_.push_back(name);
    descriptions_.value(static_cast<int32_t>(at));
  }
  descriptions_.list(std::span<const std::byte>(description.pieces));
}

int64_t Letter::bytes() const {
  auto bytes = static_cast<int64_t>(sizeof(int64_t) + descriptions_.size());
  for (const std::string& name : names_) bytes += static_cast<int64_t>(sizeof(int64_t) + name.size());
  return bytes;
}

std::vector<std::byte> Letter::take() {
  Encoder out;
  out.texts(names_);
  std::vector<std::byte> letter = out.take(), descriptions = descriptions_.take();
  letter.insert(letter.end(), descriptions.begin(), descriptions.end());
  return letter;
}

void add(Letters& letters, int receiver, const Description& description) {
  constexpr int64_t long_enough = 256 << 20;  // a message of a sparse exchange is at most 1 GiB
  std::vector<Letter>& list = letters[receiver];
  if (list.empty() || list.back().bytes() > long_enough) list.emplace_back();
  list.back().add(description);
}

Result<std::vector<Description>> Letter::read(std::span<const std::byte> letter, const Domains& domains) {
  std::vector<Description> all;
  Decoder in(letter);
  const std::vector<std::string> names = in.texts();
  while (in.ok() && !in.done()) {
    Description& one = all.emplace_back();
    one.writer = in.value<int32_t>();
    one.rank = in.value<int32_t>();
    bool good = one.writer >= 0 && one.writer < domains.writers;
    for (auto n = in.value<int32_t>(); n > 0 && good && in.ok(); --n) {
      const auto name = static_cast<size_t>(in.value<int32_t>());
      good = name < names.size();
      if (good) one.names.push_back(names[name]);
    }
    one.pieces = in.list<std::byte>();
    if (!good) return cannot_decode();
  }
  if (!in.ok()) return cannot_decode();
  return all;
}

}  // namespace penstock
