// An open file in Python, with the memory that the library uses until a commit.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include <penstock/file.hpp>

#include "bindings/python/border.hpp"

namespace penstock::python {

struct OpenFile : Opened<File> {
  // Python exceptions cannot be overlooked, so failures are not repeated at commit.
  explicit OpenFile(File file) : Opened((file.set_forgetful(true), std::move(file)), "file") {}
  ~OpenFile() { discard(); }  // before the memory that it uses
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  using Buffers = std::vector<std::unique_ptr<Buffer>>;
  Buffers held;                  // of lent puts and of gets, until the commit
  Buffers moving;                // of a commit in progress, until commit_wait
  std::shared_ptr<bool> series;  // for a step: whether a thread is inside its series

  // If the outcome is unknown, the library may use lent memory for the lifetime of the process.
  static void let_go(Buffers& buffers, const Status& status) {
    if (status.code() == Code::timeout || status.code() == Code::in_doubt)
      for (auto& buffer : buffers) (void)buffer.release();
    buffers.clear();
  }
  // Raises STATUS of a collective call that ended the commit of MOVING and, unless nothing has changed, also handled
  // HELD.
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
