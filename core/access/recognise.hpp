// Recognise: reads what the file or set at a path contains, by the format or engine that recognises it.
#pragma once

#include <string>

#include <penstock/communicator.hpp>

#include "core/model/layout.hpp"
#include "core/storage/storage.hpp"

namespace penstock {

// Local. The contents of the file or set at PATH.
Result<Contents> recognise_and_read(Storage& storage, const std::string& path);
// Collective. Rank 0 reads the header and sends it to all ranks.
Result<Contents> read_contents(const Communicator& comm, Storage& storage, const std::string& path);

// Local. Lets the formats' libraries decode what the codecs make. Done by all functions above; to be called for a file
// that this process only wrote.
void offer_decoders();

}  // namespace penstock
