// Learner: a running program tries plans on its own commits and reads, and settles on the fastest.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace penstock {

// One for the ranks of a communicator, in the same state on all of them: they ask in the same order, and take the same
// seconds. Everything is local.
class Learner {
 public:
  struct Advice {
    std::string plan;
    std::string reason;  // "learning: 3 of 14 plans tried", "learnt: 0.71 of the default's time"
  };

  // The plan to use now for PROBLEM: one of PLANS, which are the same each time. The first is the default. Trials of
  // other plans may take SHARE of the time of all problems' calls, in addition: the next one waits until those before
  // are within it.
  Advice next(const std::string& problem, const std::vector<std::string>& plans, double share);
  // The plan of the last next() cannot be used, and is not the default: it is not tried again.
  void refuse();
  // What the last next() was for took so many SECONDS, on the slowest rank. Without it the trial does not count.
  void took(double seconds);

 private:
  struct Arm {
    std::string plan;
    std::vector<double> seconds;
    bool refused = false;

    double median() const;
  };
  struct Question {
    std::vector<Arm> arms;
    int settled = -1;            // an arm
    std::vector<double> recent;  // seconds since then

    int tried() const;
    int to_try(bool may_try) const;  // -1: all is known
    int best() const;                // of those that were tried often enough
    void settle();
    void forget();  // what was measured
  };

  std::map<std::string, Question> questions_;
  double total_ = 0, extra_ = 0;  // seconds of all, and of trials beyond the default's median
  Question* asked_ = nullptr;
  size_t arm_ = 0;
};

}  // namespace penstock
