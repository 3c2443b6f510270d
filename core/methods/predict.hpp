// Predict: the seconds that the plans worth trying should take, by a cost model.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/plan/machine.hpp"
#include "core/plan/plan.hpp"

namespace penstock {

struct Prediction {
  std::string transport;  // with its parameters
  Estimate estimate;
};

// For PROBLEM on MACHINE, by the transports' own counts. PLAN gives what is not of the transport. Transports that
// cannot tell, and those that are not defined for such a plan, are left out. The default is first.
std::vector<Prediction> predict(const Plan& plan, const Problem& problem, const Machine& machine);

// Whether a file system may refuse TRANSPORT, which names io=direct or io=mmap: such a plan is used only where wisdom
// shows that it works.
bool may_be_refused(std::string_view transport);

// Whether TRANSPORT names the stripes of a new file.
bool names_stripes(std::string_view transport);

// That of the plan to use: the default, unless another one, which no file system refuses, should be faster by more than
// such a model may err.
// REQUIRES: not empty.
const Prediction& best_of(const std::vector<Prediction>& predictions);

}  // namespace penstock
