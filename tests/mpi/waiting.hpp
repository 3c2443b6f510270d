// What tests of waiting share: who plays which part, files to write and check, and errors that come in time.
#pragma once

#include <penstock/mpi.hpp>

#include <unistd.h>

#include <array>
#include <initializer_list>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <penstock/file.hpp>
#include <penstock/timeout.hpp>

#include "tests/harness/slice.hpp"
#include "tests/harness/world.hpp"

namespace penstock::test {

inline const ElementType f64{Kind::f64};

// Seconds: the limit if a rank does not come; what the answer may take beyond it on a machine with other work; the
// limit of all else, for which the answer to a mistake does not wait.
constexpr double limit = 2, most = 20, patient = 60;

// Who of the world plays which part.
struct Ranks {
  int rank = 0, size = 1;
  int odd() const { return size - 1; }
  bool is_odd() const { return rank == odd(); }
};
inline Ranks ranks;

inline void together() { MPI_Barrier(MPI_COMM_WORLD); }

// Whoever comes too late comes when all others have had their answer, which they say here.
constexpr int answered_tag = 17;
inline void say_answered() { MPI_Send(nullptr, 0, MPI_BYTE, ranks.odd(), answered_tag, MPI_COMM_WORLD); }
inline void until_answered() {
  const double end = now() + limit + most;
  for (int rank = 0; rank < ranks.size - 1; ++rank) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(nullptr, 0, MPI_BYTE, rank, answered_tag, MPI_COMM_WORLD, &request);
    int came = 0;
    for (; came == 0 && now() < end; ::usleep(100000)) MPI_Test(&request, &came, MPI_STATUS_IGNORE);
    if (!CHECK(came != 0, fmt::format("rank {} has no answer", rank))) MPI_Cancel(&request);
  }
}

inline Slice part_of(int64_t rows) { return grid(Dims{rows, 10}, Dims{ranks.size, 1}, ranks.rank); }

inline Status put(File& file, int64_t rows, uint64_t seed) {
  const Slice slice = part_of(rows);
  const auto memory = filled(slice, f64, seed);
  return file.put("data", f64, slice.part, memory.data(), slice.memory);
}

// On ranks that may miss each other afterwards: each case has a communicator of its own.
inline Communicator fresh() {
  MPI_Comm copy = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  auto comm = mpi_communicator(copy);
  CHECK_OK(comm.status(), "a communicator");
  return *comm;
}

inline void write_file(const std::string& path, int64_t rows, uint64_t seed) {
  auto file = File::create(fresh(), path);
  if (!CHECK_OK(file.status(), "create")) return;
  CHECK_OK(put(*file, rows, seed), "put");
  CHECK_OK(file->close(), "close");
}

inline void check_file(const std::string& path, int64_t rows, uint64_t seed) {
  together();
  auto file = File::open(fresh(), path);
  if (!CHECK_OK(file.status(), "open")) return;
  const Slice slice = part_of(rows);
  auto memory = blank(slice, f64);
  CHECK_OK(file->get("data", f64, slice.part, memory.data(), slice.memory), "get");
  if (!CHECK_OK(file->close(), "read")) return;
  int64_t wrong = 0;
  CHECK(differences(slice, f64, seed, memory, wrong) == 0, "the file has other values");
}

// All ranks that got an error got the same one.
inline void check_same(const Status& status) {
  together();
  std::array<char, 600> mine{}, first{};
  if (!status.ok()) status.message().copy(mine.data(), mine.size() - 1);
  std::vector<std::array<char, 600>> all(static_cast<size_t>(ranks.size));
  MPI_Allgather(mine.data(), 600, MPI_CHAR, all.data(), 600, MPI_CHAR, MPI_COMM_WORLD);
  for (const auto& one : all)
    if (one[0] != 0 && first[0] == 0) first = one;
  for (size_t rank = 0; rank < all.size(); ++rank)
    CHECK(all[rank][0] == 0 || all[rank] == first,
          fmt::format("rank {}: {}, but first: {}", rank, all[rank].data(), first.data()));
}

inline void expect(const Status& status, Code code, std::initializer_list<std::string> words) {
  CHECK(status.code() == code, fmt::format("is '{}': {}", name(status.code()), status.message()));
  for (const std::string& word : words)
    CHECK(status.message().find(word) != std::string::npos, fmt::format("no '{}' in: {}", word, status.message()));
}

template <typename Body>
Status within(double seconds, Body body) {
  const double start = now();
  const Status status = body();
  const double took = now() - start;
  CHECK(took < seconds, fmt::format("took {:.1f} s", took));
  return status;
}

// With a short limit on this rank.
template <typename Body>
Status timed_out(Body body, double seconds = limit) {
  CHECK_OK(set_timeout(seconds), "set_timeout");
  const Status status = within(seconds + most, body);
  CHECK_OK(set_timeout(patient), "set_timeout");
  return status;
}

}  // namespace penstock::test
