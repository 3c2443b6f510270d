// Progress: {"event": "start" | "run" | "failed" | "done", ...}, one object per line.
#include "bench/report/progress.hpp"

#include <cstdio>

namespace penstock::bench {

void Progress::start(int total_runs) {
  total_ = total_runs;
  print({{"event", "start"}, {"total_runs", total_runs}});
}

void Progress::run(const std::string& method, Operation operation, int repetition, double seconds) {
  ++finished_;
  print({{"event", "run"},
         {"method", method},
         {"operation", name(operation)},
         {"repetition", repetition},  // 0 is the warm-up
         {"seconds", seconds},
         {"done", finished_},
         {"of", total_}});
}

void Progress::failed(const std::string& method, int repetition, const Status& error) {
  print({{"event", "failed"}, {"method", method}, {"repetition", repetition}, {"error", error.message()}});
}

void Progress::done() { print({{"event", "done"}, {"done", finished_}, {"of", total_}}); }

void Progress::print(const nlohmann::json& event) const {
  if (!active_) return;
  (void)std::puts(event.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
  (void)std::fflush(stdout);
}

}  // namespace penstock::bench
