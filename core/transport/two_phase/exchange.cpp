// The plan of exchange: made once for all rounds.
#include "core/transport/two_phase/exchange.hpp"

#include <algorithm>
#include <map>

#include "core/base/encode.hpp"
#include "core/transport/move.hpp"

namespace penstock {
namespace {

std::vector<Route> find_routes(const Job& job, const Domains& domains) {
  std::map<int, Route> routes;
  for (size_t i = 0; i < job.pieces.size(); ++i) {
    const Piece& piece = job.pieces[i];
    if (piece.selection.count() == 0 || piece.element_bytes == 0) continue;
    const int first = domains.writer_at(first_address(piece));
    const int last = domains.writer_at(last_address(piece) - 1);
    for (int w = first; w <= last; ++w) {
      if (bytes_in(piece, domains.cut(w), domains.cut(w + 1)) == 0) continue;
      Route& route = routes[w];
      route.writer = w;
      route.rank = domains.rank_of(w);
      route.pieces.push_back(static_cast<int>(i));
    }
  }
  std::vector<Route> list;
  for (auto& [writer, route] : routes) list.push_back(std::move(route));
  return list;
}

std::vector<std::byte> describe_route(const Job& job, const Domains& domains, const Route& route) {
  const int64_t begin = domains.cut(route.writer), end = domains.cut(route.writer + 1);
  Encoder out;
  std::map<int32_t, int32_t> number;  // of a part in this message
  std::vector<int32_t> used;
  for (const int i : route.pieces)
    if (number.try_emplace(job.pieces[static_cast<size_t>(i)].part, static_cast<int32_t>(used.size())).second)
      used.push_back(job.pieces[static_cast<size_t>(i)].part);
  out.value(static_cast<int64_t>(used.size()));
  for (const int32_t index : used) {
    const Part& part = job.parts[static_cast<size_t>(index)];
    out.text(part.path);
    out.value(part.bytes);
    out.value(part.virtual_base);
  }
  out.value(static_cast<int64_t>(route.pieces.size()));
  for (const int i : route.pieces) {
    const Piece& piece = job.pieces[static_cast<size_t>(i)];
    out.value(number[piece.part]);
    out.value(piece.address);
    out.value(piece.element_bytes);
    out.value(piece.row_stride);
    piece.selection.packed(element_floor(piece, begin), element_floor(piece, end - 1) + 1).encode(out);
  }
  return out.take();
}

// Parts of one client become parts of the plan; pieces are renumbered.
void add_client(ExchangePlan& plan, Client client, const std::vector<Part>& parts) {
  for (Piece& piece : client.pieces) {
    const Part& part = parts[static_cast<size_t>(piece.part)];
    const auto known = std::find_if(plan.parts.begin(), plan.parts.end(),
                                    [&](const Part& p) { return p.virtual_base == part.virtual_base; });
    piece.part = static_cast<int32_t>(known - plan.parts.begin());
    if (known == plan.parts.end()) plan.parts.push_back(part);
  }
  plan.clients.push_back(std::move(client));
}

Status read_client(ExchangePlan& plan, const Message& message) {
  Decoder in(message.bytes);
  std::vector<Part> parts;
  for (auto n = in.value<int64_t>(); n > 0 && in.ok(); --n) {
    Part part;
    part.path = in.text();
    part.bytes = in.value<int64_t>();
    part.virtual_base = in.value<int64_t>();
    parts.push_back(std::move(part));
  }
  Client client;
  client.rank = message.peer;
  for (auto n = in.value<int64_t>(); n > 0 && in.ok(); --n) {
    Piece piece;
    piece.part = in.value<int32_t>();
    piece.address = in.value<int64_t>();
    piece.element_bytes = in.value<int64_t>();
    piece.row_stride = in.value<int64_t>();
    piece.selection = Selection::decode(in);
    client.pieces.push_back(std::move(piece));
  }
  if (!in.ok() || !in.done()) return {Code::internal, "a plan of exchange cannot be decoded"};
  add_client(plan, std::move(client), parts);
  return {};
}

}  // namespace

Result<ExchangePlan> plan_exchange(const Job& job, const Domains& domains) {
  ExchangePlan plan;
  plan.routes = find_routes(job, domains);
  std::vector<Message> messages;
  const int rank = job.comm->rank();
  for (const Route& route : plan.routes) {
    if (route.rank != rank) {
      messages.push_back({route.rank, describe_route(job, domains, route)});
      continue;
    }
    Client self{rank, {}};
    for (const int i : route.pieces) self.pieces.push_back(job.pieces[static_cast<size_t>(i)]);
    add_client(plan, std::move(self), job.parts);
  }
  PENSTOCK_ASSIGN(const auto received, job.comm->sparse_exchange(std::move(messages)));
  for (const Message& message : received) PENSTOCK_TRY(read_client(plan, message));
  std::stable_sort(plan.clients.begin(), plan.clients.end(),
                   [](const Client& a, const Client& b) { return a.rank < b.rank; });
  return plan;
}

}  // namespace penstock
