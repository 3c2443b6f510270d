// Timed operations: only the operation is between the barriers.
#include "bench/measure/timed.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <span>
#include <thread>

#include "bench/measure/resident.hpp"

namespace penstock::bench {

namespace {

// The compute phase in front of a write, and its duration.
struct InFront {
  const Compute* compute = nullptr;
  double seconds = 0;
};

// A rank with a failed local call still closes, since close is collective and reports for all.
Status write(const Communicator& comm, const TimedFile& target, const Pieces& pieces, bool put, InFront* front,
             Report& report) {
  PENSTOCK_ASSIGN(File file, File::create(comm, target.path, target.plan));
  file.set_partial(has_holes(*target.workload));
  Status status;
  for (size_t i = 0; i < pieces.size() && status.ok(); ++i) {
    const Piece& piece = pieces[i];
    const Field& field = target.workload->fields()[static_cast<size_t>(piece.field)];
    status = put ? file.put(field.name, field.type, piece.part, piece.bytes.data(), piece.memory())
                 : file.lend(field.name, field.type, piece.part, piece.bytes.data(), piece.memory());
  }
  if (front != nullptr && status.ok()) status = file.commit_start();
  if (front != nullptr) {
    const double start = now();
    front->compute->run([&] { (void)file.commit_test(); });
    front->seconds = now() - start;
  }
  const Status closed = file.close();
  report = file.report();
  return status.ok() ? closed : status;
}

Status read(const Communicator& readers, const TimedFile& target, const Pieces& pieces, Report& report) {
  PENSTOCK_ASSIGN(File file, File::open(readers, target.path, target.plan));
  Status status;
  for (size_t i = 0; i < pieces.size() && status.ok(); ++i) {
    const Piece& piece = pieces[i];
    const Field& field = target.workload->fields()[static_cast<size_t>(piece.field)];
    status = file.get(field.name, field.type, piece.part, piece.bytes.data(), piece.memory());
  }
  const Status closed = file.close();
  report = file.report();
  return status.ok() ? closed : status;
}

}  // namespace

Result<Compute> Compute::calibrate(const Communicator& comm, double seconds) {
  Compute compute;
  compute.steps_ = 1;
  PENSTOCK_TRY(comm->barrier());
  for (double elapsed = 0; elapsed < seconds / 4;) {
    compute.steps_ *= 2;
    const double start = now();
    compute.run([] {});
    elapsed = now() - start;
    if (elapsed >= seconds / 4)
      compute.steps_ = static_cast<int64_t>(static_cast<double>(compute.steps_) * seconds / elapsed);
  }
  PENSTOCK_TRY(comm->all_reduce_max(std::span(&compute.steps_, 1)));
  return compute;
}

Compute Compute::asleep(double seconds) {
  Compute compute;
  compute.sleep_seconds_ = seconds;
  return compute;
}

void Compute::run(const std::function<void()>& step) const {
  constexpr std::chrono::milliseconds nap(1);
  for (const double end = now() + sleep_seconds_; sleep_seconds_ > 0 && now() < end; step())
    std::this_thread::sleep_for(nap);
  volatile double sink = 0;
  double x = 1;
  for (int64_t i = 0; i < steps_; ++i) {
    for (int k = 0; k < 20000; ++k) x = x * 1.0000001 + 1e-9;
    if (i % 64 == 0) step();
  }
  sink = x;
  (void)sink;
}

namespace {

// Collective. Copies to memory that was touched before, as in a library that keeps its buffers.
Result<double> copy_time(const Communicator& comm, const Pieces& pieces) {
  static std::vector<std::byte> copy;
  for (const Piece& piece : pieces)
    if (copy.size() < piece.bytes.size()) copy.resize(piece.bytes.size());
  PENSTOCK_TRY(comm->barrier());
  const double start = now();
  for (const Piece& piece : pieces) std::memcpy(copy.data(), piece.bytes.data(), piece.bytes.size());
  PENSTOCK_TRY(comm->barrier());
  return now() - start;
}

// Calls OPERATION, which fills in its timing, between two barriers.
template <typename Operation>
Result<Timing> between_barriers(const Communicator& comm, Operation operation) {
  Timing timing;
  const ResidentPeak memory;
  PENSTOCK_TRY(comm->barrier());
  const Status status = operation(timing);
  PENSTOCK_TRY(comm->barrier());
  timing.resident_growth = memory.growth();
  PENSTOCK_TRY(agree(comm, status));
  return timing;
}

}  // namespace

Result<Timing> timed_background_write(const Communicator& comm, const TimedFile& target, const Pieces& pieces,
                                      const Compute& compute, bool put) {
  PENSTOCK_ASSIGN(const double copy_seconds, copy_time(comm, pieces));
  InFront front{.compute = &compute};
  auto timed = between_barriers(comm, [&](Timing& timing) -> Status {
    timing.copy_seconds = copy_seconds;
    double start = now();
    compute.run([] {});
    PENSTOCK_TRY(comm->barrier());
    timing.compute_seconds = now() - start;
    start = now();
    const Status status = write(comm, target, pieces, put, &front, timing.report);
    PENSTOCK_TRY(comm->barrier());
    timing.seconds = now() - start;
    return status;
  });
  auto slowest = static_cast<int64_t>(front.seconds * 1e9);
  PENSTOCK_TRY(comm->all_reduce_max(std::span(&slowest, 1)));
  if (timed) timed->seconds -= std::min(timed->compute_seconds, static_cast<double>(slowest) * 1e-9);
  return timed;
}

Result<Timing> timed_write(const Communicator& comm, const TimedFile& target, const Pieces& pieces, bool put) {
  return between_barriers(comm, [&](Timing& timing) {
    const double start = now();
    Status status = write(comm, target, pieces, put, nullptr, timing.report);
    timing.seconds = now() - start;
    return status;
  });
}

Result<Timing> timed_read(const Communicator& comm, const Communicator& readers, const TimedFile& target,
                          const Pieces& pieces) {
  return between_barriers(comm, [&](Timing& timing) {
    if (!readers) return Status();
    const double start = now();
    Status status = read(readers, target, pieces, timing.report);
    timing.seconds = now() - start;
    return status;
  });
}

}  // namespace penstock::bench
