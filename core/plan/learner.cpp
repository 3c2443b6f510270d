// Learner: every plan once, the best ones again, then the fastest, until it gets slow.
#include "core/plan/learner.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

#include <fmt/format.h>

namespace penstock {
namespace {

constexpr size_t trials = 3;      // of the default, and of the plans that may win
constexpr int finalists = 3;      // with the default
constexpr double worth = 0.95;    // of the default's time: another plan must be as fast
constexpr size_t watched = 5;     // times after settling
constexpr double drift = 1.5;     // times slower than when it was chosen: something has changed
constexpr double hopeless = 1.5;  // times slower than the best in the first trial: not tried again
constexpr size_t max_questions = 64;

double median_of(std::vector<double> values) {
  if (values.empty()) return std::numeric_limits<double>::infinity();
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

double Learner::Arm::median() const { return median_of(seconds); }

int Learner::Question::tried() const {
  return static_cast<int>(
      std::ranges::count_if(arms, [](const Arm& arm) { return arm.refused || !arm.seconds.empty(); }));
}

int Learner::Question::to_try(bool may_try) const {
  if (arms[0].seconds.size() < trials - 1) return 0;
  if (!may_try) return 0;
  for (size_t i = 0; i < arms.size(); ++i)
    if (!arms[i].refused && arms[i].seconds.empty()) return static_cast<int>(i);
  std::vector<size_t> order;
  for (size_t i = 0; i < arms.size(); ++i)
    if (!arms[i].refused) order.push_back(i);
  std::ranges::stable_sort(order, {}, [&](size_t i) { return arms[i].median(); });
  const double fastest = arms[order[0]].median();
  int rank = 0;
  for (const size_t i : order) {
    if (i != 0 && (++rank > finalists || arms[i].median() > hopeless * fastest)) continue;
    if (arms[i].seconds.size() < trials) return static_cast<int>(i);
  }
  return -1;
}

int Learner::Question::best() const {
  int found = 0;
  for (size_t i = 1; i < arms.size(); ++i)
    if (!arms[i].refused && arms[i].seconds.size() >= trials &&
        arms[i].median() < arms[static_cast<size_t>(found)].median())
      found = static_cast<int>(i);
  return arms[static_cast<size_t>(found)].median() < worth * arms[0].median() ? found : 0;
}

void Learner::Question::settle() {
  settled = best();
  recent.clear();
}

void Learner::Question::forget() {
  for (Arm& arm : arms) arm.seconds.clear();
  settled = -1;
}

Learner::Advice Learner::next(const std::string& problem, const std::vector<std::string>& plans, double share) {
  if (questions_.size() > max_questions) questions_.clear();
  Question& question = questions_[problem];
  if (question.arms.empty())
    for (const std::string& plan : plans) question.arms.push_back({plan, {}, false});
  asked_ = &question;
  if (question.settled < 0) {
    const int arm = question.to_try(extra_ <= share * total_);
    if (arm < 0) question.settle();
    arm_ = static_cast<size_t>(std::max(arm, 0));
  }
  if (question.settled >= 0) arm_ = static_cast<size_t>(question.settled);
  const Arm& arm = question.arms[arm_];
  if (question.settled < 0)
    return {arm.plan, fmt::format("learning: {} of {} plans tried", question.tried(), question.arms.size())};
  const double ratio = arm.median() / question.arms[0].median();
  return {arm.plan, arm_ == 0 ? "learnt: the default" : fmt::format("learnt: {:.2f} of the default's time", ratio)};
}

void Learner::refuse() {
  if (asked_ == nullptr || arm_ == 0) return;
  asked_->arms[arm_].refused = true;
  if (asked_->settled == static_cast<int>(arm_)) asked_->settled = -1;
  asked_ = nullptr;
}

void Learner::took(double seconds) {
  if (asked_ == nullptr) return;
  Question& question = *asked_;
  asked_ = nullptr;
  total_ += seconds;
  Arm& arm = question.arms[arm_];
  if (question.settled < 0) {
    if (arm_ != 0) extra_ += std::max(0.0, seconds - question.arms[0].median());
    arm.seconds.push_back(seconds);
    return;
  }
  question.recent.push_back(seconds);
  if (question.recent.size() < watched) return;
  if (median_of(question.recent) > drift * arm.median()) question.forget();
  question.recent.erase(question.recent.begin(), question.recent.end() - (watched - 1));
}

}  // namespace penstock
