// Moving: starts one transfer by the plan's transport, with one status for all ranks.
#include "core/session/state.hpp"

namespace penstock {

Result<std::unique_ptr<Transfer>> begin_transfer(File::State& state, Job& job, const Settings& settings) {
  job.storage = state.storage;
  job.hints = state.hints;
  job.block = settings.integer("block");
  auto transfer = state.transport->begin(job, settings);
  PENSTOCK_TRY(agree(state.comm, transfer.status()));
  return transfer;
}

}  // namespace penstock
