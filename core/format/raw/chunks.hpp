// Chunks: encoded datasets of raw, whose chunks the index lists.
#pragma once

#include <memory>
#include <string>

#include "core/format/format.hpp"

namespace penstock {

// See Format::open_foreign.
Result<std::unique_ptr<ForeignDataset>> open_chunks(const Contents& contents, const std::string& path,
                                                    const Dataset& dataset);

}  // namespace penstock
