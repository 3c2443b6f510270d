// The exchange plan: made once for all rounds.
#include "core/transport/two_phase/exchange.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <unordered_map>

#include "core/base/crc64.hpp"
#include "core/base/encode.hpp"

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

// Numbers of a plan's parts, by their virtual bases.
using PartNumbers = std::unordered_map<int64_t, int32_t>;

PartNumbers numbers_of(std::span<const Part> parts) {
  PartNumbers numbers;
  for (size_t p = 0; p < parts.size(); ++p) numbers.emplace(parts[p].virtual_base, static_cast<int32_t>(p));
  return numbers;
}

// Converts the parts of one client to parts of PLAN, whose NUMBERS grow with them, and renumbers its pieces.
void add_client(ExchangePlan& plan, PartNumbers& numbers, int rank, std::vector<Piece> pieces,
                const std::vector<Part>& parts) {
  std::vector<int32_t> number(parts.size(), -1);
  for (Piece& piece : pieces) {
    int32_t& known = number[static_cast<size_t>(piece.part)];
    if (known < 0) {
      const Part& part = parts[static_cast<size_t>(piece.part)];
      const auto [at, is_new] = numbers.try_emplace(part.virtual_base, static_cast<int32_t>(plan.parts.size()));
      if (is_new) plan.parts.push_back(part);
      known = at->second;
    }
    piece.part = known;
  }
  plan.clients.push_back({rank, PieceList(std::move(pieces))});
}

Status read_client(ExchangePlan& plan, PartNumbers& numbers, const Message& message) {
  Decoder in(message.bytes);
  std::vector<Part> parts;
  for (auto n = in.value<int64_t>(); n > 0 && in.ok(); --n) parts.push_back({in.text()});
  bool good = in.value<int64_t>() == static_cast<int64_t>(parts.size());
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
  if (!good || !in.ok() || !in.done() || !places.done())
    return {Code::internal, "a plan of exchange cannot be decoded"};
  add_client(plan, numbers, message.peer, std::move(pieces), parts);
  return {};
}

}  // namespace

PieceList::PieceList(std::vector<Piece> pieces) : pieces_(std::move(pieces)) {
  reach_.reserve(pieces_.size());
  for (const Piece& piece : pieces_)
    reach_.push_back(std::max(last_address(piece), reach_.empty() ? INT64_MIN : reach_.back()));
  start_.resize(pieces_.size());
  int64_t lowest = INT64_MAX;
  for (size_t i = pieces_.size(); i-- > 0;) start_[i] = lowest = std::min(lowest, first_address(pieces_[i]));
}

std::span<const Piece> PieceList::near(AddressRange range) const {
  const auto from = std::upper_bound(reach_.begin(), reach_.end(), range.begin) - reach_.begin();
  const auto to = std::lower_bound(start_.begin() + from, start_.end(), range.end) - start_.begin();
  return {pieces_.begin() + from, pieces_.begin() + to};
}

int64_t PieceList::bytes_in(AddressRange range) const {
  int64_t bytes = 0;
  for (const Piece& piece : near(range)) bytes += penstock::bytes_in(piece, range.begin, range.end);
  return bytes;
}

// Runs shared by many pieces count once; those of this rank's own pieces belong to the decomposition.
int64_t PieceList::bytes() const {
  std::set<const MemoryRun*> runs;
  auto bytes = static_cast<int64_t>(pieces_.size() * (sizeof(Piece) + 2 * sizeof(int64_t)));
  for (const Piece& piece : pieces_)
    if (!piece.selection.is_box() && runs.insert(piece.selection.runs().data()).second)
      bytes += static_cast<int64_t>(piece.selection.runs().size_bytes());
  return bytes;
}

void Reach::add(const Reach& other) {
  begin = std::min(begin, other.begin);
  end = std::max(end, other.end);
  span = std::max(span, other.span);
}

Reach reach_of(std::span<const Piece> pieces) {
  Reach reach;
  double bytes = 0, spread = 0;
  for (const Piece& piece : pieces) {
    const auto own = static_cast<double>(piece.selection.count() * piece.element_bytes);
    if (own == 0) continue;
    const int64_t first = first_address(piece), last = last_address(piece);
    reach.begin = std::min(reach.begin, first);
    reach.end = std::max(reach.end, last);
    bytes += own;
    spread += static_cast<double>(last - first) * own;
  }
  if (bytes > 0) reach.span = static_cast<int64_t>(spread / bytes);
  return reach;
}

int64_t share_of_memory(const Settings& settings) { return settings.integer("memory_bytes") / 4; }

namespace {

int64_t window_bytes(const Settings& settings, int64_t nodes) {
  constexpr int64_t fits_caches = 3 << 20, fewer_rounds = 8 << 20;
  int64_t bytes = settings.integer("buffer_bytes");
  if (bytes == 0) bytes = nodes == 1 && settings.word("durability") == "none" ? fits_caches : fewer_rounds;
  return std::min(bytes, share_of_memory(settings) / 2);
}

}  // namespace

Cut make_cut(const Reach& all, const Settings& settings, int64_t nodes) {
  Cut cut;
  if (all.begin < all.end) {
    cut.begin = all.begin;
    cut.end = all.end;
  }
  cut.window = window_bytes(settings, nodes);
  cut.nodes = nodes;
  cut.writers = settings.integer("writers");
  cut.max_writers = settings.integer("max_concurrent_writers");
  cut.span = all.span;
  return cut;
}

std::vector<Route> find_routes(std::vector<Piece> pieces, const Domains& domains) {
  std::erase_if(pieces, [](const Piece& piece) { return piece.selection.count() == 0 || piece.element_bytes == 0; });
  std::ranges::stable_sort(pieces, {}, &Piece::address);
  std::map<int, std::vector<Piece>> by_writer;
  for (const Piece& piece : pieces) {
    const int first = domains.writer_at(first_address(piece));
    const int last = domains.writer_at(last_address(piece) - 1);
    for (int w = first; w <= last; ++w)
      if (first == last || bytes_in(piece, domains.cut(w), domains.cut(w + 1)) > 0) by_writer[w].push_back(piece);
  }
  std::vector<Route> routes;
  for (auto& [writer, list] : by_writer)
    routes.push_back({writer, domains.rank_of(writer), PieceList(std::move(list))});
  return routes;
}

Description describe_route(const std::vector<Part>& all_parts, const Domains& domains, const Route& route) {
  const int64_t begin = domains.cut(route.writer), end = domains.cut(route.writer + 1);
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
  Encoder named, out;
  named.value(static_cast<int64_t>(parts.order().size()));
  out.value(static_cast<int64_t>(parts.order().size()));
  for (const int32_t* index : parts.order()) {
    const Part& part = all_parts[static_cast<size_t>(*index)];
    named.text(part.path);
    out.value(part.bytes);
    out.value(part.virtual_base);
  }
  out.value(static_cast<int64_t>(patterns.order().size()));
  for (const auto* pattern : patterns.order()) out.list(std::span<const std::byte>(*pattern));
  out.value(static_cast<int64_t>(route.pieces.all().size()));
  out.list(std::span<const std::byte>(places.take()));
  return {named.take(), out.take()};
}

namespace {

// The part of JOB that corresponds to PART of an earlier job; null if this rank does not know it. NUMBERS are JOB's.
const Part* name_of(const Part& part, const Job& job, const PartNumbers& numbers) {
  const auto at = numbers.find(part.virtual_base);
  if (at == numbers.end()) return nullptr;
  const Part& found = job.parts[static_cast<size_t>(at->second)];
  return found.bytes == part.bytes ? &found : nullptr;
}

// Null unless this rank has sent before what KEY stands for, and knows the parts' present names.
const PlanCache::Entry* find_cached(const Job& job, const PlanCache& cache, uint64_t key) {
  const auto entry = std::find_if(cache.entries.rbegin(), cache.entries.rend(),
                                  [&](const PlanCache::Entry& e) { return e.key == key; });
  if (entry == cache.entries.rend()) return nullptr;
  const PartNumbers numbers = numbers_of(job.parts);
  const auto known = [&](const Part& part) { return name_of(part, job, numbers) != nullptr; };
  return std::ranges::all_of(entry->parts, known) ? &*entry : nullptr;
}

void keep(PlanCache& cache, const ExchangePlan& plan, uint64_t key) {
  constexpr size_t max_entries = 4;
  ++cache.exchanges;
  int64_t bytes = 0;
  for (const Client& client : plan.clients) bytes += client.pieces.bytes();
  if (bytes > cache.max_bytes) return;
  if (cache.entries.size() == max_entries) cache.entries.erase(cache.entries.begin());
  cache.entries.push_back({cache.exchanges, key, plan.clients, plan.parts});
}

// With the present names of the parts.
void use(ExchangePlan& plan, const PlanCache::Entry& entry, const Job& job) {
  plan.clients = entry.clients;
  plan.parts = entry.parts;
  const PartNumbers numbers = numbers_of(job.parts);
  for (Part& part : plan.parts) part.path = name_of(part, job, numbers)->path;
}

}  // namespace

OwnExchange::OwnExchange(const Job& job, Domains domains, const PlanCache& cache)
    : domains_(std::move(domains)), routes_(find_routes(job.pieces, domains_)) {
  if (job.comm->size() == 1) return;
  const int64_t cut[] = {domains_.begin, domains_.end, domains_.block, domains_.writers,
                         job.direction == Direction::read};
  key_ = crc64(std::as_bytes(std::span(cut)));
  for (const Route& route : routes_) {
    Description description = describe_route(job.parts, domains_, route);
    key_ = crc64(std::as_bytes(std::span(&route.rank, 1)), key_);
    key_ = crc64(description.pieces, key_);
    if (route.rank == job.comm->rank()) continue;
    Message message{route.rank, std::move(description.parts)};
    message.bytes.insert(message.bytes.end(), description.pieces.begin(), description.pieces.end());
    messages_.push_back(std::move(message));
  }
  cached_ = find_cached(job, cache, key_);
}

Result<ExchangePlan> OwnExchange::complete(const Job& job, bool repeats, PlanCache& cache) && {
  ExchangePlan plan;
  plan.routes = std::move(routes_);
  const int rank = job.comm->rank();
  if (repeats) {
    use(plan, *cached_, job);
  } else if (job.comm->size() > 1) {
    PENSTOCK_ASSIGN(const auto received, job.comm->sparse_exchange(std::move(messages_)));
    PartNumbers numbers;
    for (const Message& message : received) PENSTOCK_TRY(read_client(plan, numbers, message));
    keep(cache, plan, key_);
  }
  PartNumbers numbers = numbers_of(plan.parts);
  for (const Route& route : plan.routes) {
    const auto own = route.pieces.all();
    if (route.rank == rank) add_client(plan, numbers, rank, {own.begin(), own.end()}, job.parts);
  }
  std::ranges::stable_sort(plan.clients, {}, &Client::rank);
  for (const Route& route : plan.routes) plan.bytes += route.pieces.bytes();
  for (const Client& client : plan.clients) plan.bytes += client.pieces.bytes();
  return plan;
}

}  // namespace penstock
