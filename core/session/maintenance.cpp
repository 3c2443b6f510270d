// Maintenance: verify, repair and seal of an open file or of a path.
#include <penstock/file.hpp>

#include "core/comm/calling.hpp"
#include "core/integrity/repair.hpp"
#include "core/integrity/verify.hpp"
#include "core/session/state.hpp"

namespace penstock {
namespace {

// Sets without parity are only checked.
Result<Repair> look_only(File& file) {
  PENSTOCK_ASSIGN(const Verification found, file.verify());
  const Status verdict = found.verdict(file.path());
  if (verdict.ok()) return Repair{};
  return Status(verdict.code(), verdict.message() +
                                    "; it has no parity (plan parameter parity=1 of sets), so that "
                                    "nothing of it can be rebuilt");
}

}  // namespace

Result<Verification> File::verify(const std::function<void(double)>& progress) {
  State& state = *state_;
  if (state.closed) return Status(Code::invalid, "the file is closed");
  if (!state.file) return Status(Code::invalid, "nothing was committed yet that could be verified");
  const Calling calling(state.target.comm, "verify", state.target.path);
  PENSTOCK_TRY(state.target.comm->barrier());  // a reduction detects ranks in other calls
  return penstock::verify(state.target, *state.file, progress);
}

Result<Repair> File::repair(const Communicator& comm, const std::string& path) {
  const Calling calling(comm, "repair", path, false);
  PENSTOCK_ASSIGN(File file, open_to_check(comm, path, true));
  State& state = *file.state_;
  const Contents& contents = state.file->contents;
  Result<Repair> result = Repair{};
  if (contents.parity) {
    result = repair_set(state.target, *state.file);
  } else if (contents.lost.empty()) {
    result = look_only(file);
  } else {
    const Status lost = open_to_check(comm, path).status();
    result = Status(lost.code(), lost.message() + "; it has no parity, so that nothing can be rebuilt");
  }
  const Status closed = file.close();
  if (result.ok() && !closed.ok()) return closed;
  return result;
}

Result<Sealed> File::seal(const Communicator& comm, const std::string& path, bool force) {
  const Calling calling(comm, "seal", path, false);
  PENSTOCK_ASSIGN(File file, open_to_check(comm, path));
  int64_t all_force = force;
  PENSTOCK_TRY(comm->all_reduce_min(std::span(&all_force, 1)));  // one rank without force is enough
  const auto found = file.verify();
  PENSTOCK_ASSIGN(Sealed sealed, penstock::seal(file.state_->target, *file.state_->file, found, all_force != 0));
  if (sealed.renewed) PENSTOCK_TRY(file.close());
  return sealed;
}

}  // namespace penstock
