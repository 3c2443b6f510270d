// Service: how an I/O server handles the messages of its clients; independent of sockets and MPI.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>

#include "core/storage/storage.hpp"
#include "core/transport/servers/message.hpp"

namespace penstock {

class Service {
 public:
  using Reply = std::function<void(int client, const ServerMessage& message)>;
  // Clients are numbered from 0; all take part in every movement. REPLY must not call this object.
  Service(int clients, std::shared_ptr<Storage> storage, Reply reply);
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  // MEMORY is the client's slot for a chunk; it does not change until the reply: it is read when writing, filled when
  // reading. This function only queues chunks. Failures of the file system are kept until the end of the movement, and
  // data that arrives until then is discarded.
  void handle(int client, const ServerMessage& message, std::span<std::byte> memory);
  // Moves one chunk, or completes the movement, if possible now. Writing waits until all clients have handed over
  // everything or one runs out of room: while they copy, they need the cores and the memory bandwidth.
  void work();
  bool has_work() const;
  bool busy() const;  // during a movement

  struct Job;

 private:
  int clients_;
  std::shared_ptr<Storage> storage_;
  Reply reply_;
  std::unique_ptr<Job> job_;
};

}  // namespace penstock
