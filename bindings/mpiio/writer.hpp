// Writer: the thread of this process that writes in the background, and its queue.
#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bindings/mpiio/background.hpp"

namespace penstock::mpiio {

struct Background::Opened {
  explicit Opened(StorageFilePtr inner) : file(std::move(inner)) {}
  StorageFilePtr file;
  int64_t items = 0;  // in the queue, with the writer's mutex
};

// It makes system calls only. All functions are local, and for any thread.
class Writer {
 public:
  using Opened = Background::Opened;

  static Writer& of_process();

  // Copies BYTES, or writes them at once where memory is full.
  Status hand_over(const std::shared_ptr<Background>& owner, const std::shared_ptr<Opened>& opened, int64_t offset,
                   std::span<const std::byte> bytes);
  // Closes OPENED after what waits for it.
  Status close(const std::shared_ptr<Background>& owner, const std::shared_ptr<Opened>& opened);
  // Waits until nothing of OWNER in HULL is left; of nobody, if OWNER is null.
  Status wait(const Background* owner, const Hull& hull, std::string_view path);
  // An error of an opening that goes on, once.
  Status failure(Background& owner);
  // From now on errors of OWNER are those of closed files.
  void end(Background& owner);
  // Errors of closed files, once.
  std::vector<std::pair<std::shared_ptr<Statistics>, Status>> take_lost();
  void drain();
  // Everything is written, or reported.
  void end_ledger();

 private:
  struct Item {
    std::shared_ptr<Background> owner;
    std::shared_ptr<Opened> opened;
    std::shared_ptr<std::byte[]> data;  // null: the file is to be closed
    int64_t offset = 0, length = 0;
  };

  std::shared_ptr<std::byte[]> reserve(const Background& owner, int64_t length);
  void give_back(int64_t length);
  void run();
  // With the mutex:
  bool runs();  // starts the thread
  void push(Item item);
  void finish(const Item& item, const Status& status);
  void note(const Background& owner, int64_t bytes);

  std::mutex mutex_;
  std::condition_variable changed_, done_;
  std::deque<Item> items_;
  int64_t used_ = 0;  // bytes that wait
  pid_t process_ = 0;
  std::vector<std::pair<std::shared_ptr<Statistics>, Status>> lost_;

  // A line for each file: how many of its bytes would be lost if this process ended now.
  FileDescriptor ledger_;
  std::string ledger_path_;
  int64_t ledger_end_ = 0;
  std::map<std::string, std::pair<int64_t, int64_t>> lines_;  // where, and the sum
};

}  // namespace penstock::mpiio
