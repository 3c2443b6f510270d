// Sockets of whole messages (SOCK_SEQPACKET), descriptors sent through them, and unnamed shared memory.
#include "core/transport/servers/node.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <penstock/timeout.hpp>

#include "core/base/shared_pages.hpp"
#include "core/base/units.hpp"

namespace penstock {
namespace {

constexpr const char* shared_folder = "/dev/shm";

Status failed(std::string_view what) { return Status::from_errno(errno, what); }

// In /dev/shm, where reservation fails at the limit; plain memory would be promised and be missing later.
FileDescriptor unnamed_memory() {
  FileDescriptor fd(::open(shared_folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  return fd.get() >= 0 ? std::move(fd) : memory_file();
}

Status hung_up() { return {Code::io, "the other side hung up"}; }

// An address whose path begins with NUL is abstract: it disappears with the last socket.
socklen_t address_of(const std::string& name, sockaddr_un& address) {
  address = {};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name.data(), std::min(name.size(), sizeof address.sun_path - 1));
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
}

FileDescriptor new_socket() { return FileDescriptor(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)); }

}  // namespace

SharedSegment::~SharedSegment() { unmap_pages(base_, bytes_); }

SharedSegment& SharedSegment::operator=(SharedSegment&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(base_, other.base_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

int64_t shared_memory_free() {
  struct statvfs space{};
  if (::statvfs(shared_folder, &space) != 0 || space.f_blocks == 0) return INT64_MAX;
  return static_cast<int64_t>(space.f_bavail) * static_cast<int64_t>(space.f_frsize);
}

Result<SharedSegment> SharedSegment::create(int64_t bytes, int64_t least) {
  for (; bytes >= least; bytes /= 2) {
    FileDescriptor fd = unnamed_memory();
    if (fd.get() < 0) return failed("making shared memory");
    if (reserve_pages(fd.get(), bytes)) return map(std::move(fd), bytes);
    if (errno != ENOSPC && errno != ENOMEM)
      return failed(fmt::format("reserving {} of shared memory", format_bytes(bytes)));
  }
  return Status(Code::memory, fmt::format("{} has {} free, each rank of transport servers needs {}: enlarge it, or use "
                                          "another transport",
                                          shared_folder, format_bytes(shared_memory_free()), format_bytes(least)));
}

Result<SharedSegment> SharedSegment::map(FileDescriptor fd, int64_t bytes) {
  std::byte* base = map_pages(fd.get(), bytes, true);
  if (base == nullptr) return failed(fmt::format("mapping {} of shared memory", format_bytes(bytes)));
  SharedSegment segment;
  segment.fd_ = std::move(fd);
  segment.base_ = base;
  segment.bytes_ = bytes;
  return segment;
}

Result<Listener> listen_here() {
  Listener listener{new_socket(), {}};
  const int fd = listener.socket.get();
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  socklen_t length = sizeof(sa_family_t);  // the kernel chooses a name
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (fd < 0 || ::bind(fd, generic, length) != 0 || ::listen(fd, SOMAXCONN) != 0)
    return failed("making a socket for an I/O server");
  length = sizeof address;
  if (::getsockname(fd, generic, &length) != 0) return failed("asking for a socket's name");
  listener.name.assign(address.sun_path + 1, length - offsetof(sockaddr_un, sun_path) - 1);
  return listener;
}

bool same_user(int socket) {
  ucred peer{};
  socklen_t length = sizeof peer;
  return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && peer.uid == ::geteuid();
}

Result<FileDescriptor> connect_to(const std::string& name) {
  FileDescriptor socket = new_socket();
  sockaddr_un address;
  const socklen_t length = address_of(name, address);
  const auto connect = [&] { return ::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), length); };
  if (retrying(connect) != 0) return failed("connecting to an I/O server");
  if (!same_user(socket.get())) return Status(Code::denied, "an I/O server's socket belongs to another user");
  return socket;
}

Result<FileDescriptor> accept_from(int listener) {
  const int fd = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
  if (fd < 0 && errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) return failed("accepting a rank");
  return FileDescriptor(fd);
}

Status send_message(int socket, const ServerMessage& message, int fd) {
  auto bytes = encode_message(message);
  iovec vector{bytes.data(), bytes.size()};
  msghdr header{};
  header.msg_iov = &vector;
  header.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  if (fd >= 0) {
    header.msg_control = control;
    header.msg_controllen = sizeof control;
    cmsghdr* rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(rights), &fd, sizeof fd);
  }
  double waited = 0;
  while (::sendmsg(socket, &header, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
    if (errno == EINTR) continue;
    if (errno == EAGAIN || errno == EWOULDBLOCK) {
      constexpr int look_ms = 100;
      pollfd one{socket, POLLOUT, 0};
      if (::poll(&one, 1, look_ms) == 0) waited += look_ms * 1e-3;
      if (timeout() > 0 && waited >= timeout())
        return {Code::timeout, fmt::format("its socket has been full for {:g} s", timeout())};
      continue;
    }
    if (errno == EPIPE || errno == ECONNRESET || errno == ENOTCONN) return hung_up();
    return failed("sending to an I/O server");
  }
  return {};
}

Result<std::optional<Received>> receive_message(int socket, int wait_ms) {
  using Nothing = std::optional<Received>;
  if (wait_ms != 0) {
    pollfd one{socket, POLLIN, 0};
    const int ready = ::poll(&one, 1, wait_ms);
    if (ready < 0 && errno != EINTR) return failed("waiting for an I/O server");
    if (ready <= 0) return Nothing();
  }
  std::byte bytes[max_message_bytes];
  iovec vector{bytes, sizeof bytes};
  msghdr header{};
  header.msg_iov = &vector;
  header.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  const ssize_t length = ::recvmsg(socket, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (length < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return Nothing();
  if (length == 0 || (length < 0 && errno == ECONNRESET)) return hung_up();
  if (length < 0) return failed("receiving from an I/O server");
  Received received;
  if (const cmsghdr* rights = CMSG_FIRSTHDR(&header); rights != nullptr && rights->cmsg_type == SCM_RIGHTS) {
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(rights), sizeof fd);
    received.fd = FileDescriptor(fd);
  }
  PENSTOCK_ASSIGN(received.message, decode_message(std::span<const std::byte>(bytes, static_cast<size_t>(length))));
  return Nothing(std::move(received));
}

}  // namespace penstock
