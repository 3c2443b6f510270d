// Calling: records, for its lifetime, the call that the program has made on the ranks of a communicator.
#pragma once

#include <string_view>

#include <penstock/communicator.hpp>

#include "core/base/guarded.hpp"

namespace penstock {

// If several exist on a communicator, the outermost counts.
class Calling {
 public:
  // "VERB of 'PATH'". If AGREED is false, ranks may name different paths; the called function detects that.
  Calling(Communicator comm, std::string_view verb, std::string_view path, bool agreed = true);
  ~Calling();
  Calling(const Calling&) = delete;
  Calling& operator=(const Calling&) = delete;

 private:
  Communicator comm_;
  bool outermost_;
};

// For its lifetime, if ANY, losing the other ranks is Code::in_doubt: rank 0 may have published.
class Doubt {
 public:
  Doubt(Communicator comm, bool any);
  ~Doubt();
  Doubt(const Doubt&) = delete;
  Doubt& operator=(const Doubt&) = delete;
  // Ends the doubt.
  void clear();

 private:
  Communicator comm_;
  bool any_;
};

// Collective. WORK runs on rank 0 and ends with the publication. A rank that hears nothing from now on cannot know the
// outcome.
template <typename Work>
Status publish_together(const Communicator& comm, Work work) {
  Doubt doubt(comm, true);
  Status published;
  if (comm->rank() == 0) {
    published = comm->usable();  // another thread may have learnt in the meantime that ranks are missing
    if (published.ok()) published = guarded(work);
    if (!published.ok() && published.code() != Code::in_doubt) doubt.clear();
  }
  return agree(comm, published);
}

// Collective over ranks that all have the failure WHY and have undone their work. No rank returns before all have
// arrived: otherwise a program could exit, and a launcher could then end ranks that are still removing files. If ranks
// lost each other, no rank waits.
void all_cleaned(const Communicator& comm, const Status& why);

// For its lifetime, if ANY, waits on a communicator have no limit: ranks may be inside another library.
class Untimed {
 public:
  Untimed(Communicator comm, bool any);
  ~Untimed();
  Untimed(const Untimed&) = delete;
  Untimed& operator=(const Untimed&) = delete;

 private:
  Communicator comm_;
  bool any_, before_ = false;
};

}  // namespace penstock
