// Trace: records what this process does to files, call by call and commit by commit, in a file of its own in the folder
// PENSTOCK_TRACE (docs/formats/trace.md).
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <penstock/phase.hpp>

#include "core/base/file_descriptor.hpp"
#include "core/trace/description.hpp"

namespace penstock {

// The numbers are those in the file.
enum class Operation : uint16_t {
  open = 1,
  create = 2,
  read = 3,
  write = 4,
  sync = 5,
  close = 6,
  stat = 7,
  truncate = 8,
  rename = 9,  // the second path is in OFFSET, as for exchange and link
  exchange = 10,
  link = 11,
  remove = 12,
  list = 13,
  attributes = 14,  // permissions, times
  sync_folder = 15,
  mpi_open = 32,
  mpi_open_all = 33,
  mpi_close = 34,
  mpi_sync = 35,
  mpi_view = 36,
  mpi_set_size = 37,
  mpi_get_size = 38,
  mpi_preallocate = 39,
  mpi_read = 40,  // independent; + 1: collective, + 2: non-blocking, + 3: split
  mpi_write = 44,
  phase = 64,  // + the phase
};

// One call as stored in the file, little-endian.
struct TracedCall {
  int64_t start = 0;  // nanoseconds since the trace's begin
  int64_t nanoseconds = 0;
  int64_t offset = 0;  // -1: not known
  int64_t length = 0;
  uint32_t path = 0;  // index of a name
  Operation operation = Operation::open;
  uint16_t failed = 0;
};
static_assert(sizeof(TracedCall) == 40);

// Thread-safe. Failures do not affect the caller: records that cannot be written are lost, and trouble() reports it.
class Trace {
 public:
  // Calls beyond CALLS_MOST are counted but not written; commits always are.
  explicit Trace(const std::string& folder, int64_t max_calls = int64_t{6} << 20);
  ~Trace() { end(); }
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  // The trace of this process; null unless PENSTOCK_TRACE is set at the first call.
  static Trace* current();

  // Sets this process's rank in the program; before that the launcher's environment provides it.
  void identify(int rank, int ranks, std::string library);
  // "program", or "server" for a process that only serves ranks.
  void set_role(std::string role);

  int64_t time() const;  // nanoseconds since the begin
  uint32_t path_number(std::string_view path);
  void add(TracedCall call);
  // Time spent in a phase, on the clock of now(); shorter than 10 microseconds is ignored.
  void add_phase(Phase phase, double start, double end);
  // A commit or read as a JSON object whose formatting began at SINCE. Writes buffered records if the last write was
  // some time ago.
  void add_step(std::string_view json, int64_t since);
  // Writes all buffered records to the file.
  void flush();
  // Same, then marks the end; nothing is traced afterwards.
  void end();
  // Why there is no trace or an incomplete one; "" otherwise.
  std::string trouble();

 private:
  void put_block(std::string_view kind, std::string_view payload);
  void put_calls();
  void write_out();
  bool open_file();
  void disable(const std::string& why);

  std::mutex mutex_;
  const std::string folder_;
  const int64_t max_calls_, begin_;
  TracedProcess self_;
  std::string trouble_;
  FileDescriptor file_;
  bool lost_ = false;  // the file cannot be written
  std::string text_;   // blocks not yet in the file
  std::vector<TracedCall> calls_;
  std::map<std::string, uint32_t, std::less<>> paths_;
  std::string new_paths_;  // not yet in the file
  int64_t calls_kept_ = 0, calls_lost_ = 0, written_at_ = 0;
  int64_t spent_ = 0;  // nanoseconds of tracing overhead, after the traced operation ended
};

// Traces a call from its construction to its end; does nothing if TRACE is null.
class Tracing {
 public:
  Tracing(Trace* trace, Operation operation, std::string_view path, int64_t offset = 0, int64_t length = 0)
      : Tracing(trace, operation, trace ? trace->path_number(path) : 0, offset, length) {}
  Tracing(Trace* trace, Operation operation, uint32_t path, int64_t offset = 0, int64_t length = 0) : trace_(trace) {
    call_.operation = operation;
    call_.path = path;
    call_.offset = offset;
    call_.length = length;
    if (trace_ != nullptr) call_.start = trace_->time();
  }
  ~Tracing() { done(); }
  // Ends the call now instead of in the destructor.
  void done() {
    if (trace_ == nullptr) return;
    call_.nanoseconds = trace_->time() - call_.start;
    std::exchange(trace_, nullptr)->add(call_);
  }
  Tracing(const Tracing&) = delete;
  Tracing& operator=(const Tracing&) = delete;

  TracedCall& call() { return call_; }
  // Returns RESULT unchanged, and records a failure.
  template <typename Result>
  Result passed(Result result) {
    if (!result.ok()) call_.failed = 1;
    return result;
  }

 private:
  Trace* trace_;
  TracedCall call_;
};

}  // namespace penstock
