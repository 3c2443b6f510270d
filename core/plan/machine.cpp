// Machine: a cost model: counts times rates.
#include "core/plan/machine.hpp"

#include <algorithm>

namespace penstock {
namespace {

double over(int64_t amount, double rate) { return rate > 0 ? static_cast<double>(amount) / rate : 0; }

// That of MOVERS ranks: more of them are faster up to what all reach.
double rate_of(int64_t movers, double one, double all) {
  return std::clamp(one * static_cast<double>(movers), std::min(one, all), std::max(one, all));
}

double rate(const Work& work, const Problem& problem, const Machine& m) {
  const auto of = [&](double one, double all) { return work.movers >= m.ranks ? all : rate_of(work.movers, one, all); };
  if (!problem.write && work.direct) return of(m.read_direct_one, m.read_direct_all);
  if (!problem.write)
    return problem.in_memory ? of(m.read_cache_one, m.read_cache_all) : of(m.read_device_one, m.read_device_all);
  if (work.direct) return of(m.write_direct_one, m.write_direct_all);
  return problem.durable ? of(m.write_synced_one, m.write_synced_all) : of(m.write_cache_one, m.write_cache_all);
}

}  // namespace

Machine usual_machine() {
  Machine m;
  m.copy = 8e9;
  m.send = 4e9;
  m.write_cache_one = 1.5e9;
  m.write_cache_all = 2.5e9;
  m.write_direct_one = m.write_direct_all = 1e9;
  m.write_synced_one = m.write_synced_all = 0.7e9;
  m.read_cache_one = 4e9;
  m.read_cache_all = 8e9;
  m.read_direct_one = m.read_direct_all = 1.5e9;
  m.read_device_one = m.read_device_all = 1.2e9;
  m.piece = 20e-9;
  m.message = 2e-6;
  m.collective = 20e-6;
  m.write_call = 4e-6;
  m.read_call = 2e-6;
  m.publish = 3e-3;
  return m;
}

const char* Estimate::limit() const {
  const double most = std::max({memory, messages, storage, fixed});
  if (most == storage) return "the file system";
  if (most == memory) return "memory copies";
  return most == messages ? "messages" : "calls without data";
}

Estimate estimate(const Work& work, const Problem& problem, const Machine& machine) {
  Estimate e;
  e.memory = over(work.copied, machine.copy) + static_cast<double>(work.pieces) * machine.piece;
  e.messages = over(work.sent, machine.send) + static_cast<double>(work.messages) * machine.message;
  e.storage = over(work.bytes, rate(work, problem, machine)) +
              static_cast<double>(work.calls) * (problem.write ? machine.write_call : machine.read_call);
  // What goes past the page cache leaves the processors to copies.
  if (work.direct || (!problem.write && !problem.in_memory)) {
    const double hidden = std::min(e.memory, e.storage);
    (e.memory > e.storage ? e.storage : e.memory) -= hidden;
  }
  // Of the library itself, as measured on one machine: reductions of a commit or read, and the definition, agreement
  // and checksums of a block.
  constexpr double own_collectives = 10, block_seconds = 70e-6;
  e.fixed = (own_collectives + static_cast<double>(work.collectives)) * machine.collective +
            static_cast<double>(problem.blocks) * block_seconds;
  if (problem.write && problem.durable) e.fixed += machine.publish;
  return e;
}

}  // namespace penstock
