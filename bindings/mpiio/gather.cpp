// Gather: small collective writes of all ranks through one of them.
#include "bindings/mpiio/gather.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "bindings/mpiio/file.hpp"
#include "core/base/encode.hpp"
#include "core/base/guarded.hpp"
#include "core/comm/mpi/native.hpp"

namespace penstock::mpiio {
namespace {

constexpr int data_tag = 1100, answer_tag = 1101;  // the communicator is ours; its own tags are below
constexpr int longest_answer = 1024;               // short enough to be sent before it is received
constexpr int64_t most_gaps = 128;  // that a writer leaves, each a call of the file system; an exchange fills them
// Short messages are on their way when MPI_Isend returns; longer ones need their sender until the writer has them, when
// the program may compute. So messages go in short pieces, unless these are many.
constexpr int64_t piece_bytes = 3584;
constexpr int64_t most_pieces = 8;

// Its length, WORDS, and RUNS with their data.
std::vector<std::byte> packed(std::span<const int64_t> words, std::span<const Run> runs) {
  Encoder out;
  out.value<int64_t>(0);
  out.list(words);
  std::vector<Place> places;
  for (const Run& run : runs) places.push_back({run.offset, run.length});
  out.list(std::span<const Place>(places));
  std::vector<std::byte> message = out.take();
  message.reserve(message.size() + static_cast<size_t>(bytes_of(runs)));
  for (const Run& run : runs) message.insert(message.end(), run.data, run.data + run.length);
  const int64_t length = std::ssize(message);
  std::memcpy(message.data(), &length, sizeof length);
  return message;
}

// Adds what MESSAGE says: to RUNS, whose data stays in it, and to the maxima.
void unpack(std::span<std::byte> message, int rank, std::vector<int64_t>& maxima, std::vector<Run>& runs) {
  Decoder in(message);
  (void)in.value<int64_t>();
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

int64_t gaps(std::span<const Run> runs) {
  int64_t found = 0;
  for (size_t i = 1; i < runs.size(); ++i) found += runs[i - 1].offset + runs[i - 1].length < runs[i].offset;
  return found;
}

Status send(Gathering& now, std::span<const std::byte> bytes, int peer, int tag, MPI_Comm comm) {
  now.sends.push_back(MPI_REQUEST_NULL);
  return check_mpi(
      MPI_Isend(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, peer, tag, comm, &now.sends.back()),
      "MPI_Isend");
}

// Takes what the others have sent, without room for it.
Status drop(const File& file) {
  std::byte piece[piece_bytes];
  const auto next = [&](int peer) {
    return check_mpi(MPI_Recv(piece, piece_bytes, MPI_BYTE, peer, data_tag, file.native, MPI_STATUS_IGNORE),
                     "MPI_Recv");
  };
  for (int peer = 0; peer < file.comm->size(); ++peer) {
    if (peer == file.comm->rank()) continue;
    std::memset(piece, 0, sizeof(int64_t));
    PENSTOCK_TRY(next(peer));
    int64_t length = 0;
    std::memcpy(&length, piece, sizeof length);
    for (int64_t at = piece_bytes; at < length; at += piece_bytes) PENSTOCK_TRY(next(peer));
  }
  return {};
}

// What the others have sent, each in its slot of ROOM.
Status receive(File& file, std::span<std::byte> room, int64_t slot, std::span<int64_t> lengths) {
  const int size = file.comm->size(), rank = file.comm->rank();
  std::vector<MPI_Request> requests;
  const auto begin = [&](int peer, int64_t at, int64_t length) {
    requests.push_back(MPI_REQUEST_NULL);
    return check_mpi(MPI_Irecv(room.data() + peer * slot + at, static_cast<int>(length), MPI_BYTE, peer, data_tag,
                               file.native, &requests.back()),
                     "MPI_Irecv");
  };
  for (int peer = 0; peer < size; ++peer)
    if (peer != rank) PENSTOCK_TRY(begin(peer, 0, std::min(slot, piece_bytes)));
  std::vector<MPI_Status> statuses(requests.size());
  PENSTOCK_TRY(
      check_mpi(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), statuses.data()), "MPI_Waitall"));
  requests.clear();
  for (int peer = 0, i = 0; peer < size; ++peer) {
    if (peer == rank) continue;
    int first = 0;
    MPI_Get_count(&statuses[static_cast<size_t>(i++)], MPI_BYTE, &first);
    int64_t& length = lengths[static_cast<size_t>(peer)];
    if (first > 0) std::memcpy(&length, room.data() + peer * slot, sizeof length);
    if (length > slot) return {Code::internal, fmt::format("a message of {} bytes from rank {}", length, peer)};
    for (int64_t at = first; at < length; at += piece_bytes)
      PENSTOCK_TRY(begin(peer, at, std::min(piece_bytes, length - at)));
  }
  return check_mpi(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
}

// What the others have sent, written with what this rank has; the answer to all.
Status write_for_all(File& file, std::span<const int64_t> words, std::vector<Run> runs) {
  Gathering& now = file.gathering;
  const int size = file.comm->size(), rank = file.comm->rank();
  Status failed = guarded([&] {
    if (now.room == nullptr) now.room = std::make_unique_for_overwrite<std::byte[]>(most_gathered);
    return Status();
  });
  const int64_t slot = most_gathered / size;
  const std::span<std::byte> room(now.room.get(), failed.ok() ? most_gathered : 0);
  std::vector<int64_t> lengths(static_cast<size_t>(size));
  const Status received = failed.ok() ? receive(file, room, slot, lengths) : drop(file);
  if (failed.ok()) failed = received;
  Answer answer{{words.begin(), words.end()}, failed, false};
  if (failed.ok())
    answer.status = guarded([&]() -> Status {
      for (Run& run : runs) run.call = rank;
      for (int peer = 0; peer < size; ++peer) {
        if (peer == rank) continue;
        const int64_t length = lengths[static_cast<size_t>(peer)];
        if (length == 0) return {Code::memory, fmt::format("rank {} has no memory to send what it writes", peer)};
        unpack(room.subspan(static_cast<size_t>(peer * slot), static_cast<size_t>(length)), peer, answer.words, runs);
      }
      const std::vector<Run> all = without_overlaps(std::move(runs));
      answer.scattered = gaps(all) > most_gaps;
      return write_alone(file, all);
    });
  Encoder out;
  out.list(std::span<const int64_t>(answer.words));
  out.value(answer.scattered);
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
    const Status own = guarded([&] { return write_alone(file, without_overlaps(std::exchange(runs, {}))); });
    if (file.kept.failed.ok()) file.kept.failed = own;  // the next call tells the others
  }
  if (writer == file.comm->rank()) return write_for_all(file, words, std::move(runs));
  now.message.clear();
  (void)guarded([&] { return now.message = packed(words, runs), Status(); });  // an empty one says that it failed
  now.writer = writer;
  const std::span<const std::byte> message(now.message);
  size_t at = 0;
  do {
    const size_t length = std::min<size_t>(piece_bytes, message.size() - at);
    PENSTOCK_TRY(send(now, message.subspan(at, length), writer, data_tag, file.native));
    at += length;
  } while (at < message.size());
  if (std::ssize(message) <= most_pieces * piece_bytes) return {};
  return check_mpi(MPI_Waitall(static_cast<int>(now.sends.size()), now.sends.data(), MPI_STATUSES_IGNORE),
                   "MPI_Waitall");
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
    answer.scattered = in.value<bool>();
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
