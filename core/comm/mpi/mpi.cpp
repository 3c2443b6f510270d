// The MPI communicator: a private duplicate, errors returned, counts of any size, sparse exchange by NBX.
#include <penstock/mpi.hpp>

#include <algorithm>
#include <charconv>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "core/comm/mpi/native.hpp"
#include "core/comm/mpi/request.hpp"
#include "core/comm/mpi/reuse.hpp"
#include "core/comm/mpi/server_ranks.hpp"
#include "core/comm/mpi/traced_io.hpp"
#include "core/comm/mpi/tree.hpp"
#include "core/comm/mpi/watch.hpp"
#include "core/comm/patience.hpp"
#include "core/trace/trace.hpp"

namespace penstock {
namespace {

constexpr int64_t max_sparse_bytes = int64_t{1} << 30;
constexpr int sparse_tags = 1024;          // above those of send and receive, below those of Tree
constexpr int idle_tag = sparse_tags + 2;  // of no message

int rank_in(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

int size_of(MPI_Comm comm) {
  int size = 1;
  MPI_Comm_size(comm, &size);
  return size;
}

int thread_level() {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  return level;
}

// Whether this thread may call MPI, as far as known here.
bool thread_may_call() {
  int is_main = 0;
  if (thread_level() != MPI_THREAD_MULTIPLE) MPI_Is_thread_main(&is_main);
  return thread_level() == MPI_THREAD_MULTIPLE || is_main != 0;
}

template <typename Asked>
Status await(MPI_Request request, Asked& asked, std::string_view what) {
  const auto test = [&]() -> Result<bool> {
    int done = 0;
    PENSTOCK_TRY(check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test"));
    return done != 0;
  };
  return wait_until(test, asked, what);
}

// PENSTOCK_NODE_SIZE=K takes each K ranks of a node for a node of their own: several nodes on one machine, for tests.
// The same on all ranks.
Result<int> most_on_a_node() {
  const char* said = std::getenv("PENSTOCK_NODE_SIZE");
  if (said == nullptr || *said == '\0') return INT_MAX;
  int most = 0;
  const auto [end, error] = std::from_chars(said, said + std::strlen(said), most);
  if (error == std::errc() && *end == '\0' && most > 0) return most;
  return Status(Code::invalid, fmt::format("PENSTOCK_NODE_SIZE={} is no number of ranks from 1 on", said));
}

// What a rank has sent, on a communicator and on that of its node.
struct MessageCount {
  int64_t messages = 0, bytes = 0;
};

class MpiCommunicator : public MpiCommunicatorInterface, public std::enable_shared_from_this<MpiCommunicator> {
 public:
  explicit MpiCommunicator(MPI_Comm comm, std::shared_ptr<MessageCount> sent = std::make_shared<MessageCount>())
      : comm_(comm),
        rank_(rank_in(comm)),
        size_(size_of(comm)),
        sent_(std::move(sent)),
        watch_(
            comm, rank_, size_, [this] { poison(); }, [this] { stay(); }),
        tree_(comm, rank_, size_, watch_, [this]() -> CollectiveCall& { return call(); }) {}
  ~MpiCommunicator() override {
    watch_.leave();
    if (mpi_runs() && !poisoned()) MPI_Comm_free(&comm_);
  }
  MpiCommunicator(const MpiCommunicator&) = delete;
  MpiCommunicator& operator=(const MpiCommunicator&) = delete;

  Status start() {
    if (Trace* trace = Trace::current()) trace_mpi(*trace);
    PENSTOCK_ASSIGN(MPI_Comm node, split_by_node());
    MPI_Comm_size(node, &node_size_);
    MPI_Comm_rank(node, &node_rank_);
    server_ranks_ = attached_servers(comm_);
    return check_mpi(MPI_Comm_free(&node), "MPI_Comm_free");
  }

  MPI_Comm native() const override { return comm_; }
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  int node_size() const override { return node_size_; }
  int node_rank() const override { return node_rank_; }
  bool threads_allowed() const override { return thread_level() != MPI_THREAD_SINGLE; }
  bool threads_may_communicate() const override { return thread_level() == MPI_THREAD_MULTIPLE; }
  Status barrier() const override { return tree_.reduce({}, Tree::Kind::sum); }
  Status all_reduce_min(std::span<int64_t> values) const override { return tree_.reduce(values, Tree::Kind::min); }
  Status all_reduce_max(std::span<int64_t> values) const override { return tree_.reduce(values, Tree::Kind::max); }
  Status all_reduce_sum(std::span<int64_t> values) const override { return tree_.reduce(values, Tree::Kind::sum); }
  Status all_reduce_xor(std::span<int64_t> values) const override { return tree_.reduce(values, Tree::Kind::bits); }
  Status all_reduce_sum_xor(std::span<int64_t> sums, std::span<int64_t> bits) const override {
    std::vector<int64_t> all(sums.begin(), sums.end());
    all.insert(all.end(), bits.begin(), bits.end());
    PENSTOCK_TRY(tree_.reduce(all, Tree::Kind::sum_bits, static_cast<int>(sums.size())));
    std::copy_n(all.begin(), sums.size(), sums.begin());
    std::copy_n(all.begin() + std::ssize(sums), bits.size(), bits.begin());
    return {};
  }
  Status exclusive_sum(std::span<int64_t> values, std::span<int64_t> before) const override {
    return tree_.exclusive_sum(values, before);
  }
  Status broadcast(std::vector<std::byte>& bytes, int root) const override { return tree_.broadcast(bytes, root); }
  Result<std::vector<std::vector<std::byte>>> gather(std::span<const std::byte> bytes, int root) const override {
    if (rank_ != root && !bytes.empty()) {
      ++sent_->messages;
      sent_->bytes += static_cast<int64_t>(bytes.size());
    }
    return tree_.gather(bytes, root);
  }

  Result<double> waited(double idle, std::string_view what) const override {
    if (thread_may_call()) return watch_.waited(idle, what, call());
    PENSTOCK_TRY(check_limit(idle, what));
    return idle;
  }
  void set_in_doubt(bool in_doubt) const override {
    watch_.set_in_doubt(in_doubt);
    call().in_doubt = in_doubt;
  }
  Status usable() const override { return watch_.usable(); }
  void working(double idle) const override {
    constexpr double often_enough = 0.05;
    thread_local double last = 0;
    if (now() - last < often_enough || !thread_may_call()) return;
    last = now();
    Watch::answer_all(idle);
  }

  // Synchronous sends complete when they are received. A rank whose sends are complete enters a barrier; when the
  // barrier completes, no rank has messages in progress. Rounds alternate between two tags, so that messages of a fast
  // rank's next round are not mistaken for this round's.
  Result<std::vector<Message>> sparse_exchange(std::vector<Message> messages) const override {
    PENSTOCK_TRY(watch_.usable());
    const int tag = sparse_tags + static_cast<int>(sparse_rounds_++ % 2);
    const auto sending = std::make_shared<std::vector<Message>>(std::move(messages));
    std::vector<MPI_Request> sends;
    std::vector<Message> received;
    Status failure;
    for (Message& message : *sending) {
      if (message.peer == rank_) {
        received.push_back(std::move(message));
        continue;
      }
      const auto length = static_cast<int64_t>(message.bytes.size());
      if (length > max_sparse_bytes) {  // the others must not wait for it: they get nothing, and this rank fails later
        failure = Status(Code::unsupported, "a sparse message is over 1 GiB");
        continue;
      }
      sends.push_back(MPI_REQUEST_NULL);
      PENSTOCK_TRY(check_mpi(
          MPI_Issend(message.bytes.data(), static_cast<int>(length), MPI_BYTE, message.peer, tag, comm_, &sends.back()),
          "MPI_Issend"));
      ++sent_->messages;
      sent_->bytes += length;
    }
    MPI_Request barrier = MPI_REQUEST_NULL;
    bool in_barrier = false;
    Patience patience;
    while (true) {
      int found = 0;
      MPI_Message handle = MPI_MESSAGE_NULL;
      MPI_Status status;
      PENSTOCK_TRY(check_mpi(MPI_Improbe(MPI_ANY_SOURCE, tag, comm_, &found, &handle, &status), "MPI_Improbe"));
      if (found) {
        int length = 0;
        MPI_Get_count(&status, MPI_BYTE, &length);
        const auto bytes = std::make_shared<std::vector<std::byte>>(static_cast<size_t>(length));
        MPI_Request request = MPI_REQUEST_NULL;
        PENSTOCK_TRY(check_mpi(MPI_Imrecv(bytes->data(), length, MPI_BYTE, &handle, &request), "MPI_Imrecv"));
        if (const Status came = await(request, tree_, "an exchange of messages"); !came.ok()) {
          keep_for_ever(sending);
          keep_for_ever(bytes);
          return came;
        }
        received.push_back({status.MPI_SOURCE, std::move(*bytes)});
        patience.moved();
        continue;
      }
      int done = 0;
      if (in_barrier) {
        PENSTOCK_TRY(check_mpi(MPI_Test(&barrier, &done, MPI_STATUS_IGNORE), "MPI_Test"));
        if (done) break;
      } else {
        PENSTOCK_TRY(check_mpi(MPI_Testall(static_cast<int>(sends.size()), sends.data(), &done, MPI_STATUSES_IGNORE),
                               "MPI_Testall"));
        if (done) {
          PENSTOCK_TRY(check_mpi(MPI_Ibarrier(comm_, &barrier), "MPI_Ibarrier"));
          in_barrier = true;
        }
      }
      if (const Status waiting = patience.wait(tree_, "an exchange of messages"); !waiting.ok()) {
        keep_for_ever(sending);
        return waiting;
      }
    }
    PENSTOCK_TRY(failure);
    std::stable_sort(received.begin(), received.end(),
                     [](const Message& a, const Message& b) { return a.peer < b.peer; });
    return received;
  }

  Result<Request> send(int peer, int tag, std::span<const std::byte> bytes) const override {
    PENSTOCK_ASSIGN(Request request, begin(Way::send, {const_cast<std::byte*>(bytes.data()), bytes.size()}, peer, tag));
    ++sent_->messages;
    sent_->bytes += static_cast<int64_t>(bytes.size());
    return request;
  }

  Result<Request> receive(int peer, int tag, std::span<std::byte> bytes) const override {
    return begin(Way::receive, bytes, peer, tag);
  }

  void progress() const override {
    int found = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, idle_tag, comm_, &found, MPI_STATUS_IGNORE);
  }

  Result<Communicator> duplicate() const override { return mpi_communicator(comm_); }

  Result<Communicator> split(int colour) const override {
    PENSTOCK_TRY(all_here());
    MPI_Comm part = MPI_COMM_NULL;
    PENSTOCK_TRY(check_mpi(MPI_Comm_split(comm_, colour < 0 ? MPI_UNDEFINED : colour, rank_, &part), "MPI_Comm_split"));
    return adopt(part);
  }

  Result<Communicator> node() const override {
    PENSTOCK_TRY(all_here());
    PENSTOCK_ASSIGN(const MPI_Comm part, split_by_node());
    return adopt(part, sent_);
  }

  // Collective. The result owns PART from now on.
  static Result<Communicator> adopt(MPI_Comm part,
                                    std::shared_ptr<MessageCount> sent = std::make_shared<MessageCount>()) {
    if (part == MPI_COMM_NULL) return Communicator();
    MPI_Comm_set_errhandler(part, MPI_ERRORS_RETURN);
    auto made = std::make_shared<MpiCommunicator>(part, std::move(sent));
    PENSTOCK_TRY(made->start());
    return Communicator(std::move(made));
  }

  std::shared_ptr<const ServerRanks> server_ranks() const override { return server_ranks_; }
  int64_t messages_sent() const override { return sent_->messages; }
  int64_t bytes_sent() const override { return sent_->bytes; }

 private:
  // MPI's functions on communicators block, so all ranks must be known to have arrived. A late rank may pass a first
  // barrier, whose messages all exist, but not a second one that the others never enter.
  Status all_here() const {
    PENSTOCK_TRY(barrier());
    return barrier();
  }

  Result<MPI_Comm> split_by_node() const {
    PENSTOCK_ASSIGN(const int most, most_on_a_node());
    MPI_Comm node = MPI_COMM_NULL, part = MPI_COMM_NULL;
    PENSTOCK_TRY(check_mpi(MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &node),
                           "MPI_Comm_split_type"));
    if (most == INT_MAX) return node;
    const Status split = check_mpi(MPI_Comm_split(node, rank_in(node) / most, rank_, &part), "MPI_Comm_split");
    MPI_Comm_free(&node);
    PENSTOCK_TRY(split);
    return part;
  }

  Result<Request> begin(Way way, std::span<std::byte> bytes, int peer, int tag) const {
    PENSTOCK_TRY(watch_.usable());
    std::vector<MPI_Request> requests;
    PENSTOCK_TRY(begin_message(way, bytes, peer, tag, comm_, requests));
    return Request(std::make_unique<MpiRequest>(shared_from_this(), std::move(requests), way));
  }

  // Messages in progress may use its memory.
  void stay() const { keep_for_ever(shared_from_this()); }

  MPI_Comm comm_;
  int rank_, size_;
  std::shared_ptr<MessageCount> sent_;
  int node_size_ = 1, node_rank_ = 0;
  std::shared_ptr<const ServerRanks> server_ranks_;
  mutable uint64_t sparse_rounds_ = 0;
  mutable Watch watch_;
  mutable Tree tree_;
};

// Collective over COMM, which belongs to the caller.
Status enter(MPI_Comm comm, std::string_view path) {
  const std::string missing = fmt::format("ranks that have not come to {}, or came with another communicator",
                                          path.empty() ? "this call" : fmt::format("create or open '{}'", path));
  MPI_Request request = MPI_REQUEST_NULL;
  PENSTOCK_TRY(check_mpi(MPI_Ibarrier(comm, &request), "MPI_Ibarrier"));
  return await(request, *serial_communicator(), missing);  // COMM itself cannot be asked yet
}

}  // namespace

Result<Communicator> mpi_communicator(MPI_Comm comm, std::string_view path) {
  if (comm == MPI_COMM_NULL) return serial_communicator();
  if (!mpi_runs()) return Status(Code::invalid, "MPI is not running: call MPI_Init before, or pass no communicator");
  const auto make = [&]() -> Result<Communicator> {
    MPI_Comm copy = MPI_COMM_NULL;
    PENSTOCK_TRY(check_mpi(MPI_Comm_dup(comm, &copy), "MPI_Comm_dup"));
    return MpiCommunicator::adopt(copy);
  };
  const auto make_plain = [&]() -> Result<Communicator> {
    MPI_Comm copy = MPI_COMM_NULL;
    PENSTOCK_TRY(enter(comm, path));
    PENSTOCK_TRY(enter(comm, path));  // same as all_here()
    PENSTOCK_TRY(check_mpi(MPI_Comm_dup(comm, &copy), "MPI_Comm_dup"));
    MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
    return Communicator(std::make_shared<MpiCommunicator>(copy));
  };
  return reuse_duplicate(comm, path, make_plain, make);
}

}  // namespace penstock
