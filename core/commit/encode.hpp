// Encode: the stage before placement that turns datasets into encoded chunks, for which a placement sees bytes.
#pragma once

#include <cstddef>
#include <vector>

#include "core/commit/contents.hpp"
#include "core/model/encoding.hpp"

namespace penstock {

// Empty if the plan encodes nothing.
struct Encoded {
  std::vector<Encoding> encodings;  // of each dataset of the contents
  // This rank's claims of the contents, with their numbers; those on encoded datasets select nothing. Behind them the
  // ranges of encoded bytes that this rank has, which refer to BYTES.
  std::vector<Claim> claims;
  std::vector<std::vector<std::byte>> bytes;  // by dataset

  bool used() const { return !encodings.empty(); }
};

// Collective. Encodes what is put into CONTENTS and what is kept of FILE, each chunk on one rank. Encoded bytes stay in
// memory, since no chunk has a place before all of them have a size.
Result<Encoded> encode_datasets(Opened& file, const NewContents& contents);

}  // namespace penstock
