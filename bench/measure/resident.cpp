// ResidentPeak: reads /proc.
#include "bench/measure/resident.hpp"

#include <algorithm>
#include <fstream>
#include <string>

namespace penstock::bench {
namespace {

std::optional<int64_t> status_bytes(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    int64_t kibibytes = 0;
    if (word == name && status >> kibibytes) return kibibytes * 1024;
  }
  return std::nullopt;
}

bool reset_peak() {
  std::ofstream file("/proc/self/clear_refs");
  file << 5 << std::flush;
  return file.good();
}

}  // namespace

ResidentPeak::ResidentPeak() {
  if (reset_peak()) before_ = status_bytes("VmRSS:");
}

std::optional<int64_t> ResidentPeak::growth() const {
  const auto peak = status_bytes("VmHWM:");
  if (!before_ || !peak) return std::nullopt;
  return std::max<int64_t>(0, *peak - *before_);
}

}  // namespace penstock::bench
