// NewContents: what the ranks have agreed that a commit writes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/commit/opened.hpp"
#include "core/commit/pending.hpp"
#include "core/commit/sums.hpp"
#include "core/conventions/conventions.hpp"
#include "core/model/claim.hpp"

namespace penstock {

// What a program asked for besides its data: one rank, or in a commit any rank.
struct Options {
  bool partial = false;   // elements that no rank puts are zeros
  bool supplied = false;  // there are suppliers
  bool xdmf = false;      // write an XDMF file
  Convention convention = Convention::none;
};

// A dataset whose elements were converted, with what that cost on this rank.
struct Converted {
  std::string name;
  ElementType type;                                 // in the file
  std::vector<std::shared_ptr<const Loss>> losses;  // of the puts of this rank
};

// The same on all ranks but for CLAIMS, losses and what is rank 0's.
struct NewContents {
  Options options;
  Catalogue catalogue;        // of the whole new file
  std::vector<int64_t> kept;  // elements of each dataset that exist in the published file; 0 if all are put now
  std::vector<Claim> claims;  // of this rank
  std::vector<Added> added;   // by a convention; claims refer to the values
  std::map<std::string, std::string> dataset_options;  // of datasets that have any
  std::vector<Converted> converted;
  std::map<std::string, int> rounded;  // datasets whose elements their encoder rounds, to so many bits
  CommitSums sums;                     // claims refer to the words of the record
  std::string xdmf;                    // rank 0: the text of the XDMF file; "" if not requested
};

// Inserts DATASET by name. Returns its index. Claims are not numbered yet.
size_t insert_dataset(NewContents& contents, Dataset dataset);

// Collective. From the blocks and definitions of all ranks to the contents of the new file, which keeps those of the
// published one and is in its place still; proves that each element is put once. MINE, whose bounds have these MAXIMA,
// may be this rank's failure. PUTS must outlive the result.
Result<NewContents> agree_contents(Opened& file, std::span<Pending> puts, Result<Definitions> mine,
                                   const DefinitionBounds& maxima, const Options& options);

}  // namespace penstock
