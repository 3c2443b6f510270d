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

#include "core/model/descriptor.hpp"
#include "core/model/selection.hpp"
#include "core/model/settings.hpp"
#include "core/storage/storage.hpp"

namespace penstock {

enum class Direction : uint8_t { write, read };

// A file of the job. All files of all ranks lie one after another in one virtual address space, from which the
// domains of writers are cut; the caller has created them at their full size.
struct Part {
  std::string path;
  int64_t bytes = 0;         // a multiple of Job::block
  int64_t virtual_base = 0;  // likewise, and the same on every rank that knows the part
};

// Elements of this rank that lie packed (row-major in SELECTION's shape) from virtual ADDRESS on, inside one part.
struct Piece {
  int32_t part = 0;  // index into Job::parts
  int64_t address = 0;
  int64_t element_bytes = 1;
  int64_t swap_bytes = 0;  // unit whose bytes are reversed on the way; 0: none
  Selection selection;
  std::byte* memory = nullptr;  // only read when writing
};

// Everything one movement needs; it outlives the Transfer.
struct Job {
  Direction direction = Direction::write;
  Communicator comm;
  std::shared_ptr<Storage> storage;
  std::vector<Part> parts;    // those that this rank has pieces in
  std::vector<Piece> pieces;  // of this rank
  int64_t virtual_bytes = 0;  // of all ranks' parts
  int64_t block = 4096;       // no two writers share a block; a multiple of direct_alignment
  bool keep = false;          // writing: bytes between the pieces are kept (else they are zero)
  bool disjoint = false;      // no two pieces of the job, on any rank, share a byte
  bool sync = true;           // writing: the data is durable before finish returns
  PhaseTimes* phases = nullptr;
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
  // Whether this rank opened any file; the session counts them.
  virtual bool touched_files() const = 0;
};

class Transport {
 public:
  virtual ~Transport() = default;
  virtual const Descriptor& describe() const = 0;
  // Collective. Validates, makes the plan of exchange and begins. JOB must outlive the transfer.
  virtual Result<std::unique_ptr<Transfer>> begin(const Job& job, const Settings& settings) const = 0;
};

// The built transports, in the order of core/transport/CMakeLists.txt.
std::span<const Transport* const> transports();
const Transport* find_transport(std::string_view name);

}  // namespace penstock
