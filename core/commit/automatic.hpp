// Automatic: whether compression pays, and which codec is fastest, from a sample of the data and the storage's rate.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/commit/ways.hpp"

namespace penstock {

// Local. A file of BYTES in the folder of TARGET took SECONDS: later decisions of this process count on this rate.
void note_rate(const Target& target, int64_t bytes, double seconds);

// In bytes per second of all ranks together.
struct Pace {
  double encode = 0, store = 0;
  double batches = 1;  // of which each is written while the next one is encoded
};

// The time of encoding BYTES, of which RATIO is left, and storing that: the longer of both and one batch of the other.
// Their sum where the processor does both: what is written counts as copied by it, however it is written.
double seconds_of(double bytes, double ratio, const Pace& pace);

// Collective. Replaces "auto" in the settings of WAYS by a codec without errors or by "none". Returns what was decided,
// in words; "" if there was nothing to decide. Same status and result on all ranks.
//
// A codec is chosen if encoding on all ranks at once, and storing the rest, should take less time than storing all: by
// its rate and ratio on a sample, four windows of 4 to 32 KiB of what each rank has, and by the rate of this process's
// last commits to the folder. Before the first of them, a usual rate is taken, and the gain must be larger. A dataset
// of which something stays keeps its codec. Where chunks will be written ahead, as MAY_WRITE_AHEAD allows, past the
// page cache and at a known rate, seconds_of counts on that.
Result<std::string> choose_codecs(const Opened& file, const NewContents& contents, bool may_write_ahead,
                                  std::vector<EncodingWay>& ways);

}  // namespace penstock
