// Checkpoint: two versions of what a program saves under one name, and which of them is there.
#pragma once

#include <string>
#include <string_view>

#include <penstock/communicator.hpp>
#include <penstock/status.hpp>

namespace penstock::test {

// Collective. VERSION is 1 or 2; they differ in every value, in shapes and in datasets. PLAN is a plan, or "stream:"
// and options of a container. SCALE multiplies the size, which is about 100 KiB.
Status write_checkpoint(const Communicator& comm, const std::string& path, const std::string& plan, int version,
                        int64_t scale);

struct Finding {
  std::string_view
      word;  // "old" (version 1), "new" (2); "lost": cannot be read; "damaged": read, but with other contents
  std::string why;
};

// Local, by this process alone.
Finding find_checkpoint(const std::string& path);

}  // namespace penstock::test
