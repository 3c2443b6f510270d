// Immediate: what was written at once while calls were kept, which older calls must not write over. Its ranges are
// taken out of them: of what this rank keeps when it is read or moved, and of what others keep when it moves.
#pragma once

#include <span>

#include "bindings/mpiio/file.hpp"

namespace penstock::mpiio {

// Local. RUNS were written at once, after call number AFTER - 1 and before the next one.
void note_immediate(Kept& kept, std::span<const Run> runs, int64_t after);
// Local. What this rank has written is taken out of what it keeps.
void take_out_own(Kept& kept);
// Local. Puts what this rank keeps over what RUNS have from the file.
void overlay(Kept& kept, std::span<const Run> runs);
// Collective. Takes out of KEPT what other ranks have written, where they say so: a part of their ranges in each round.
// HULLS are those of the calls of all ranks.
Status take_out_later(File& file, Kept& kept, std::span<const Hull> hulls);

}  // namespace penstock::mpiio
