// Engine: a complete third-party I/O stack, used as it is; it solves one whole job at a time.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/communicator.hpp>
#include <penstock/phase.hpp>
#include <penstock/status.hpp>

#include "core/base/hints.hpp"
#include "core/model/catalogue.hpp"
#include "core/model/claim.hpp"
#include "core/model/descriptor.hpp"
#include "core/model/layout.hpp"
#include "core/model/selection.hpp"
#include "core/model/settings.hpp"

namespace penstock {

// One file to write or read. Everything except CLAIMS and the pointers is the same on all ranks.
struct EngineJob {
  Communicator comm;
  std::string path;           // when writing, nothing exists there yet
  Catalogue catalogue;        // of the whole file; for reading: the requested datasets, without attributes
  std::vector<int> datasets;  // those with claims on some rank, ascending
  std::vector<Claim> claims;  // of this rank, ordered by dataset; none is empty
  bool partial = false;       // writing: elements without a claim must read as zero
  bool sync = true;           // writing: the library's own flush before close; the session also syncs the file
  Hints hints;                // for MPI-IO
  PhaseTimes* phases = nullptr;
  HintsOutcome* hints_outcome = nullptr;
  Status* supplied = nullptr;  // writing: the first failure of a supplier on this rank; the file then has other bytes

  const Dataset& dataset(size_t at) const { return catalogue.datasets[static_cast<size_t>(datasets[at])]; }
};

// CLAIMS as a job wants them: ordered by dataset, without empty ones.
std::vector<Claim> by_dataset(std::vector<Claim> claims);

// Functions are collective over EngineJob::comm unless marked local. Each returns this rank's own status; the session
// agrees. Collective calls inside a third-party library have no timeout: a rank that fails still takes part in them,
// with no data, as far as the library permits.
class Engine {
 public:
  virtual ~Engine() = default;
  virtual const Descriptor& describe() const = 0;
  // The format whose reader describes this engine's files; "" if only contents() can.
  virtual std::string_view format() const = 0;
  virtual std::string_view extension() const = 0;             // "h5"
  virtual std::string_view convention() const { return {}; }  // as in Format
  // Local. ok, or why this engine does not support CATALOGUE with SETTINGS, naming the dataset or attribute.
  virtual Status check(const Catalogue& catalogue, const Settings& settings) const = 0;
  // Creates the file or folder, writes everything and closes it.
  virtual Status write(const EngineJob& job, const Settings& settings) const = 0;
  // Fills the claims.
  virtual Status read(const EngineJob& job, const Settings& settings) const = 0;
  // Local. For engines without a format: whether PATH belongs to the engine, and its contents (no blocks; all foreign).
  virtual bool recognises(const std::string& /*path*/) const { return false; }
  virtual Result<Contents> contents(const std::string& path) const;
};

// The engines of core/engine/CMakeLists.txt in its order; engines that are not built name what they need.
std::span<const Engine* const> engines();
const Engine* find_engine(std::string_view name);
// Local. The engine without a format that recognises PATH; null if there is none.
const Engine* recognising_engine(const std::string& path);

// Replaces an engine whose library was not found.
class AbsentEngine final : public Engine {
 public:
  AbsentEngine(Descriptor descriptor, std::string_view missing);
  const Descriptor& describe() const override { return descriptor_; }
  std::string_view format() const override { return {}; }
  std::string_view extension() const override { return {}; }
  Status check(const Catalogue&, const Settings&) const override { return absence(); }
  Status write(const EngineJob&, const Settings&) const override { return absence(); }
  Status read(const EngineJob&, const Settings&) const override { return absence(); }

 private:
  Status absence() const;
  Descriptor descriptor_;
};

}  // namespace penstock
