// World: the ranks of a test program, and what they found wrong together.
#pragma once

#include <string>
#include <string_view>

#include <penstock/communicator.hpp>
#include <penstock/status.hpp>

namespace penstock::test {

inline constexpr int skipped = 77;  // ctest's SKIP_RETURN_CODE

// Starts MPI (or is one rank alone) for as long as it lives. If PENSTOCK_SERVER_RANKS is set, so many ranks serve the
// others, which are the world, until those finalize; the servers never get past the constructor.
class World {
 public:
  World(int* argc, char*** argv);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  const Communicator& comm() const { return comm_; }
  int rank() const { return comm_->rank(); }
  int size() const { return comm_->size(); }
  // Collective. A fresh folder under the current one, the same on all ranks; rank 0 removes it at the end.
  const std::string& folder();
  // Collective. Sums the failures of all ranks, prints one line on rank 0: 0, or 1 where there was a failure.
  int finish(std::string_view program);
  // Collective. Prints why on rank 0.
  int skip(std::string_view why);

 private:
  Communicator comm_;
  std::string folder_;
};

int64_t checks();    // of this rank
int64_t failures();  // of this rank
// Counts CONDITION; where it is false, prints WHAT (the first 20 times on each rank). Returns it.
bool check(bool condition, std::string_view what, const char* file, int line);
// The same of a status being ok.
bool check_ok(const Status& status, std::string_view what, const char* file, int line);
// Prints on rank 0 of the world.
void say(std::string_view line);
// What the checks that follow are about; part of a failure's line.
void about(std::string what);

}  // namespace penstock::test

#define CHECK(condition, what) ::penstock::test::check((condition), (what), __FILE__, __LINE__)
#define CHECK_OK(status, what) ::penstock::test::check_ok((status), (what), __FILE__, __LINE__)
