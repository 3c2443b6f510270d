// A file as Python has it open, with the memory that the library uses until a commit.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include <penstock/file.hpp>

#include "bindings/python/border.hpp"

namespace penstock::python {

struct OpenFile : Opened<File> {
  // Python's exceptions are overlooked by nobody.
  explicit OpenFile(File file) : Opened((file.set_forgetful(true), std::move(file)), "file") {}
  using Buffers = std::vector<std::unique_ptr<Buffer>>;
  Buffers held;                  // of puts that were lent, and gets, until the commit
  Buffers moving;                // of a commit under way, until commit_wait
  std::shared_ptr<bool> series;  // of a step: whether a thread is inside its series

  // Without a verdict the library may go on using what was lent, for as long as the process lives.
  static void let_go(Buffers& buffers, const Status& status) {
    if (status.code() == Code::timeout || status.code() == Code::in_doubt)
      for (auto& buffer : buffers) (void)buffer.release();
    buffers.clear();
  }
  // Raises STATUS, that of a collective call which ended what was MOVING and, unless all is as it was, dealt with what
  // was HELD.
  void ended(const Status& status) {
    const File& file = get();
    let_go(moving, status);
    if (!file.is_usable() || !file.is_pending()) let_go(held, status);
    check_after(status);
  }
  void check_after(const Status& status) {
    if (!status.ok() && !get().is_usable())
      throw Failure{{status.code(), status.message() + "; after this the file can only be closed"}};
    check(status);
  }
};

}  // namespace penstock::python
