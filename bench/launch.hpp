// Launch: starts and ends MPI for the whole program.
#pragma once

#include <string>
#include <string_view>

#include <penstock/communicator.hpp>

namespace penstock::bench {

// One per process, created first and destroyed last in main: all copies of its communicator must be gone by then.
class Launch {
 public:
  Launch(int* argc, char*** argv);
  ~Launch();
  Launch(const Launch&) = delete;
  Launch& operator=(const Launch&) = delete;

  // All ranks of this run; a serial build has one.
  const Result<Communicator>& communicator() const { return communicator_; }
  // "Open MPI v4.1.4, ...", "serial".
  std::string library() const;

 private:
  Result<Communicator> communicator_;
};

enum Exit { success = 0, failure = 1, usage = 2 };  // usage: a wrong command line
// Prints an error that all ranks share once. Returns EXIT.
int complain(const Launch& launch, std::string_view text, Exit exit);

}  // namespace penstock::bench
