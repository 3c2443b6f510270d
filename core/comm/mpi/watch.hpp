// Watch: what ranks tell each other when nothing moves: who waits in which call, and how that ends for all of them.
#pragma once

#include <mpi.h>

#include <atomic>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include <penstock/communicator.hpp>
#include <penstock/status.hpp>

#include "core/base/waiting.hpp"

namespace penstock {

// What MPI said of CALL.
Status check_mpi(int error, const char* call);

// A rank whose patience is over, or that got a message of another call than its own, reports to rank 0. Rank 0 asks all
// ranks where they are, waits for answers, and tells all how it ends: go on, since one of them still moves; or the
// error. Whoever waits in any call of this library, on any of its communicators, answers. Nothing is sent before
// somebody's patience is over. One of a communicator, with messages of a tag of its own. (docs/faults/waiting.md)
class Watch {
 public:
  static constexpr int tag = 1040;

  // SPOIL: this communicator is not to be freed, since messages may be under way. KEEP: nor is any of its memory.
  Watch(MPI_Comm comm, int rank, int size, std::function<void()> spoil, std::function<void()> keep);
  ~Watch();
  // Nobody is answered any more: before the communicator goes.
  void leave();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  // As CommunicatorInterface's.
  void set_in_doubt(bool in_doubt);
  Status usable() const;
  // This rank begins, or has ended, the next collective call.
  void begins() { ++step_; }
  void ended() { ++step_; }
  // As CommunicatorInterface::waited, by a thread that may call MPI.
  Result<double> waited(double idle, std::string_view what, const CollectiveCall& call);
  // The verdict, if one has come.
  Status heard(const CollectiveCall& call);
  // The error, on all ranks, since PEER is in another call than this rank.
  Status differs(int peer, const CollectiveCall& call);
  // The same after a failure of MPI.
  Status failed(const Status& status, const CollectiveCall& call);

  // On behalf of a thread that works: answers who asks.
  static void answer_all(double idle);

 private:
  struct Note;
  // A rank's own answer.
  struct Place {
    const Watch* waits_on = nullptr;
    std::string text;
    uint64_t key = 0;
    int64_t step = 0;
    double idle = 0, limit = 0;
    Status cause;  // known already
  };

  struct Sent {
    std::shared_ptr<Note> note;
    MPI_Request request;
  };

  static Place place_of(const Watch* watch, std::string_view what, const CollectiveCall& call);
  static void look_everywhere(const Place& mine);
  void look(const Place& mine);
  void take(int source, const Note& note, const Place& mine);
  Note note_of(const Place& mine) const;
  void post(int peer, const Note& note);

  // How it ends: an error, or for how long nothing has moved. BRIEFLY: only to know whom they wait for; no error comes
  // of it, and who does not answer at once is not waited for.
  Result<double> conclude(const Place& mine, bool briefly = false);
  Result<double> preside(const Place& mine, bool briefly);  // rank 0
  Result<double> report(const Place& mine, bool briefly);   // the others
  // SECONDS: for which nothing has moved; below 0: the limit.
  Status judge(const Place& mine, double seconds = -1) const;
  Status give_up(const Status& status);

  MPI_Comm comm_;
  int rank_, size_;
  std::function<void()> spoil_, keep_;
  std::atomic<bool> over_ = false;
  Status verdict_;                 // written before OVER_
  std::atomic<int64_t> step_ = 0;  // odd inside a collective call
  std::atomic<bool> in_doubt_ = false;
  double looked_ = 0;
  double moved_at_ = 0;      // the last movement of any rank that this one was told of
  double next_inquiry_ = 0;  // not to ask again at once
  bool asked_early_ = false;
  std::map<int, double> silent_;  // since when ranks that were asked have not answered
  std::list<Sent> sent_;
  // Of the inquiry under way: its number, and on rank 0 the answers.
  int64_t inquiry_ = 0;
  bool presides_ = false, asked_for_ = false;
  std::map<int, Place> answers_;
  double go_on_ = -1;
  bool asked_briefly_ = false;  // by all that asked
  // For when_waiting: whom they wait for, as rank 0 said at that time.
  Telling telling_;
  std::string said_;
  double said_at_ = 0;
};

}  // namespace penstock
