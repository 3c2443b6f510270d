// Binding: a plan that names no transport gets one when a commit or read knows its pattern, by wisdom.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "core/commit/pending.hpp"
#include "core/plan/learner.hpp"
#include "core/plan/wisdom.hpp"
#include "core/session/state.hpp"

namespace penstock {

// A rank's blocks in words whose maxima over all ranks describe the blocks of all: bytes, number, and the negative mean
// length of what is contiguous in its dataset.
using PatternWords = std::array<int64_t, 3>;
PatternWords pattern_of(std::span<const Pending> pending, int ranks);

// Where the blocks go, or come from.
struct ProblemOf {
  const Plan* plan = nullptr;
  std::string filesystem;  // "ext4, blocks of 4096 bytes (statfs, mountinfo)"
  bool durable = true;
  int64_t ranks = 1, ranks_per_node = 1;
};
// Local. MAXIMA are those of pattern_of.
Problem make_problem(const ProblemOf& of, bool write, const PatternWords& maxima, bool in_memory);

// Local, on rank 0. The wisdom of this process's environment for FILESYSTEM, this MPI library, and FORMAT (all if it is
// ""): for reads, and if WRITE for writes too. Files are read once.
ReadWisdom known_wisdom(const std::string& filesystem, bool write, std::string_view format);

// "wisdom of 2026-11-27: 0.61 [0.58, 0.66] of the default's time".
std::string reason_of(const Wise& wise, const Problem& problem);

// What the ranks of a communicator have learnt; one of its attachments. A plan with which any rank failed is not tried
// again.
struct Learning {
  Learner learner;
  bool asked = false;  // in the commit or read in progress, which began at START
  double start = 0;
  int64_t nanoseconds = 0;  // of the last one, on this rank, or FAILED; 0: not known, or told already
  static constexpr int64_t failed = INT64_MAX;

  // Local, where all ranks have the same MOST, their maximum.
  void tell(int64_t most);
  // Local, at the end of a commit or read.
  void end(bool good);
};

// Local, with the same result on all ranks. Gives STATE's plan, if it names no transport, the one that its wisdom has
// for PROBLEM, as measured, or one to learn from, or the one that was simulated, or the one that should be fastest if
// the machine was probed, or else the default.
// The report says which, and why. In the BACKGROUND it is always the default: the fastest plan while nothing else ran
// need not leave most time to the program. ALONE: the call only writes or only reads, so that its time says something
// about the plan.
void bind_plan(File::State& state, const Problem& problem, bool background, bool alone);

}  // namespace penstock
