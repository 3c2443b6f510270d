// Launch: starts and ends MPI for the whole program.
#pragma once

#include <string>

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

}  // namespace penstock::bench
