// Schedule: shuffles turns, and evaluates the warm-up.
#include "bench/measure/schedule.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <limits>
#include <random>
#include <string_view>

namespace penstock::bench {

namespace {

// Our own shuffle, since the standard library's differs between implementations.
template <typename T>
void shuffle(std::vector<T>& list, std::mt19937_64& random) {
  for (size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[random() % i]);
}

double warmup(const Outcome& outcome, Operation operation) {
  const auto& sample = outcome.series[static_cast<size_t>(operation)].warmup;
  return sample ? sample->seconds : 0;
}

bool is_fastest(const Results& results, const Outcome& outcome, Operation operation) {
  return std::none_of(results.outcomes.begin(), results.outcomes.end(), [&](const Outcome& other) {
    return other.error.ok() && other.method.rivals == outcome.method.rivals &&
           warmup(other, operation) < warmup(outcome, operation);
  });
}

}  // namespace

std::vector<Turn> shuffled_turns(const std::vector<Case>& cases, uint64_t seed, int repetition) {
  std::seed_seq sequence{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32),
                         static_cast<uint32_t>(repetition)};
  std::mt19937_64 random(sequence);
  std::vector<std::string_view> groups;
  for (const Case& one : cases)
    if (std::find(groups.begin(), groups.end(), one.group) == groups.end()) groups.push_back(one.group);
  shuffle(groups, random);
  std::vector<Turn> order;
  for (const std::string_view group : groups) {
    std::vector<Turn> turns;
    for (size_t c = 0; c < cases.size(); ++c)
      for (size_t m = 0; cases[c].group == group && m < cases[c].methods.size(); ++m) turns.push_back({c, m});
    shuffle(turns, random);
    order.insert(order.end(), turns.begin(), turns.end());
  }
  return order;
}

std::vector<Patience> patience(const Results& results, double factor) {
  std::vector<Patience> all(results.outcomes.size());
  const Outcome& first = results.outcomes[0];
  const auto whole = [](const Outcome& o) { return warmup(o, Operation::write) + warmup(o, Operation::read); };
  for (size_t i = 1; i < all.size() && first.error.ok(); ++i) {
    const Outcome& outcome = results.outcomes[i];
    const double times = whole(outcome) / std::max(whole(first), std::numeric_limits<double>::min());
    if (!outcome.error.ok() || outcome.method.control || times <= factor) continue;
    const bool needed = outcome.method.rivals.empty() || is_fastest(results, outcome, Operation::write) ||
                        is_fastest(results, outcome, Operation::read);
    (needed ? all[i].slow : all[i].dropped) =
        fmt::format("took {:.3g} times as long as {} in the warm-up", times, first.method.label);
  }
  return all;
}

}  // namespace penstock::bench
