// Decoded: reads of datasets that only a format's library can decode. Each tile of whole chunks is decoded by one rank,
// or by two where their shares meet, for all ranks that want a part of it.
#pragma once

#include <span>
#include <string>

#include <penstock/communicator.hpp>
#include <penstock/phase.hpp>

#include "core/model/claim.hpp"
#include "core/model/layout.hpp"
#include "core/transport/transport.hpp"

namespace penstock {

// Collective over COMM. Reads those CLAIMS whose datasets are foreign; a claim's dataset is an index into ASKED, which
// has indexes of CONTENTS and is the same on all ranks. PATH is the file. The status may differ between ranks.
Result<Moved> read_decoded(const Communicator& comm, const Contents& contents, const std::string& path,
                           std::span<const int> asked, std::span<const Claim> claims, PhaseTimes& phases);

}  // namespace penstock
