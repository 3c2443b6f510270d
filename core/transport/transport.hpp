// Transport: decides how bytes get between the ranks' memory and the parts of a file. It knows no format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/communicator.hpp>
#include <penstock/phase.hpp>
#include <penstock/status.hpp>

#include "core/base/hints.hpp"
#include "core/model/descriptor.hpp"
#include "core/model/direction.hpp"
#include "core/model/selection.hpp"
#include "core/model/settings.hpp"
#include "core/storage/storage.hpp"

namespace penstock {

// A file of the job. All files of all ranks lie one after another in one virtual address space, from which the
// domains of writers are cut; the caller has created them at their full size.
struct Part {
  std::string path;
  int64_t bytes = 0;         // a multiple of Job::block
  int64_t virtual_base = 0;  // likewise, and the same on every rank that knows the part
};

// Elements of this rank that lie in row-major order of SELECTION's shape from virtual ADDRESS on, inside one part:
// packed, or with ROW_STRIDE bytes from one row of the first dimension to the next.
struct Piece {
  int32_t part = 0;  // index into Job::parts
  int64_t address = 0;
  int64_t element_bytes = 1;
  int64_t swap_bytes = 0;  // unit whose bytes are reversed on the way; 0: none
  Selection selection;
  std::byte* memory = nullptr;  // only read when writing
  int64_t row_stride = 0;       // 0: packed; else not less than a row
};

// Everything one movement needs; it outlives the Transfer.
struct Job {
  Direction direction = Direction::write;
  Communicator comm;
  std::shared_ptr<Storage> storage;
  std::vector<Part> parts;    // those that this rank has pieces in
  std::vector<Piece> pieces;  // of this rank
  int64_t block = 4096;       // no two writers share a block; a multiple of direct_alignment
  bool keep = false;          // writing: bytes between the pieces are kept (else they are zero)
  bool disjoint = false;      // no two pieces of the job, on any rank, share a byte
  bool sync = true;           // writing: the data is durable before finish returns
  Hints hints;                // for MPI-IO
  PhaseTimes* phases = nullptr;
  HintsOutcome* hints_outcome = nullptr;
};

// One movement under way. Collective functions are called by all ranks of the job, progress apart.
class Transfer {
 public:
  virtual ~Transfer() = default;
  // Local. Works for at most about SECONDS; true when this rank has nothing left to do before finish.
  virtual Result<bool> progress(double seconds) = 0;
  // Local. Completes the movement, syncs and closes. The session agrees on the status: errors of one rank are known
  // to all there. A rank that fails goes on receiving and discarding, so no other rank waits for it.
  virtual Status finish() = 0;
  // Local, at any time. Nobody will finish this movement: others must not wait for this rank.
  virtual void give_up() {}
  // Whether progress and finish of this rank communicate: then only a thread that may call MPI can run them.
  virtual bool communicates() const = 0;
  // Whether it calls a library that is not thread-safe, so that a thread that runs it must have the gate
  // (core/base/library_gate.hpp) from its begin to its end.
  virtual bool needs_gate() const { return false; }
  // Whether this rank opened any file; the session counts them.
  virtual bool touched_files() const = 0;
  // Local. Whether the movement goes on by itself, without the pieces' memory and without calls of progress, until
  // finish; progress then tells, at no cost, when finish will not wait.
  virtual bool detached() const { return false; }
  // After finish: the most bytes that this rank held for the movement, beyond the pieces' own; 0 where nobody counts.
  virtual int64_t memory_peak() const { return 0; }
  // After finish: what a transport counts that nobody else does, as a JSON object; "" for nothing.
  virtual std::string statistics() const { return {}; }
  // Whether the movement will be detached once everything is handed over; the same on all ranks.
  virtual bool detaches() const { return false; }
  // Local, of use on rank 0 after finish, where Transport::slots() is set: which block lies in each slot of the part,
  // by its number in the order asked for. Empty: as asked for.
  virtual std::vector<int64_t> slot_order() const { return {}; }
};

// Fixed places for blocks whose order is only known after writing (shared file pointers): each slot has HEADER bytes of
// the transport's and room for PAYLOAD bytes of one block.
struct Slots {
  int64_t header = 0;
  int64_t payload = 0;  // 0: there are none
};

class Transport {
 public:
  virtual ~Transport() = default;
  virtual const Descriptor& describe() const = 0;
  // Local. Why it cannot move data in DIRECTION with SETTINGS, in this FORMAT and PLACEMENT; names the parameter.
  virtual Status check(const Settings&, std::string_view /*format*/, std::string_view /*placement*/, Direction) const {
    return {};
  }
  // Writing with placement rank_order only: blocks are cut to fit into slots, one after another from byte 0 of the
  // part; each piece is at the payload of its slot.
  virtual Slots slots(const Settings&) const { return {}; }
  // Collective. Validates, makes the plan of exchange and begins. JOB must outlive the transfer.
  virtual Result<std::unique_ptr<Transfer>> begin(const Job& job, const Settings& settings) const = 0;
};

// The transports of core/transport/CMakeLists.txt in its order; those that are not built say what they need.
std::span<const Transport* const> transports();
const Transport* find_transport(std::string_view name);

// Stands in for a transport whose library was not found.
class AbsentTransport final : public Transport {
 public:
  AbsentTransport(Descriptor descriptor, std::string_view missing) : descriptor_(std::move(descriptor)) {
    descriptor_.missing = missing;
  }
  const Descriptor& describe() const override { return descriptor_; }
  Result<std::unique_ptr<Transfer>> begin(const Job&, const Settings&) const override {
    return Status(Code::unsupported,
                  std::string(descriptor_.name) + " is not built: " + std::string(descriptor_.missing));
  }

 private:
  Descriptor descriptor_;
};

}  // namespace penstock
