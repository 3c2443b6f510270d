// ServersTransfer: one movement through servers, on a compute rank; the same for node servers and server ranks.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "core/comm/patience.hpp"
#include "core/transport/move.hpp"
#include "core/transport/servers/pool.hpp"
#include "core/transport/servers/strips.hpp"
#include "core/transport/transport.hpp"

namespace penstock {

// All functions are local. Written data is copied once, to a slot that the server reads. Data to read is requested slot
// by slot, filled in by the server and copied from there.
class ServersTransfer : public Transfer {
 public:
  // KEEP takes the pool back after a successful movement.
  ServersTransfer(const Job& job, const Settings& settings, ServerPoolPtr pool,
                  std::function<void(ServerPoolPtr)> keep);
  ~ServersTransfer() override;

  // Announces the movement to the servers. With a scratch folder, waits for their answer.
  Status begin();
  Result<bool> progress(double seconds) override;
  Status finish() override;
  Needs needs() const override { return pool_->communicates ? Needs::messages : Needs::nothing; }
  Moved moved() const override;
  bool detach() override;

 private:
  // The packed data of one piece in a slot.
  struct Window {
    size_t piece = 0;
    AddressRange range;
    std::byte* begin = nullptr;
    std::byte* end = nullptr;
  };
  struct Slot {
    std::span<std::byte> memory;
    bool busy = false;
    size_t link = 0;
    std::vector<Window> windows;  // copied in planes
  };
  struct Server {
    int64_t in_flight = 0;  // slots
    bool lost = false, done = false;
    ServerMessage answer;
  };

  // Whether the rest needs neither this rank's memory nor its time.
  bool detached() const { return handed_over_ && (!reading() || in_flight_ == 0); }
  bool reading() const { return job_.direction == Direction::read; }
  void fail(const Status& status) {
    if (failure_.ok()) failure_ = status;
  }
  void tell(size_t link, const ServerMessage& message, std::span<std::byte> slot = {});
  void tell_all(const ServerMessage& message);
  void lose(size_t link, const Status& status);

  bool take_replies(int wait_ms);
  void take_reply(size_t link, const ServerMessage& message);
  void wait(int wait_ms);
  void lose_silent();
  Slot* free_slot();
  size_t least_loaded() const;
  void step(int wait_ms);
  bool done() const;

  bool next_slice();
  bool fill(Slot& slot, ServerMessage& chunk);
  void add_run(Slot& slot, const Slice& slice, std::byte* at);
  void copy_windows(const Slot& slot);

  const Job& job_;
  const Settings settings_;
  ServerPoolPtr pool_;
  std::function<void(ServerPoolPtr)> keep_;
  std::vector<Slot> slots_;
  std::vector<Server> servers_;
  int64_t in_flight_ = 0;
  bool handed_over_ = false, finished_ = false, moved_anything_ = false, urgent_ = false;
  Status failure_;
  Patience patience_;

  size_t piece_ = 0;  // the next one; CURSOR_ iterates over it
  std::optional<SliceCursor> cursor_;
  Slice slice_;  // the rest of the current one; empty if it has no bytes
  StripWriter strips_;
};

}  // namespace penstock
