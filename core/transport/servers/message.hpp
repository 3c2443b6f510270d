// Messages: the protocol between a client (a compute rank) and a server; the same over a socket and over MPI.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <penstock/status.hpp>

#include "core/base/encode.hpp"

namespace penstock {

struct ServerMessage {
  enum class Kind : int32_t {
    // From a client
    hello,  // NUMBER: its rank; A: bytes of its segment, with the descriptor attached; B: bytes of a slot
    job,  // a movement begins: A: bytes that this client will move; B: flags; C: buffer_bytes; TEXT: the scratch folder
    part,    // file NUMBER of this client: A: bytes that it moves there; TEXT: the absolute path
    chunk,   // slot NUMBER: A: start of its data; B: bytes of data; C: start of its strips; D: bytes of strips
    urgent,  // this client runs out of slots: do not wait for the others
    // (ready, too: whether the movement may begin)
    end,  // this client sends nothing more of this movement
    bye,  // the client will not move any more data
    // From a server
    welcome,  // all clients have connected; A: the process number
    ready,    // the answer to this question from all clients, asked with a scratch folder: CODE, TEXT
    freed,    // slot NUMBER may be reused (writing), or is filled (reading, unless CODE is an error)
    done,     // CODE, TEXT: the outcome of the movement for all clients; the numbers of ServerStatistics
  };
  Kind kind = Kind::end;
  int32_t number = 0;
  int64_t a = 0, b = 0, c = 0, d = 0;
  double x = 0, y = 0;
  Code code = Code::ok;
  std::string text;
};

// Flags of a job.
inline constexpr int64_t job_reads = 1, job_syncs = 2, job_direct = 4;

inline constexpr size_t max_message_bytes = 12 << 10;  // a path has at most 4 KiB
inline constexpr size_t max_text_bytes = 8 << 10;

inline std::vector<std::byte> encode_message(const ServerMessage& m) {
  Encoder out;
  out.value(m.kind);
  out.value(m.number);
  for (const int64_t v : {m.a, m.b, m.c, m.d}) out.value(v);
  out.value(m.x);
  out.value(m.y);
  out.value(m.code);
  out.text(std::string_view(m.text).substr(0, max_text_bytes));
  return out.take();
}

inline Result<ServerMessage> decode_message(std::span<const std::byte> bytes) {
  Decoder in(bytes);
  ServerMessage m;
  m.kind = in.value<ServerMessage::Kind>();
  m.number = in.value<int32_t>();
  for (int64_t* v : {&m.a, &m.b, &m.c, &m.d}) *v = in.value<int64_t>();
  m.x = in.value<double>();
  m.y = in.value<double>();
  m.code = in.value<Code>();
  m.text = in.text();
  if (!in.ok()) return Status(Code::internal, "a message between a rank and an I/O server cannot be decoded");
  return m;
}

}  // namespace penstock
