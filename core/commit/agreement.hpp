// Agreement: what the ranks' blocks of one commit or read are together.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <penstock/communicator.hpp>

#include "core/commit/definitions.hpp"
#include "core/commit/pending.hpp"
#include "core/integrity/published.hpp"
#include "core/model/claim.hpp"

namespace penstock {

// The same on all ranks but for FIRST_ROW.
struct Agreement {
  Definitions definitions;                   // with final shapes
  std::map<std::string, int64_t> first_row;  // of this rank, in ragged datasets
  std::map<std::string, int> speaker;        // of replicated datasets: the rank whose copy is used
};

// Local. DECLARED and the blocks of PENDING, as RANK sees them. Datasets that are unlimited in FILE stay so.
Result<Definitions> define(const Published* file, std::span<const Pending> pending, Definitions declared, int rank);
// Collective. Merges all ranks' definitions, MINE or this rank's failure, whose bounds have these MAXIMA; counts ragged
// rows; compares replicated data.
Result<Agreement> agree_blocks(const Communicator& comm, std::span<const Pending> pending, Result<Definitions> mine,
                               const DefinitionBounds& maxima, Direction direction);

// Local. The datasets of AGREEMENT, by name.
std::vector<Dataset> datasets_of(const Agreement& agreement);
// Local. This rank's claims for PENDING, which must outlive them, on the datasets of CATALOGUE.
std::vector<Claim> claims_of(const Agreement& agreement, std::span<const Pending> pending, const Catalogue& catalogue,
                             int rank);

}  // namespace penstock
