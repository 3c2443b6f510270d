// Transport: decides how bytes move between the ranks' memory and the parts of a file. It knows no format.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <penstock/communicator.hpp>
#include <penstock/phase.hpp>
#include <penstock/status.hpp>

#include "core/base/hints.hpp"
#include "core/model/claim.hpp"
#include "core/model/descriptor.hpp"
#include "core/model/piece.hpp"
#include "core/model/problem.hpp"
#include "core/model/settings.hpp"
#include "core/model/work.hpp"
#include "core/storage/storage.hpp"

namespace penstock {

// Everything that one movement needs; it outlives the Transfer.
struct Job {
  Direction direction = Direction::write;
  Communicator comm;
  std::shared_ptr<Files> files;
  std::vector<Part> parts;          // with pieces of this rank
  std::vector<Piece> pieces;        // of this rank
  std::vector<WholeDataset> whole;  // the datasets of the movement; the same on all ranks
  int64_t block = 4096;             // writers do not share blocks; a multiple of direct_alignment
  bool keep = false;                // writing: keep bytes between the pieces (else they become zero)
  // Writing, with keep: only bytes of pieces are written, and those between pieces that are less than BRIDGE apart.
  // Otherwise whole blocks of all windows with pieces are.
  int64_t bridge = 0;
  bool exclusive = false;          // with BRIDGE: Code::overlap if two pieces of the job, on any ranks, share a byte
  int64_t keep_below = INT64_MAX;  // with BRIDGE: bytes from this address on were never written, and become zero
  bool disjoint = false;           // no two pieces of the job, on any rank, share a byte
  bool sync = true;                // writing: the data is durable before finish returns
  bool one_thread = false;         // FILES is called only by the thread that calls begin, progress and finish
  std::optional<Io> io;            // how files were created; else as the settings say
  Hints hints;                     // for MPI-IO
  PhaseTimes* phases = nullptr;
  HintsOutcome* hints_outcome = nullptr;
};

// What a thread other than the program's needs in order to run progress and finish.
enum class Needs : uint8_t {
  nothing,
  messages,  // they communicate: only a thread that may call MPI can run them
  gate,      // they also call a library that is not thread-safe: the thread holds the gate (core/base/library_gate.hpp)
};

// What a finished movement did on this rank.
struct Moved {
  bool touched_files = false;            // opened any file
  int64_t memory_peak = 0;               // bytes held beyond the pieces; 0 if not counted
  std::string statistics = {};           // counts specific to the transport, as a JSON object; "" for none
  std::vector<int64_t> slot_order = {};  // rank 0, with slots: the block in each, by number; empty: as requested
};

// One movement in progress. All ranks of the job call collective functions; progress is local.
class Transfer {
 public:
  Transfer() = default;
  virtual ~Transfer() = default;
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;
  // Local. Works for at most about SECONDS; true when only finish is left for this rank.
  virtual Result<bool> progress(double seconds) = 0;
  // Local. Completes the movement, syncs and closes. The session agrees on the status, so that all ranks learn of
  // errors. A rank that fails goes on receiving and discards the data, so that no other rank waits for it.
  virtual Status finish() = 0;
  virtual Needs needs() const = 0;
  // After finish.
  virtual Moved moved() const = 0;
  // Local, before finish. If the movement can go on without this rank's memory and time, works until it
  // does, or has failed, and returns true; the same on all ranks. progress() then tells whether finish() would wait.
  virtual bool detach() { return false; }
  // Local, at any time, from any thread. Abandons this movement: others must not wait for this rank.
  virtual void abandon() {}
};

// Collective. A transfer of class T after its begin().
template <typename T, typename... Arguments>
Result<std::unique_ptr<Transfer>> begun(Arguments&&... arguments) {
  auto transfer = std::make_unique<T>(std::forward<Arguments>(arguments)...);
  PENSTOCK_TRY(transfer->begin());
  return std::unique_ptr<Transfer>(std::move(transfer));
}

// What is known of a file before it is laid out.
struct FileKind {
  std::string_view format;  // its name, for messages
  bool big_endian = false;  // its numbers
  bool gaps = false;        // the transport may put bytes of its own between blocks
  bool rank_order = false;  // the blocks of each rank lie together, in the order of ranks
};

class Transport {
 public:
  virtual ~Transport() = default;
  virtual const Descriptor& describe() const = 0;
  // Local. ok, or why it cannot move data in DIRECTION with SETTINGS, naming the parameter.
  virtual Status check(const Settings&, const FileKind&, Direction) const { return {}; }
  // Local. ok, or why it is not given to a program that names no transport. HINTS are those of the environment.
  virtual Status check_choice(const Hints& /*hints*/) const { return {}; }
  // Local. What moving the data of PROBLEM into one file asks of the machine; nothing if this transport cannot tell.
  virtual std::optional<Work> estimate(const Problem&, const Settings&) const { return {}; }
  // Local. Whether ranks may write parts of the file themselves before the movement, whose jobs then have a BRIDGE.
  virtual bool lets_write_ahead(const Settings&) const { return false; }
  // For writing with placement rank_order only: blocks are divided to fit into slots, one after another from byte 0 of
  // the part; each piece is at the payload of its slot.
  virtual Slots slots(const Settings&) const { return {}; }
  // Collective. Validates, plans the exchange and begins. JOB must outlive the transfer.
  virtual Result<std::unique_ptr<Transfer>> begin(const Job& job, const Settings& settings) const = 0;
};

// The transports of core/transport/CMakeLists.txt in its order; those that are not built name what they need.
std::span<const Transport* const> transports();
const Transport* find_transport(std::string_view name);

// Replaces a transport whose library was not found.
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
