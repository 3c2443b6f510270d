// Ways: how each dataset of a commit is encoded.
#pragma once

#include <vector>

#include "core/codec/codec.hpp"
#include "core/commit/contents.hpp"
#include "core/model/settings.hpp"

namespace penstock {

struct EncodingWay {
  const Codec* codec = nullptr;  // null: the dataset is stored as it is
  Settings settings;             // of the codec, from the plan or from the dataset's options
  Dims chunk;                    // extents
};

// Whether dataset D of CONTENTS is encoded: its options or PLAN name a codec, and it is large enough.
bool is_encoded(const Plan& plan, const NewContents& contents, size_t d);

// Collective. One for each dataset of CONTENTS; none of them has a codec if the plan and its options name none. Adds to
// the report's reason what was decided for compression=auto. MAY_WRITE_AHEAD: as far as the method knows. Same status
// on all ranks.
Result<std::vector<EncodingWay>> choose_ways(Opened& file, const NewContents& contents, bool may_write_ahead);

}  // namespace penstock
