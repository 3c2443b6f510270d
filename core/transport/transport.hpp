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
#include "core/storage/storage.hpp"

namespace penstock {

enum class Direction : uint8_t { write, read };

// A file that this rank has data in. All parts of a job lie one after another in one virtual address space,
// from which domains are cut; VIRTUAL_BASE is the same wherever the part is known.
struct Part {
  std::string path;
  int64_t bytes = 0;         // a multiple of the block
  int64_t virtual_base = 0;  // likewise
};

// Elements of this rank that lie packed (row-major in SELECTION's shape) from BASE of a part on.
struct Piece {
  int32_t part = 0;  // index into Job::parts
  int64_t base = 0;
  int32_t element_bytes = 1;
  int32_t swap_bytes = 0;  // unit whose bytes are reversed on the way; 0: none
  Selection selection;
  std::byte* memory = nullptr;  // only read when writing
};

// Everything one movement needs; it outlives the Transfer. Parts exist already, at their full size.
struct Job {
  Direction direction = Direction::write;
  Communicator comm;
  std::shared_ptr<Storage> storage;
  std::vector<Part> parts;    // those that this rank has pieces in
  std::vector<Piece> pieces;  // of this rank
  int64_t virtual_bytes = 0;  // of all ranks' parts
  int64_t block = 4096;       // unit of which no two writers share one
  bool sync = true;           // writing: make the data durable before finish returns
  PhaseTimes* phases = nullptr;
};

// One movement under way. Collective functions are called by all ranks of the job, progress apart.
class Transfer {
 public:
  virtual ~Transfer() = default;
  // Local. Works for at most about SECONDS; true when this rank has nothing left to do before finish.
  virtual Result<bool> progress(double seconds) = 0;
  // Local. Completes the movement, syncs and closes. The session agrees on the status: errors of one rank are known to all there.
  // A rank that fails goes on receiving and discarding, so no other rank waits for it.
  virtual Status finish() = 0;
  // Ranks that touched files, this one included: 0 or 1 here; the session sums.
  virtual bool touched_files() const = 0;
};

struct TransportOptions;  // parameters, parsed from the plan

class Transport {
 public:
  virtual ~Transport() = default;
  virtual const Descriptor& describe() const = 0;
  // Collective. Validates, makes the plan of exchange and begins. JOB must outlive the transfer.
  virtual Result<std::unique_ptr<Transfer>> begin(const Job& job, const class Settings& settings) const = 0;
};

// The built transports, in the order of core/transport/CMakeLists.txt.
std::span<const Transport* const> transports();
const Transport* find_transport(std::string_view name);

}  // namespace penstock
