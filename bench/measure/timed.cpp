// Timed operations: nothing but the operation between the barriers.
#include "bench/measure/timed.hpp"

namespace penstock::bench {

namespace {

// A rank whose local call failed still closes, since close is collective and reports for all.
Status write(const Communicator& comm, const Target& target, const Pieces& pieces, bool partial, Report& report) {
  PENSTOCK_ASSIGN(File file, File::create(comm, target.path, target.plan));
  file.set_partial(partial);
  const std::vector<Field>& fields = target.workload->fields();
  Status status;
  for (size_t i = 0; i < fields.size() && status.ok(); ++i)
    status = file.lend(fields[i].name, target.type, pieces.parts[i], pieces.buffers[i].data());
  const Status closed = file.close();
  report = file.report();
  return status.ok() ? closed : status;
}

Status read(const Communicator& readers, const Target& target, Pieces& pieces, Report& report) {
  PENSTOCK_ASSIGN(File file, File::open(readers, target.path, target.plan));
  const std::vector<Field>& fields = target.workload->fields();
  Status status;
  for (size_t i = 0; i < fields.size() && status.ok(); ++i)
    status = file.get(fields[i].name, target.type, pieces.parts[i], pieces.buffers[i].data());
  const Status closed = file.close();
  report = file.report();
  return status.ok() ? closed : status;
}

}  // namespace

Result<Timing> timed_write(const Communicator& comm, const Target& target, const Pieces& pieces) {
  const bool partial = has_holes(*target.workload);
  Timing timing;
  PENSTOCK_TRY(comm->barrier());
  const double start = now();
  const Status status = write(comm, target, pieces, partial, timing.report);
  timing.seconds = now() - start;
  PENSTOCK_TRY(comm->barrier());
  PENSTOCK_TRY(agree(comm, status));
  return timing;
}

Result<Timing> timed_read(const Communicator& comm, const Communicator& readers, const Target& target, Pieces& pieces) {
  Timing timing;
  Status status;
  PENSTOCK_TRY(comm->barrier());
  if (readers) {
    const double start = now();
    status = read(readers, target, pieces, timing.report);
    timing.seconds = now() - start;
  }
  PENSTOCK_TRY(comm->barrier());
  PENSTOCK_TRY(agree(comm, status));
  return timing;
}

}  // namespace penstock::bench
