// The exchange plan: made once for all rounds.
#include "core/transport/two_phase/exchange.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>

#include "core/base/crc64.hpp"

namespace penstock {
namespace {

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
