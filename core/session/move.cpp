// Moving: one transfer by the plan's transport, ending in one status for all ranks.
#include "core/session/state.hpp"

namespace penstock {

Status move_pieces(File::State& state, Job job, const Settings& settings) {
  job.comm = state.comm;
  job.storage = state.storage;
  job.block = settings.integer("block");
  job.phases = &state.report.phases;
  auto transfer = state.transport->begin(job, settings);
  PENSTOCK_TRY(agree(state.comm, transfer.status()));
  const Status status = (*transfer)->finish();
  state.report.writers = (*transfer)->touched_files() ? 1 : 0;
  PhaseTimer timer(state.report.phases, Phase::commit);
  return agree(state.comm, status);
}

}  // namespace penstock
