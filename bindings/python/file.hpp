// A file as Python has it open, with the memory that the library uses until a commit.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include <penstock/file.hpp>

#include "bindings/python/border.hpp"

namespace penstock::python {

struct OpenFile : Opened<File> {
  explicit OpenFile(File file) : Opened(std::move(file), "file") {}
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
};

}  // namespace penstock::python
