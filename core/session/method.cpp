// Method: chooses between the kinds.
#include "core/session/method.hpp"

namespace penstock {

Result<std::unique_ptr<Method>> make_method(const Plan& plan, Mode mode) {
  if (const Engine* engine = find_engine(plan.engine)) return engine_method(plan, *engine);
  if (mode != Mode::read) PENSTOCK_TRY(check_transport(plan, Direction::write));
  if (mode != Mode::create) PENSTOCK_TRY(check_transport(plan, Direction::read));
  return own_method(plan);
}

}  // namespace penstock
