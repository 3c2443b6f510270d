// Calling: says, for its lifetime, what the program has called on the ranks of a communicator.
#pragma once

#include <string_view>

#include <penstock/communicator.hpp>

#include "core/base/guarded.hpp"

namespace penstock {

// The outermost of several on a communicator speaks.
class Calling {
 public:
  // "VERB of 'PATH'". Ranks may name different paths, and learn so from what they call, where AGREED is false.
  Calling(Communicator comm, std::string_view verb, std::string_view path, bool agreed = true);
  ~Calling();
  Calling(const Calling&) = delete;
  Calling& operator=(const Calling&) = delete;

 private:
  Communicator comm_;
  bool outermost_;
};

// For its lifetime, where ANY, a loss of the other ranks is Code::in_doubt: rank 0 may have published.
class Doubt {
 public:
  Doubt(Communicator comm, bool any);
  ~Doubt();
  Doubt(const Doubt&) = delete;
  Doubt& operator=(const Doubt&) = delete;
  // There is none any more.
  void clear();

 private:
  Communicator comm_;
  bool any_;
};

// Collective. WORK is rank 0's, and ends in the publication. Whoever hears nothing of it from now on cannot know.
template <typename Work>
Status publish_together(const Communicator& comm, Work work) {
  Doubt doubt(comm, true);
  Status published;
  if (comm->rank() == 0) {
    published = comm->usable();  // another thread may have learnt meanwhile that ranks are missing
    if (published.ok()) published = guarded(work);
    if (!published.ok() && published.code() != Code::in_doubt) doubt.clear();
  }
  return agree(comm, published);
}

// Collective, over ranks that all have the failure WHY and have taken back what they made. No rank returns before all
// are here: its program may exit then, and a launcher ends ranks that are still removing files. Where ranks lost each
// other nobody is waited for.
void all_cleaned(const Communicator& comm, const Status& why);

// For its lifetime, where ANY, waits on a communicator have no limit: ranks may be inside another library.
class Untimed {
 public:
  Untimed(Communicator comm, bool any);
  ~Untimed();
  Untimed(const Untimed&) = delete;
  Untimed& operator=(const Untimed&) = delete;

 private:
  Communicator comm_;
  bool any_;
};

}  // namespace penstock
