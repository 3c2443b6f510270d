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
void add_client(ExchangePlan& plan, PartNumbers& numbers, int rank, int carrier, std::vector<Piece> pieces,
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
  plan.clients.push_back({rank, carrier, PieceList(std::move(pieces))});
}

Status cannot_decode() { return {Code::internal, "a plan of exchange cannot be decoded"}; }

struct Described {
  std::vector<Piece> pieces;
  std::vector<Part> parts;
};

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

}  // namespace

PieceList::PieceList(std::vector<Piece> pieces) {
  Lists lists;
  lists.reach.reserve(pieces.size());
  for (const Piece& piece : pieces)
    lists.reach.push_back(std::max(last_address(piece), lists.reach.empty() ? INT64_MIN : lists.reach.back()));
  lists.start.resize(pieces.size());
  int64_t lowest = INT64_MAX;
  for (size_t i = pieces.size(); i-- > 0;) lists.start[i] = lowest = std::min(lowest, first_address(pieces[i]));
  lists.pieces = std::move(pieces);
  lists_ = std::make_shared<const Lists>(std::move(lists));
}

std::span<const Piece> PieceList::near(AddressRange range) const {
  if (!lists_) return {};
  const std::vector<int64_t>&reach = lists_->reach, &start = lists_->start;
  const auto from = std::upper_bound(reach.begin(), reach.end(), range.begin) - reach.begin();
  const auto to = std::lower_bound(start.begin() + from, start.end(), range.end) - start.begin();
  return {lists_->pieces.begin() + from, lists_->pieces.begin() + to};
}

int64_t PieceList::bytes_in(const Window& window) const {
  int64_t bytes = 0;
  for (const AddressRange& range : window.ranges)
    for (const Piece& piece : near(range)) bytes += penstock::bytes_in(piece, range.begin, range.end);
  return bytes;
}

// Runs shared by many pieces count once; those of this rank's own pieces belong to the decomposition.
int64_t PieceList::bytes() const {
  std::set<const MemoryRun*> runs;
  auto bytes = static_cast<int64_t>(all().size() * (sizeof(Piece) + 2 * sizeof(int64_t)));
  for (const Piece& piece : all())
    if (!piece.selection.is_box() && runs.insert(piece.selection.runs().data()).second)
      bytes += static_cast<int64_t>(piece.selection.runs().size_bytes());
  return bytes;
}

Load load_of(const Parcel& parcel, const Window& window) {
  int64_t bytes = 0;
  for (const Client& client : parcel.clients) bytes += client.pieces.bytes_in(window);
  const int64_t all = window.bytes();
  return {std::min(bytes, all), bytes > all};
}

void copy_load(const PieceList& pieces, const Window& window, std::byte* data, bool image, Direction direction) {
  for (const AddressRange& range : window.ranges) {
    for (const Piece& piece : pieces.near(range)) {
      if (image)
        copy_window(piece, range, data, direction);
      else
        data = copy_packed(piece, range, data, direction);
    }
    if (image) data += range.end - range.begin;
  }
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

namespace {

// All writers with bytes of PIECE, and possibly others; in order.
std::set<int> writers_near(const Piece& piece, const Domains& domains) {
  std::set<int> writers;
  for (const AddressRange& places : domains.order.places_near(piece)) {
    const int last = domains.writer_at(places.end - 1);
    for (int w = domains.writer_at(places.begin); w <= last; ++w) writers.insert(w);
  }
  return writers;
}

}  // namespace

std::vector<Route> find_routes(std::vector<Piece> pieces, const Domains& domains) {
  std::erase_if(pieces, [](const Piece& piece) { return piece.selection.count() == 0 || piece.element_bytes == 0; });
  std::ranges::stable_sort(pieces, {}, &Piece::address);
  std::map<int, std::vector<Piece>> by_writer;
  std::map<int, std::vector<AddressRange>> owned;  // by writer, by address
  for (const Piece& piece : pieces)
    for (const int w : writers_near(piece, domains)) {
      const auto [known, is_new] = owned.try_emplace(w);
      std::vector<AddressRange>& its = known->second;
      if (is_new) {
        its = domains.domain_of(w).ranges;
        std::ranges::sort(its, {}, &AddressRange::begin);
      }
      const int64_t end = last_address(piece);
      auto range = std::ranges::upper_bound(its, first_address(piece), {}, &AddressRange::end);
      while (range != its.end() && range->begin < end && bytes_in(piece, range->begin, range->end) == 0) ++range;
      if (range != its.end() && range->begin < end) by_writer[w].push_back(piece);
    }
  std::vector<Route> routes;
  for (auto& [writer, list] : by_writer)
    routes.push_back({writer, domains.rank_of(writer), PieceList(std::move(list))});
  return routes;
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

int64_t bytes_of(const std::vector<Client>& clients) {
  int64_t bytes = 0;
  for (const Client& client : clients) bytes += client.pieces.bytes();
  return bytes;
}

void keep(PlanCache& cache, const ExchangePlan& plan, uint64_t key) {
  constexpr size_t max_entries = 4;
  int64_t bytes = bytes_of(plan.clients);
  for (const Parcel& parcel : plan.parcels) bytes += bytes_of(parcel.clients);
  if (bytes > cache.max_bytes) return;
  if (cache.entries.size() == max_entries) cache.entries.erase(cache.entries.begin());
  cache.entries.push_back({cache.exchanges, key, plan.clients, plan.parts, plan.parcels, plan.leaves_node});
}

// With the present names of the parts.
void use(ExchangePlan& plan, const PlanCache::Entry& entry, const Job& job) {
  plan.clients = entry.clients;
  plan.parts = entry.parts;
  plan.parcels = entry.parcels;
  plan.leaves_node = entry.leaves_node;
  const PartNumbers numbers = numbers_of(job.parts);
  for (Part& part : plan.parts) part.path = name_of(part, job, numbers)->path;
}

std::vector<Message> messages_of(Letters& letters) {
  std::vector<Message> messages;
  for (auto& [receiver, list] : letters)
    for (Letter& letter : list) messages.push_back({receiver, letter.take()});
  return messages;
}

}  // namespace

OwnExchange::OwnExchange(const Job& job, Domains domains, Ways ways, const PlanCache& cache)
    : domains_(std::move(domains)), ways_(std::move(ways)), routes_(find_routes(job.pieces, domains_)) {
  if (job.comm->size() == 1) return;
  const int64_t cut[] = {domains_.begin, domains_.end, domains_.block, domains_.writers,
                         job.direction == Direction::read};
  key_ = crc64(std::as_bytes(std::span(cut)));
  for (const NodeGrid& grid : domains_.order.grids()) {
    key_ = crc64(std::as_bytes(std::span(grid.shape.begin(), grid.shape.end())), key_);
    for (const std::vector<int64_t>& cuts : grid.cuts) key_ = crc64(std::as_bytes(std::span(cuts)), key_);
    key_ = crc64(std::as_bytes(std::span(grid.fields)), key_);
  }
  key_ = crc64(std::as_bytes(std::span(ways_.couriers)), key_);
  std::vector<Description> told;
  int64_t bytes = 0;
  for (const Route& route : routes_) {
    Description description = describe_route(job.parts, domains_, route, ways_.rank);
    key_ = crc64(std::as_bytes(std::span(&route.rank, 1)), key_);
    key_ = crc64(description.pieces, key_);
    if (route.rank == ways_.rank) continue;
    bytes += std::ssize(description.pieces);
    told.push_back(std::move(description));
  }
  for (const Description& description : told) {
    const int writer = domains_.rank_of(description.writer);
    if (ways_.couriers.empty())
      add(letters_, writer, description);
    else if (bytes <= longest_short_plan)
      add(letters_, ways_.secretary(), description);
    else
      add(letters_, ways_.taker(description.writer, writer), description);
  }
  cached_ = find_cached(job, cache, key_);
}

// The writers' clients, and parcels for others.
Status OwnExchange::tell(const Job& job, const Communicator& node, ExchangePlan& plan) {
  PartNumbers numbers;
  std::map<int, Parcel> parcels;  // by writer
  Letters to_writers;             // on other nodes
  // Of a description that PEER sent, and that ends here or at a writer to which this rank carries data.
  const auto take = [&](int peer, const Description& told) -> Status {
    PENSTOCK_ASSIGN(Described described, decode_pieces(told));
    const int writer = domains_.rank_of(told.writer);
    if (writer == ways_.rank) {
      const int carrier = ways_.is_near(told.rank) ? told.rank : peer;
      add_client(plan, numbers, told.rank, carrier, std::move(described.pieces), described.parts);
      return {};
    }
    Parcel& parcel = parcels.try_emplace(told.writer, Parcel{told.writer, writer, {}}).first->second;
    parcel.clients.push_back({told.rank, ways_.rank, PieceList(std::move(described.pieces))});
    add(to_writers, writer, told);
    return {};
  };
  // PASSED_ON: what others of the node must take.
  const auto read_letter = [&](int peer, std::span<const std::byte> letter, Letters* passed_on) -> Status {
    PENSTOCK_ASSIGN(const std::vector<Description> all, Letter::read(letter, domains_));
    for (const Description& told : all) {
      const int writer = domains_.rank_of(told.writer);
      const int taker = ways_.couriers.empty() ? writer : ways_.taker(told.writer, writer);
      if (taker == ways_.rank)
        PENSTOCK_TRY(take(peer, told));
      else if (passed_on != nullptr)
        add(*passed_on, taker, told);
      else
        return cannot_decode();
    }
    return {};
  };
  Status status;  // others wait for the next exchange in any case
  const auto read = [&](int peer, std::span<const std::byte> letter, Letters* passed_on) {
    const Status failed = read_letter(peer, letter, passed_on);
    if (status.ok()) status = failed;
  };
  const auto exchange_on_node = [&](Letters letters, Letters* passed_on) {
    std::vector<Message> messages;
    for (Message& message : messages_of(letters)) {
      const int receiver = message.peer;
      message.peer = static_cast<int>(std::ranges::lower_bound(ways_.node, receiver) - ways_.node.begin());
      if (receiver == ways_.rank)
        read(receiver, message.bytes, passed_on);
      else
        messages.push_back(std::move(message));
    }
    const auto received = node->sparse_exchange(std::move(messages));
    if (!received.ok() && status.ok()) status = received.status();
    for (const Message& message : received.ok() ? *received : std::vector<Message>())
      read(ways_.node[static_cast<size_t>(message.peer)], message.bytes, passed_on);
  };
  if (!ways_.couriers.empty()) {
    Letters passed_on;
    exchange_on_node(std::move(letters_), &passed_on);
    exchange_on_node(std::move(passed_on), nullptr);
    letters_ = std::move(to_writers);
  }
  PENSTOCK_ASSIGN(const auto received, job.comm->sparse_exchange(messages_of(letters_)));
  for (const Message& message : received) read(message.peer, message.bytes, nullptr);
  for (auto& [writer, parcel] : parcels) {
    std::ranges::sort(parcel.clients, {}, &Client::rank);
    plan.parcels.push_back(std::move(parcel));
  }
  if (ways_.couriers.empty()) return status;
  const auto is_far = [&](const Client& client) { return !ways_.is_near(client.rank); };
  int64_t leaves = !plan.parcels.empty() || std::ranges::any_of(plan.clients, is_far);
  const Status reduced = node->all_reduce_max(std::span(&leaves, 1));
  plan.leaves_node = leaves != 0;
  return status.ok() ? reduced : status;
}

Result<ExchangePlan> OwnExchange::complete(const Job& job, const Communicator& node, bool repeats,
                                           PlanCache& cache) && {
  ExchangePlan plan;
  plan.routes = std::move(routes_);
  if (repeats) {
    use(plan, *cached_, job);
  } else if (job.comm->size() > 1) {
    ++cache.exchanges;
    PENSTOCK_TRY(tell(job, node, plan));
    keep(cache, plan, key_);
  }
  PartNumbers numbers = numbers_of(plan.parts);
  for (const Route& route : plan.routes) {
    const auto own = route.pieces.all();
    if (route.rank == ways_.rank)
      add_client(plan, numbers, ways_.rank, ways_.rank, {own.begin(), own.end()}, job.parts);
    else if (ways_.couriers.empty() && !ways_.is_near(route.rank))
      plan.parcels.push_back({route.writer, route.rank, {{ways_.rank, ways_.rank, route.pieces}}});
  }
  std::ranges::stable_sort(plan.clients, {}, &Client::rank);
  for (const Route& route : plan.routes) plan.bytes += route.pieces.bytes();
  plan.bytes += bytes_of(plan.clients);
  if (!ways_.couriers.empty())
    for (const Parcel& parcel : plan.parcels) plan.bytes += bytes_of(parcel.clients);
  return plan;
}

}  // namespace penstock
