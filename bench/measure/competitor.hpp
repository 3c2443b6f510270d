// Competitor: another program's load on the file system under measurement.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

namespace penstock::bench {

// So many threads, each of which writes a file of its own in FOLDER, syncs it, reads it back, and creates and removes
// small files, again and again, until the end of this object, which leaves no file behind. No MPI is called.
class Competitor {
 public:
  Competitor(const std::string& folder, int streams);
  ~Competitor();
  Competitor(const Competitor&) = delete;
  Competitor& operator=(const Competitor&) = delete;

  int64_t bytes_written() const { return bytes_; }

 private:
  void compete(const std::string& path);
  std::atomic<bool> over_ = false;
  std::atomic<int64_t> bytes_ = 0;
  std::vector<std::thread> threads_;
};

}  // namespace penstock::bench
