// Method: chooses between the kinds.
#include "core/commit/method.hpp"

#include "core/engine/engine.hpp"
#include "core/methods/methods.hpp"

namespace penstock {

Result<std::unique_ptr<Method>> make_method(const Plan& plan, bool writes, bool reads) {
  if (const Engine* engine = find_engine(plan.engine)) return engine_method(plan, *engine);
  if (writes) PENSTOCK_TRY(check_transport(plan, Direction::write));
  if (reads) PENSTOCK_TRY(check_transport(plan, Direction::read));
  return own_method(plan);
}

}  // namespace penstock
