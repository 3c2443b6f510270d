// Tests of compression=auto: how long encoding and storing take together.
#include "core/commit/automatic.hpp"

#include <gtest/gtest.h>

namespace penstock {
namespace {

TEST(Automatic, TheShorterOfTwoOverlapsButForABatch) {
  const double bytes = 1e9;
  EXPECT_DOUBLE_EQ(seconds_of(bytes, 0.5, {1e9, 1e8, 1}), 1 + 5) << "one batch: one after the other";
  EXPECT_DOUBLE_EQ(seconds_of(bytes, 0.5, {1e9, 1e8, 10}), 5.1);
  EXPECT_DOUBLE_EQ(seconds_of(bytes, 0.5, {1e8, 1e8, 10}), 10.2 + 0.5) << "what is written is copied, too";
}

TEST(Automatic, WhatIsWrittenAsFastAsMemoryDoesNotOverlap) {
  for (const double store : {2.5e9, 5e9, 1e10})
    EXPECT_DOUBLE_EQ(seconds_of(1e9, 0.5, {1e9, store, 100}), 1 + 0.5e9 / store);
}

TEST(Automatic, NothingIsLessThanEitherOrMoreThanBoth) {
  for (const double encode : {1e8, 1e9, 4e9})
    for (const double store : {1e7, 1e8, 1e9, 1e10})
      for (const double batches : {1.0, 3.0, 100.0}) {
        const double seconds = seconds_of(1e9, 0.3, {encode, store, batches});
        EXPECT_GE(seconds, std::max(1e9 / encode, 0.3e9 / store));
        EXPECT_LE(seconds, 1e9 / encode + 0.3e9 / store);
      }
}

}  // namespace
}  // namespace penstock
