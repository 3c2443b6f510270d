// Gather: small collective writes of all ranks through one of them.
#include "bindings/mpiio/gather.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "bindings/mpiio/file.hpp"
#include "core/base/encode.hpp"
#include "core/base/guarded.hpp"
#include "core/comm/mpi/native.hpp"

namespace penstock::mpiio {
namespace {

constexpr int data_tag = 1100, answer_tag = 1101;  // the communicator is ours; its own tags are below
constexpr int longest_answer = 1024;               // short enough to be sent before it is received

struct Place {
  int64_t offset, length;
};

// WORDS and RUNS with their data.
std::vector<std::byte> packed(std::span<const int64_t> words, std::span<const Run> runs) {
  Encoder out;
  out.list(words);
  std::vector<Place> places;
  for (const Run& run : runs) places.push_back({run.offset, run.length});
  out.list(std::span<const Place>(places));
  std::vector<std::byte> message = out.take();
  message.reserve(message.size() + static_cast<size_t>(bytes_of(runs)));
  for (const Run& run : runs) message.insert(message.end(), run.data, run.data + run.length);
  return message;
}

// Adds what MESSAGE says: to RUNS, whose data stays in it, and to the maxima.
void unpack(std::span<std::byte> message, int rank, std::vector<int64_t>& maxima, std::vector<Run>& runs) {
  Decoder in(message);
  const auto words = in.list<int64_t>();
  for (size_t i = 0; i < std::min(words.size(), maxima.size()); ++i) maxima[i] = std::max(maxima[i], words[i]);
  const auto places = in.list<Place>();
  int64_t bytes = 0;
  for (const Place& place : places) bytes += place.length;
  std::byte* data = message.data() + message.size() - bytes;
  for (const Place& place : places) {
    runs.push_back({place.offset, data, place.length, rank});
    data += place.length;
  }
}

Status send(Gathering& now, std::span<const std::byte> bytes, int peer, int tag, MPI_Comm comm) {
  now.sends.push_back(MPI_REQUEST_NULL);
  return check_mpi(
      MPI_Isend(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, peer, tag, comm, &now.sends.back()),
      "MPI_Isend");
}

// What the others have sent, written with what this rank has; the answer to all.
Status write_for_all(File& file, std::span<const int64_t> words, std::vector<Run> runs) {
  Gathering& now = file.gathering;
  const int size = file.comm->size(), rank = file.comm->rank();
  const int64_t slot = most_gathered / size;
  if (now.room == nullptr) now.room = std::make_unique_for_overwrite<std::byte[]>(most_gathered);
  const std::span<std::byte> room(now.room.get(), most_gathered);
  std::vector<MPI_Request> requests(static_cast<size_t>(size), MPI_REQUEST_NULL);
  std::vector<MPI_Status> statuses(requests.size());
  for (int peer = 0; peer < size; ++peer)
    if (peer != rank)
      PENSTOCK_TRY(check_mpi(MPI_Irecv(room.data() + peer * slot, static_cast<int>(slot), MPI_BYTE, peer, data_tag,
                                       file.native, &requests[static_cast<size_t>(peer)]),
                             "MPI_Irecv"));
  PENSTOCK_TRY(check_mpi(MPI_Waitall(size, requests.data(), statuses.data()), "MPI_Waitall"));
  Answer answer{{words.begin(), words.end()}, {}};
  answer.status = guarded([&]() -> Status {
    for (Run& run : runs) run.call = rank;
    for (int peer = 0; peer < size; ++peer) {
      if (peer == rank) continue;
      int length = 0;
      MPI_Get_count(&statuses[static_cast<size_t>(peer)], MPI_BYTE, &length);
      unpack(room.subspan(static_cast<size_t>(peer * slot), static_cast<size_t>(length)), peer, answer.words, runs);
    }
    return write_alone(file, without_overlaps(std::move(runs)));
  });
  Encoder out;
  out.list(std::span<const int64_t>(answer.words));
  out.value(answer.status.code());
  out.text(std::string_view(answer.status.message()).substr(0, longest_answer / 2));
  now.message = out.take();
  Status sent;
  for (int peer = 0; peer < size; ++peer)
    if (peer != rank)
      if (const Status status = send(now, now.message, peer, answer_tag, file.native); sent.ok()) sent = status;
  now.answer = std::move(answer);
  return sent;
}

}  // namespace

Status gather(File& file, std::span<const int64_t> words, std::vector<Run> runs) {
  PENSTOCK_TRY(settle(file));
  Gathering& now = file.gathering;
  const auto writer = static_cast<int>(now.calls++ % file.comm->size());
  const int64_t bytes = bytes_of(runs) + std::ssize(runs) * static_cast<int64_t>(sizeof(Place));
  if (bytes + 1024 > most_gathered / file.comm->size()) {  // more than was to be expected
    const Status own = write_alone(file, without_overlaps(std::exchange(runs, {})));
    if (file.kept.failed.ok()) file.kept.failed = own;  // the next call tells the others
  }
  if (writer == file.comm->rank()) return write_for_all(file, words, std::move(runs));
  now.message = packed(words, runs);
  now.writer = writer;
  return send(now, now.message, writer, data_tag, file.native);
}

Status settle(File& file) {
  Gathering& now = file.gathering;
  if (now.writer >= 0) {
    std::byte bytes[longest_answer];
    MPI_Status status;
    int length = 0;
    PENSTOCK_TRY(check_mpi(
        MPI_Recv(bytes, longest_answer, MPI_BYTE, std::exchange(now.writer, -1), answer_tag, file.native, &status),
        "MPI_Recv"));
    MPI_Get_count(&status, MPI_BYTE, &length);
    Decoder in(std::span(bytes, static_cast<size_t>(length)));
    Answer answer;
    answer.words = in.list<int64_t>();
    const auto code = in.value<Code>();
    answer.status = code == Code::ok ? Status() : Status(code, in.text());
    now.answer = std::move(answer);
  }
  if (now.sends.empty()) return {};
  const Status sent =
      check_mpi(MPI_Waitall(static_cast<int>(now.sends.size()), now.sends.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
  now.sends.clear();
  return sent;
}

}  // namespace penstock::mpiio
