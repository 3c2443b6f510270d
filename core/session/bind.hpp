// Binding: a plan that names no transport gets one when a commit or read knows its pattern, by wisdom.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "core/commit/pending.hpp"
#include "core/plan/wisdom.hpp"
#include "core/session/state.hpp"

namespace penstock {

// A rank's blocks in words whose maxima over all ranks describe the blocks of all: bytes, number, and the negative mean
// length of what is contiguous in its dataset.
using PatternWords = std::array<int64_t, 3>;
PatternWords pattern_of(std::span<const Pending> pending, int ranks);

// Local. What STATE writes or reads now. MAXIMA are those of pattern_of.
Problem make_problem(const File::State& state, bool write, const PatternWords& maxima, int64_t ranks_per_node,
                     bool in_memory);

// Local, on rank 0. The wisdom of this process's environment for FILESYSTEM, this MPI library, and FORMAT (all if it is
// ""): for reads, and if WRITE for writes too. Files are read once.
ReadWisdom known_wisdom(const std::string& filesystem, bool write, std::string_view format);

// Local, with the same result on all ranks. Gives STATE's plan, if it names no transport, the one that its wisdom has
// for PROBLEM, or else the default. The report says which, and why. In the BACKGROUND it is always the default: the
// fastest plan while nothing else ran need not leave most time to the program.
void bind_plan(File::State& state, const Problem& problem, bool background);

}  // namespace penstock
