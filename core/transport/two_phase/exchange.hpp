// The plan of exchange: who sends what to which writer, as selections and never as lists of offsets that both sides
// could compute.
#pragma once

#include <vector>

#include "core/transport/transport.hpp"
#include "core/transport/two_phase/domain.hpp"

namespace penstock {

// Pieces of this rank that lie in one writer's domain.
struct Route {
  int writer = 0;
  int rank = 0;             // the writer's
  std::vector<int> pieces;  // indices into Job::pieces
};

// Pieces of one rank that lie in this writer's domain; their elements travel packed in file order, piece after piece.
struct Client {
  int rank = 0;
  std::vector<Piece> pieces;  // memory only where the client is this rank; part indexes ExchangePlan::parts
};

struct ExchangePlan {
  std::vector<Route> routes;    // this rank as a source, by writer
  std::vector<Client> clients;  // this rank as a writer, by rank
  std::vector<Part> parts;      // that this writer has data of, by address
};

// Collective. One sparse exchange: each source sends each of its writers the selections that meet the writer's
// domain: a box as it is, runs cut to the domain. Afterwards both sides compute every message of every round by
// themselves.
Result<ExchangePlan> plan_exchange(const Job& job, const Domains& domains);

}  // namespace penstock
