// Competitor: another program's load on the file system under measurement.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

namespace penstock::bench {

// Starts threads that each write a file of their own in FOLDER, sync it, read it back, and create and remove small
// files, repeatedly, until this object is destroyed. Leaves no file behind and does not call MPI.
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
