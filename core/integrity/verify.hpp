// Verify: compares published data with the checksums of its commit.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include <penstock/integrity.hpp>

#include "core/integrity/published.hpp"
#include "core/model/claim.hpp"

namespace penstock {

// Collective. As File::verify.
Result<Verification> verify(Target& target, Published& file, const std::function<void(double)>& progress);

enum class VerifyWhen : uint8_t { first, always };
// Collective. Compares the blocks that CLAIMS of DATASETS touch with their checksums: each time, or when a block is
// first read. A file without checksums is a warning.
Status verify_claims(const Target& target, Published& file, std::span<const Dataset> datasets,
                     std::span<const Claim> claims, VerifyWhen when, std::vector<std::string>& warnings);

}  // namespace penstock
