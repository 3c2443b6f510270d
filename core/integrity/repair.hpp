// Repair and seal: what makes a damaged or changed file agree with its checksums again.
#pragma once

#include <penstock/integrity.hpp>

#include "core/integrity/published.hpp"

namespace penstock {

// Collective. Rebuilds the one wrong file of a set with parity, as File::repair.
Result<Repair> repair_set(Target& target, const Published& file);

// Collective. As File::seal: FOUND is what verify() says of the file.
Result<Sealed> seal(Target& target, const Published& file, const Result<Verification>& found, bool force);

}  // namespace penstock
