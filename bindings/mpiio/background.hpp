// Background: what movements of a file hand over to a thread, which writes it while the program goes on (plan servers).
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>

#include <penstock/status.hpp>

#include "bindings/mpiio/runs.hpp"
#include "bindings/mpiio/statistics.hpp"
#include "core/base/file_descriptor.hpp"
#include "core/storage/storage.hpp"

namespace penstock::mpiio {

struct File;

// Of one opening of a file. Bytes that wait for the thread are locked. So all processes see what is not in the file
// yet, on any node whose file system shares its locks; and a process that dies keeps nobody waiting.
class Background : public std::enable_shared_from_this<Background> {
 public:
  // Collective over the ranks of FILE. Null on all of them, and WHY_NOT, if it cannot be.
  static std::shared_ptr<Background> begin(File& file, int64_t node_bytes, std::string& why_not);

  // All others are local.
  // The file: it hands over what is written to it while a Handing lives, and passes on everything else.
  Result<StorageFilePtr> open(File& file, IoMode mode, bool writable);
  // Waits for what this process has handed over.
  Status drain();
  // Waits for what any process has handed over in HULL.
  Status wait_for(const Hull& hull);
  // Waits for what anybody has handed over behind byte OFFSET, unless this file's ranks have done so together.
  Status wait_for_others_behind(int64_t offset);
  // An error of the thread, once.
  Status failure();
  // Nothing more comes. Closes the file, later if something waits; errors are then those of the next opening of any.
  Status end();
  bool is_handing() const { return handing_; }

  // Where all ranks have handed over since the last drain_together(); the same on all ranks.
  void note(const Hull& hull);
  bool meets(const Hull& hull) const;
  int64_t noted_end() const { return noted_.empty() ? 0 : noted_.rbegin()->first; }
  void forget() { noted_.clear(); }

 private:
  friend class Handing;
  friend class Writer;
  class Wrapped;
  struct Opened;

  std::shared_ptr<Statistics> statistics_;
  std::string path_;
  FileDescriptor lock_;
  std::shared_ptr<Opened> opened_;  // for all movements
  int64_t each_ = 0, few_ = 0;      // bytes that wait in a process at most: where every rank writes, or few of a node
  std::atomic<int64_t> most_ = 0;
  std::atomic<bool> handing_ = false;
  std::map<int64_t, int64_t> noted_;  // disjoint ranges, by their ends

  // With the writer's mutex:
  int64_t waiting_ = 0;  // bytes
  int64_t items_ = 0;
  double since_ = 0;  // something waits
  Status failure_;
  bool ended_ = false;
};

// While it lives, what is written to FILE is handed over, if ALLOWED. EXCHANGED: few ranks of a node write.
class Handing {
 public:
  Handing(File& file, bool allowed, bool exchanged);
  ~Handing() { stop(); }
  Handing(const Handing&) = delete;
  Handing& operator=(const Handing&) = delete;
  void stop();
  bool allowed() const { return background_ != nullptr; }

 private:
  Background* background_ = nullptr;
};

// --- local; FILE need not have a background ---
Result<StorageFilePtr> open_storage(File& file, IoMode mode, bool writable);
// Before a call reads or writes HULL by itself.
Status wait_for_background(File& file, const Hull& hull);
// Waits for what any process has handed over of the file at PATH.
void wait_for_path(const std::string& path);
// Waits for everything of this process.
void drain_process();
// An error of files that are closed, once.
Status lost_in_background();
// At the end of a program that learnt of all errors but those that the result has.
Status end_background();
// After the report: what the ledger of this process says is in it.
void end_ledger();

// --- collective ---
// All that was handed over is in the file; else the error.
Status drain_together(File& file);

}  // namespace penstock::mpiio
