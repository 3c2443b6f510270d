// Predict: asks each transport for its counts.
#include "core/methods/predict.hpp"

#include "core/methods/methods.hpp"
#include "core/transport/transport.hpp"

namespace penstock {

std::vector<Prediction> predict(const Plan& plan, const Problem& problem, const Machine& machine) {
  std::vector<Prediction> predictions;
  for (const std::string& transport : plans_to_try(problem.ranks)) {
    const auto with = with_transport(plan, transport, vocabulary());
    if (!with.ok() || !check_transport(*with, problem.write ? Direction::write : Direction::read).ok()) continue;
    if (const auto work = find_transport(with->transport)->estimate(problem, with->settings))
      predictions.push_back({transport, estimate(*work, problem, machine)});
  }
  return predictions;
}

bool may_be_refused(std::string_view transport) {
  return transport.find("io=direct") != std::string_view::npos || transport.find("io=mmap") != std::string_view::npos;
}

bool names_stripes(std::string_view transport) { return transport.find("stripe_count=") != std::string_view::npos; }

const Prediction& best_of(const std::vector<Prediction>& predictions) {
  constexpr double margin = 0.6;  // predictions were up to 1.6 times off on one machine
  const Prediction* best = &predictions.front();
  for (const Prediction& other : predictions) {
    if (may_be_refused(other.transport)) continue;
    const double seconds = other.estimate.seconds();
    if (seconds < best->estimate.seconds() && seconds < margin * predictions.front().estimate.seconds()) best = &other;
  }
  return *best;
}

}  // namespace penstock
