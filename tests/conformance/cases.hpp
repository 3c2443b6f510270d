// Cases: write a content and prove that a reader finds it again, whole and under any decomposition.
#pragma once

#include <cstdint>
#include <string>

#include "tests/conformance/method.hpp"
#include "tests/conformance/workload.hpp"
#include "tests/harness/world.hpp"

namespace penstock::test {

// Collective. Puts and lends CONTENT, in an order of each rank's own, and publishes it. The status is the same on all
// ranks.
Status write_content(World& world, const std::string& path, const std::string& plan, const Content& content,
                     bool background = false);
// Collective. Checks catalogue, attributes and every element in two of the ways of reading(), chosen by TURN; the
// CRC-64 of the whole logical content, on rank 0.
uint64_t read_content(World& world, const std::string& path, const std::string& plan, const Content& content, int turn,
                      bool summed);

// Collective. An unlimited dataset is made, grown, overwritten in part, and stands beside an added one, in three
// commits.
Status grow(World& world, const std::string& path, const Method& method);

// Collective. Rank 0 finds no hidden file in FOLDER, and then removes what is in it.
void sweep(World& world, const std::string& folder);

}  // namespace penstock::test
