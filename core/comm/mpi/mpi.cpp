// The MPI communicator: a private duplicate, errors returned, counts of any size, sparse exchange by NBX.
#include <penstock/mpi.hpp>

#include <sched.h>

#include <algorithm>
#include <climits>
#include <utility>

#include <fmt/format.h>

#include "core/comm/mpi/mpi_communicator.hpp"
#include "core/comm/mpi/reuse.hpp"
#include "core/comm/mpi/server_ranks.hpp"

namespace penstock {
namespace {

constexpr int64_t chunk_bytes = int64_t{1} << 30;  // what one MPI call moves at most
constexpr int sparse_tags = 1024;                  // above those of send and receive
constexpr int idle_tag = sparse_tags + 2;          // of no message

Status check(int error, const char* call) {
  if (error == MPI_SUCCESS) return {};
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(error, text, &length);
  return {Code::io, fmt::format("{} failed: {}", call, std::string_view(text, static_cast<size_t>(length)))};
}

// The pieces of one logical message, at most chunk_bytes each.
class MpiRequest : public Request::State {
 public:
  MpiRequest(std::vector<MPI_Request> requests, bool receives) : requests_(std::move(requests)), receives_(receives) {}
  // A receive that is given up, after a failure, may never be matched: it is cancelled, so that nobody waits for it.
  ~MpiRequest() override {
    for (MPI_Request& request : requests_)
      if (receives_ && request != MPI_REQUEST_NULL) MPI_Cancel(&request);
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  }
  MpiRequest(const MpiRequest&) = delete;
  MpiRequest& operator=(const MpiRequest&) = delete;
  Result<bool> test() override {
    int done = 0;
    PENSTOCK_TRY(check(MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &done, MPI_STATUSES_IGNORE),
                       "MPI_Testall"));
    return done != 0;
  }
  void abandon() override {
    for (MPI_Request& request : requests_)
      if (!receives_ && request != MPI_REQUEST_NULL) MPI_Request_free(&request);
  }

 private:
  std::vector<MPI_Request> requests_;
  bool receives_;
};

class MpiCommunicator : public MpiCommunicatorInterface {
 public:
  explicit MpiCommunicator(MPI_Comm comm) : comm_(comm) {
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &size_);
  }
  ~MpiCommunicator() override {
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (!finalized && !spoiled()) MPI_Comm_free(&comm_);
  }
  MpiCommunicator(const MpiCommunicator&) = delete;
  MpiCommunicator& operator=(const MpiCommunicator&) = delete;

  Status start() {
    MPI_Comm node = MPI_COMM_NULL;
    PENSTOCK_TRY(
        check(MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &node), "MPI_Comm_split_type"));
    MPI_Comm_size(node, &node_size_);
    MPI_Comm_rank(node, &node_rank_);
    server_ranks_ = attached_servers(comm_);
    return check(MPI_Comm_free(&node), "MPI_Comm_free");
  }

  MPI_Comm native() const override { return comm_; }
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  int node_size() const override { return node_size_; }
  int node_rank() const override { return node_rank_; }
  bool threads_allowed() const override {
    int level = MPI_THREAD_SINGLE;
    MPI_Query_thread(&level);
    return level != MPI_THREAD_SINGLE;
  }
  bool threads_may_communicate() const override {
    int level = MPI_THREAD_SINGLE;
    MPI_Query_thread(&level);
    return level == MPI_THREAD_MULTIPLE;
  }
  Status barrier() const override { return check(MPI_Barrier(comm_), "MPI_Barrier"); }
  Status all_reduce_min(std::span<int64_t> values) const override { return all_reduce(values, MPI_MIN); }
  Status all_reduce_max(std::span<int64_t> values) const override { return all_reduce(values, MPI_MAX); }
  Status all_reduce_sum(std::span<int64_t> values) const override { return all_reduce(values, MPI_SUM); }
  Status all_reduce_xor(std::span<int64_t> values) const override { return all_reduce(values, MPI_BXOR); }

  Status exclusive_sum(std::span<int64_t> values) const override {
    std::vector<int64_t> mine(values.begin(), values.end());
    PENSTOCK_TRY(
        check(MPI_Exscan(mine.data(), values.data(), static_cast<int>(values.size()), MPI_INT64_T, MPI_SUM, comm_),
              "MPI_Exscan"));
    if (rank_ == 0) std::fill(values.begin(), values.end(), 0);
    return {};
  }

  Status broadcast(std::vector<std::byte>& bytes, int root) const override {
    auto length = static_cast<int64_t>(bytes.size());
    PENSTOCK_TRY(check(MPI_Bcast(&length, 1, MPI_INT64_T, root, comm_), "MPI_Bcast"));
    bytes.resize(static_cast<size_t>(length));
    for (int64_t at = 0; at < length; at += chunk_bytes)
      PENSTOCK_TRY(check(MPI_Bcast(bytes.data() + at, chunk(length - at), MPI_BYTE, root, comm_), "MPI_Bcast"));
    return {};
  }

  Result<std::vector<std::vector<std::byte>>> gather(std::span<const std::byte> bytes, int root) const override {
    const auto length = static_cast<int64_t>(bytes.size());
    std::vector<int64_t> lengths(rank_ == root ? static_cast<size_t>(size_) : 0);
    PENSTOCK_TRY(check(MPI_Gather(&length, 1, MPI_INT64_T, lengths.data(), 1, MPI_INT64_T, root, comm_), "MPI_Gather"));
    std::vector<std::vector<std::byte>> all(lengths.size());
    std::vector<Request> requests;
    if (rank_ != root) {
      if (length > 0) {
        PENSTOCK_ASSIGN(auto request, send(root, sparse_tags - 1, bytes));
        requests.push_back(std::move(request));
      }
    } else {
      for (int peer = 0; peer < size_; ++peer) {
        auto& slot = all[static_cast<size_t>(peer)];
        slot.resize(static_cast<size_t>(lengths[static_cast<size_t>(peer)]));
        if (peer == rank_) {
          std::copy(bytes.begin(), bytes.end(), slot.begin());
        } else if (!slot.empty()) {
          PENSTOCK_ASSIGN(auto request, receive(peer, sparse_tags - 1, slot));
          requests.push_back(std::move(request));
        }
      }
    }
    PENSTOCK_TRY(wait_all(requests));
    return all;
  }

  // Synchronous sends tell when they were received; a rank whose sends all were enters a barrier, and when that
  // completes nobody has anything left under way. Rounds alternate between two tags, so that a fast rank's next
  // round is not taken for this one's.
  Result<std::vector<Message>> sparse_exchange(std::vector<Message> messages) const override {
    const int tag = sparse_tags + static_cast<int>(sparse_rounds_++ % 2);
    std::vector<MPI_Request> sends;
    std::vector<Message> received;
    Status failure;
    for (Message& message : messages) {
      if (message.peer == rank_) {
        received.push_back(std::move(message));
        continue;
      }
      const auto length = static_cast<int64_t>(message.bytes.size());
      if (length > chunk_bytes) {  // the others must not wait for it: they get nothing, and this rank fails afterwards
        failure = Status(Code::unsupported, "a sparse message is over 1 GiB");
        continue;
      }
      sends.push_back(MPI_REQUEST_NULL);
      PENSTOCK_TRY(
          check(MPI_Issend(message.bytes.data(), chunk(length), MPI_BYTE, message.peer, tag, comm_, &sends.back()),
                "MPI_Issend"));
      ++messages_;
      bytes_ += length;
    }
    MPI_Request barrier = MPI_REQUEST_NULL;
    bool in_barrier = false;
    while (true) {
      int found = 0;
      MPI_Message handle = MPI_MESSAGE_NULL;
      MPI_Status status;
      PENSTOCK_TRY(check(MPI_Improbe(MPI_ANY_SOURCE, tag, comm_, &found, &handle, &status), "MPI_Improbe"));
      if (found) {
        int length = 0;
        MPI_Get_count(&status, MPI_BYTE, &length);
        Message message{status.MPI_SOURCE, std::vector<std::byte>(static_cast<size_t>(length))};
        PENSTOCK_TRY(check(MPI_Mrecv(message.bytes.data(), length, MPI_BYTE, &handle, MPI_STATUS_IGNORE), "MPI_Mrecv"));
        received.push_back(std::move(message));
        continue;
      }
      int done = 0;
      if (in_barrier) {
        PENSTOCK_TRY(check(MPI_Test(&barrier, &done, MPI_STATUS_IGNORE), "MPI_Test"));
        if (done) break;
      } else {
        PENSTOCK_TRY(check(MPI_Testall(static_cast<int>(sends.size()), sends.data(), &done, MPI_STATUSES_IGNORE),
                           "MPI_Testall"));
        if (done) {
          PENSTOCK_TRY(check(MPI_Ibarrier(comm_, &barrier), "MPI_Ibarrier"));
          in_barrier = true;
        }
      }
      sched_yield();
    }
    PENSTOCK_TRY(failure);
    std::stable_sort(received.begin(), received.end(),
                     [](const Message& a, const Message& b) { return a.peer < b.peer; });
    return received;
  }

  Result<Request> send(int peer, int tag, std::span<const std::byte> bytes) const override {
    std::vector<MPI_Request> requests;
    const auto length = static_cast<int64_t>(bytes.size());
    for (int64_t at = 0; at == 0 || at < length; at += chunk_bytes) {
      requests.push_back(MPI_REQUEST_NULL);
      PENSTOCK_TRY(check(MPI_Isend(bytes.data() + at, chunk(length - at), MPI_BYTE, peer, tag, comm_, &requests.back()),
                         "MPI_Isend"));
    }
    ++messages_;
    bytes_ += length;
    return Request(std::make_unique<MpiRequest>(std::move(requests), false));
  }

  Result<Request> receive(int peer, int tag, std::span<std::byte> bytes) const override {
    std::vector<MPI_Request> requests;
    const auto length = static_cast<int64_t>(bytes.size());
    for (int64_t at = 0; at == 0 || at < length; at += chunk_bytes) {
      requests.push_back(MPI_REQUEST_NULL);
      PENSTOCK_TRY(check(MPI_Irecv(bytes.data() + at, chunk(length - at), MPI_BYTE, peer, tag, comm_, &requests.back()),
                         "MPI_Irecv"));
    }
    return Request(std::make_unique<MpiRequest>(std::move(requests), true));
  }

  void progress() const override {
    int found = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, idle_tag, comm_, &found, MPI_STATUS_IGNORE);
  }

  Result<Communicator> duplicate() const override { return mpi_communicator(comm_); }

  Result<Communicator> split(int colour) const override {
    MPI_Comm part = MPI_COMM_NULL;
    PENSTOCK_TRY(check(MPI_Comm_split(comm_, colour < 0 ? MPI_UNDEFINED : colour, rank_, &part), "MPI_Comm_split"));
    return adopt(part);
  }

  Result<Communicator> node() const override {
    MPI_Comm part = MPI_COMM_NULL;
    PENSTOCK_TRY(
        check(MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &part), "MPI_Comm_split_type"));
    return adopt(part);
  }

  std::shared_ptr<const ServerRanks> server_ranks() const override { return server_ranks_; }
  int64_t messages_sent() const override { return messages_; }
  int64_t bytes_sent() const override { return bytes_; }

 private:
  // Collective. PART belongs to the result from now on.
  static Result<Communicator> adopt(MPI_Comm part) {
    if (part == MPI_COMM_NULL) return Communicator();
    MPI_Comm_set_errhandler(part, MPI_ERRORS_RETURN);
    auto made = std::make_shared<MpiCommunicator>(part);
    PENSTOCK_TRY(made->start());
    return Communicator(std::move(made));
  }

  static int chunk(int64_t rest) { return static_cast<int>(std::min(rest, chunk_bytes)); }

  Status all_reduce(std::span<int64_t> values, MPI_Op op) const {
    if (values.size() > INT_MAX) return {Code::unsupported, "a reduction of over 2^31 values"};
    return check(MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_INT64_T, op, comm_),
                 "MPI_Allreduce");
  }

  MPI_Comm comm_;
  int rank_ = 0;
  int size_ = 1;
  int node_size_ = 1, node_rank_ = 0;
  std::shared_ptr<const ServerRanks> server_ranks_;
  mutable uint64_t sparse_rounds_ = 0;
  mutable int64_t messages_ = 0;
  mutable int64_t bytes_ = 0;
};

}  // namespace

Result<Communicator> mpi_communicator(MPI_Comm comm) {
  if (comm == MPI_COMM_NULL) return serial_communicator();
  int initialised = 0, finalised = 0;
  MPI_Initialized(&initialised);
  MPI_Finalized(&finalised);
  if (!initialised || finalised)
    return Status(Code::invalid, "MPI is not running: call MPI_Init before, or pass no communicator");
  return reuse_duplicate(comm, [&]() -> Result<Communicator> {
    MPI_Comm copy = MPI_COMM_NULL;
    PENSTOCK_TRY(check(MPI_Comm_dup(comm, &copy), "MPI_Comm_dup"));
    MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
    auto made = std::make_shared<MpiCommunicator>(copy);
    PENSTOCK_TRY(made->start());
    return Communicator(std::move(made));
  });
}

}  // namespace penstock
