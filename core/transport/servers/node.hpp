// Sockets and shared memory between the processes of one node, without names in a file system.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <penstock/status.hpp>

#include "core/base/file_descriptor.hpp"
#include "core/transport/servers/message.hpp"

namespace penstock {

// Memory that another process also maps. Its pages are reserved and touched at creation, so that a full /dev/shm is an
// error here and not a SIGBUS later.
class SharedSegment {
 public:
  // As many bytes as there is room for, up to BYTES; at least LEAST.
  static Result<SharedSegment> create(int64_t bytes, int64_t least);
  // Maps memory of another process; FD is its descriptor.
  static Result<SharedSegment> map(FileDescriptor fd, int64_t bytes);
  SharedSegment() = default;
  ~SharedSegment();
  SharedSegment(SharedSegment&& other) noexcept { *this = std::move(other); }
  SharedSegment& operator=(SharedSegment&& other) noexcept;
  SharedSegment(const SharedSegment&) = delete;
  SharedSegment& operator=(const SharedSegment&) = delete;

  std::span<std::byte> memory() const { return {base_, static_cast<size_t>(bytes_)}; }
  int fd() const { return fd_.get(); }

 private:
  FileDescriptor fd_;
  std::byte* base_ = nullptr;
  int64_t bytes_ = 0;
};

// Bytes of shared memory that can still be reserved on this node.
int64_t shared_memory_free();

// A listening socket that accepts only processes of this user on this node. The kernel chooses NAME, which is abstract.
struct Listener {
  FileDescriptor socket;
  std::string name;
};
Result<Listener> listen_here();
Result<FileDescriptor> connect_to(const std::string& name);
Result<FileDescriptor> accept_from(int listener);  // an invalid handle if nobody is waiting
bool same_user(int socket);

// Sends one message, with FD if given. Code::io if the peer closed the connection.
Status send_message(int socket, const ServerMessage& message, int fd = -1);
struct Received {
  ServerMessage message;
  FileDescriptor fd;
};
// Waits at most WAIT_MS for a message (-1: forever); nothing if none arrived.
Result<std::optional<Received>> receive_message(int socket, int wait_ms);

}  // namespace penstock
