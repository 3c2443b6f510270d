// LibraryGate: an owner thread and its nesting depth.
#include "core/base/library_gate.hpp"

#include <condition_variable>
#include <mutex>
#include <thread>

namespace penstock {
namespace {

struct Gate {
  std::mutex mutex;
  std::condition_variable changed;
  int depth = 0;          // 0: free
  std::thread::id owner;  // none while reserved
};

Gate& gate() {
  static Gate one;
  return one;
}

void enter(std::thread::id who) {
  Gate& g = gate();
  std::unique_lock lock(g.mutex);
  g.changed.wait(lock, [&] { return g.depth == 0 || (g.owner == who && who != std::thread::id()); });
  g.owner = who;
  ++g.depth;
}

void leave() {
  Gate& g = gate();
  {
    std::lock_guard lock(g.mutex);
    --g.depth;
  }
  g.changed.notify_one();
}

}  // namespace

LibraryGate::LibraryGate() { enter(std::this_thread::get_id()); }
LibraryGate::~LibraryGate() { leave(); }

GateReservation::GateReservation() { enter(std::thread::id()); }

GateReservation::~GateReservation() {
  if (held_) leave();
}

void GateReservation::adopt() {
  std::lock_guard lock(gate().mutex);
  gate().owner = std::this_thread::get_id();
}

void GateReservation::release() {
  held_ = false;
  leave();
}

}  // namespace penstock
