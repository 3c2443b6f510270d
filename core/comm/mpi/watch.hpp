// Watch: what ranks tell each other when nothing moves: which rank waits in which call, and how the wait ends for all.
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

// A rank reports to rank 0 when its time limit expires or a message of a different call arrives. Rank 0 asks all ranks
// where they are, waits for answers, and tells all ranks the verdict: continue, since one of them still moves, or the
// error. Ranks answer while they wait in any call of this library, on any of its communicators. No messages are sent
// before a time limit expires. Each communicator has one Watch, with its own message tag (docs/faults/waiting.md).
class Watch {
 public:
  static constexpr int tag = 1040;

  // SPOIL: marks the communicator as never to be freed, since messages may be in flight. KEEP: same for all its memory.
  Watch(MPI_Comm comm, int rank, int size, std::function<void()> poison, std::function<void()> keep);
  ~Watch();
  // Stops answering; called before the communicator is freed.
  void leave();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  // Same as in CommunicatorInterface.
  void set_in_doubt(bool in_doubt);
  Status usable() const;
  // This rank begins, or has ended, the next collective call.
  void begins() { ++step_; }
  void ended() { ++step_; }
  // Same as CommunicatorInterface::waited, in a thread that may call MPI.
  Result<double> waited(double idle, std::string_view what, const CollectiveCall& call);
  // The verdict, if one has arrived.
  Status heard(const CollectiveCall& call);
  // Returns the error, on all ranks, because PEER is in another call than this rank.
  Status differs(int peer, const CollectiveCall& call);
  // Same after a failure of MPI.
  Status failed(const Status& status, const CollectiveCall& call);

  // Answers requests on behalf of a working thread.
  static void answer_all(double idle);

 private:
  struct Note;
  // The answer of one rank.
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

  // Decides the verdict: an error, or the time without progress. BRIEFLY: only to find out which ranks are waited for;
  // this gives no error and does not wait for slow answers.
  Result<double> conclude(const Place& mine, bool briefly = false);
  Result<double> preside(const Place& mine, bool briefly);  // rank 0
  Result<double> report(const Place& mine, bool briefly);   // the others
  // CAUSE and LIMIT: of all known places. TOLD: for a report, with a place for the time without progress instead.
  Status judge(const Place& mine, const Status& cause, double limit, bool told = false) const;
  Status conclude_with(const Status& status);

  MPI_Comm comm_;
  int rank_, size_;
  std::function<void()> spoil_, keep_;
  std::atomic<bool> over_ = false;
  Status verdict_;                 // written before OVER_
  std::atomic<int64_t> step_ = 0;  // odd inside a collective call
  std::atomic<bool> in_doubt_ = false;
  double looked_ = 0;
  double moved_at_ = 0;      // the last movement of any rank that this rank knows
  double next_inquiry_ = 0;  // the earliest time of the next inquiry
  bool asked_early_ = false;
  std::map<int, double> silent_;  // since when asked ranks have not answered
  std::list<Sent> sent_;
  // The current inquiry: its number, and on rank 0 the answers.
  int64_t inquiry_ = 0;
  bool presides_ = false, asked_for_ = false;
  std::map<int, Place> answers_;
  double go_on_ = -1;
  bool asked_briefly_ = false;  // by all askers
  // For when_waiting: the ranks that are waited for, as last reported by rank 0.
  Telling telling_;
  std::string said_;
  double said_at_ = 0;
};

}  // namespace penstock
