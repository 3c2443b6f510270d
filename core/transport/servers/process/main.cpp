// penstock-server: one I/O server of a node, a process without MPI. The library starts it. It serves the ranks that
// connect to the given socket, and ends when they have closed their connections.
//
//     penstock-server CLIENTS      (the listening socket is descriptor 3)
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/status/status_page.hpp"
#include "core/storage/storage.hpp"
#include "core/trace/trace.hpp"
#include "core/transport/servers/node.hpp"
#include "core/transport/servers/service.hpp"

namespace {

using namespace penstock;

constexpr int listening = 3;

struct Client {
  FileDescriptor socket;
  SharedSegment segment;
  int64_t slot_bytes = 0;
  int rank = -1;  // as greeted
};

// Signals of a launcher that end a job also reach the ranks. This process ends when they do, whether its files are
// complete or not.
void ignore_signals() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGQUIT, SIGXFSZ, SIGUSR1, SIGUSR2})
    (void)::signal(signal, SIG_IGN);
}

class Server {
 public:
  explicit Server(size_t clients)
      : expected_(clients),
        service_(static_cast<int>(clients), posix_storage(), [this](int to, const ServerMessage& m) {
          if (to < static_cast<int>(clients_.size()))
            (void)send_message(clients_[static_cast<size_t>(to)].socket.get(), m);
        }) {}

  // Runs until every client has closed its connection, or one of them has during a movement.
  int run() {
    while (true) {
      list_sockets();
      if (::poll(polled_.data(), polled_.size(), service_.has_work() ? 0 : -1) < 0) {
        if (errno == EINTR) continue;
        return 1;
      }
      const size_t known = clients_.size();
      for (size_t i = 0; i < known; ++i)
        if (polled_[i].revents != 0 && !serve(static_cast<int>(i))) return 0;
      if (known < expected_ && polled_.back().revents != 0) accept();
      service_.work();
    }
  }

 private:
  void list_sockets() {
    polled_.clear();
    for (const Client& client : clients_) polled_.push_back({client.socket.get(), POLLIN, 0});
    if (clients_.size() < expected_) polled_.push_back({listening, POLLIN, 0});
  }

  void accept() {
    auto socket = accept_from(listening);
    if (!socket.ok() || socket->get() < 0 || !same_user(socket->get())) return;
    clients_.push_back({*std::move(socket)});
    if (clients_.size() == expected_) ::close(listening);
  }

  // False if the process should end.
  bool serve(int index) {
    Client& client = clients_[static_cast<size_t>(index)];
    auto received = receive_message(client.socket.get(), 0);
    if (!received.ok()) return lost(client);
    if (!*received) return true;
    const ServerMessage& m = (*received)->message;
    if (m.kind == ServerMessage::Kind::hello) return greet(client, std::move(**received));
    std::span<std::byte> slot;
    if (m.kind == ServerMessage::Kind::chunk) {
      const auto memory = client.segment.memory();
      const auto bytes = static_cast<size_t>(client.slot_bytes), at = static_cast<size_t>(m.number) * bytes;
      if (m.number >= 0 && at + bytes <= memory.size()) slot = memory.subspan(at, bytes);
    }
    service_.handle(index, m, slot);
    return true;
  }

  bool greet(Client& client, Received hello) {
    auto segment = SharedSegment::map(std::move(hello.fd), hello.message.a);
    if (!segment.ok()) return false;
    client.segment = *std::move(segment);
    client.slot_bytes = hello.message.b;
    client.rank = hello.message.number;
    if (clients_.size() < expected_) return true;
    for (const Client& c : clients_)
      if (c.rank < 0) return true;
    for (const Client& c : clients_)
      (void)send_message(c.socket.get(), {.kind = ServerMessage::Kind::welcome, .a = ::getpid()});
    return true;
  }

  // The ranks close their connections together, between movements; the first one ends the server. A rank that closes
  // during a movement has died.
  bool lost(const Client& client) {
    if (!service_.busy()) return false;
    const ServerMessage m{.kind = ServerMessage::Kind::done,
                          .code = Code::io,
                          .text = fmt::format("rank {} went away in the middle of a movement", client.rank)};
    for (const Client& other : clients_)
      if (&other != &client) (void)send_message(other.socket.get(), m);
    return false;
  }

  size_t expected_;
  std::vector<Client> clients_;
  std::vector<pollfd> polled_;
  Service service_;
};

}  // namespace

int main(int argc, char** argv) {
  int clients = 0;
  if (argc == 2) std::from_chars(argv[1], argv[1] + std::strlen(argv[1]), clients);
  if (clients < 1 || ::fcntl(listening, F_GETFD) < 0) return 2;  // not for interactive use
  if (Trace* trace = Trace::current()) trace->set_role("server");
  ::close_range(listening + 1, ~0U, 0);
  ::fcntl(listening, F_SETFL, O_NONBLOCK);
  show_status(1);
  ignore_signals();
  ::prctl(PR_SET_NAME, "penstock-server");
  if (::chdir("/") != 0) return 2;  // so that it blocks no file system
  return Server(static_cast<size_t>(clients)).run();
}
