// Service: what an I/O server does with the messages of its clients; it knows no sockets and no MPI.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>

#include <penstock/status.hpp>

#include "core/storage/storage.hpp"
#include "core/transport/servers/message.hpp"

namespace penstock {

class Service {
 public:
  using Reply = std::function<void(int client, const ServerMessage& message)>;
  // Clients are numbered from 0; all of them take part in every movement. REPLY must not call back.
  Service(int clients, std::shared_ptr<Storage> storage, Reply reply);
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  // MEMORY is the client's slot for a chunk, which stays as it is until the reply: read when writing, filled when
  // reading. Chunks are only noted here. Failures of the file system are kept for the end of the movement, and what
  // arrives until then is discarded.
  void handle(int client, const ServerMessage& message, std::span<std::byte> memory);
  // Moves one chunk, or completes the movement, where there is one to move or complete now. What is to be written waits
  // until all clients have handed everything over or one runs out of room: while they copy, they need the cores and the
  // memory's bandwidth for themselves.
  void work();
  bool has_work() const;
  bool busy() const;  // within a movement

  struct Job;

 private:
  int clients_;
  std::shared_ptr<Storage> storage_;
  Reply reply_;
  std::unique_ptr<Job> job_;
};

}  // namespace penstock
