// Encode: the stage before placement that turns datasets into encoded chunks, for which a placement sees bytes.
#pragma once

#include <cstddef>
#include <vector>

#include "core/commit/ahead.hpp"
#include "core/commit/contents.hpp"
#include "core/model/encoding.hpp"
#include "core/storage/aligned.hpp"

namespace penstock {

// Empty if the plan encodes nothing.
struct Encoded {
  std::vector<Encoding> encodings;  // of each dataset of the contents
  // This rank's claims of the contents, with their numbers; those on encoded datasets select nothing. Behind them the
  // ranges of encoded bytes that this rank has, which refer to BYTES.
  std::vector<Claim> claims;
  std::vector<AlignedMemory> bytes;
  std::optional<AheadFile> ahead;  // the file that was made, if chunks were written ahead
  bool has_written = false;        // there, by this rank

  bool used() const { return !encodings.empty(); }
  bool has(int dataset) const { return used() && encodings[static_cast<size_t>(dataset)].used(); }
};

// Collective. Encodes what is put into CONTENTS or supplied, and what is kept of FILE, each chunk on one rank. Adds the
// suppliers' data to the checksums. Chunks of what was put are written ahead, if MAKE_AHEAD is given and makes a file.
// Other encoded bytes stay in memory, since no chunk has a place before all of them have a size. Until they are
// encoded, so do supplied elements. Same status on all ranks.
Result<Encoded> encode_datasets(Opened& file, NewContents& contents, const MakeAhead& make_ahead);

}  // namespace penstock
