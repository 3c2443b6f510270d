// ResidentPeak: from /proc.
#include "bench/measure/resident.hpp"

#include <algorithm>
#include <fstream>
#include <string>

namespace penstock::bench {
namespace {

// 0 where the file or the line is missing.
int64_t status_bytes(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    int64_t kibibytes = 0;
    if (word == name && status >> kibibytes) return kibibytes * 1024;
  }
  return 0;
}

}  // namespace

ResidentPeak::ResidentPeak() {
  std::ofstream("/proc/self/clear_refs") << 5;
  before_ = status_bytes("VmRSS:");
}

int64_t ResidentPeak::growth() const { return std::max<int64_t>(0, status_bytes("VmHWM:") - before_); }

}  // namespace penstock::bench
