// Watch: reports, inquiries and verdicts.
#include "core/comm/mpi/watch.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>
#include <vector>

#include <fmt/format.h>
#include <penstock/phase.hpp>
#include <penstock/timeout.hpp>

#include "core/comm/patience.hpp"

namespace penstock {

struct Watch::Note {
  enum class Kind : int32_t { report, inquiry, verdict, go_on };
  Kind kind = Kind::report;
  Code code = Code::ok;
  int64_t inquiry = 0;  // 0: without an inquiry
  int64_t step = 0;     // of the sender
  uint64_t key = 0;
  double idle = 0, limit = 0;
  bool here = false;  // the sender waits on this communicator
  bool briefly = false;
  char place[500] = "";
  char text[1500] = "";
};

namespace {

constexpr double between_looks = 0.01;
constexpr double nearly = 0.8;  // of the limit: ranks start waiting at different times
constexpr size_t max_named = 8;
constexpr double brief = 0.3;  // waiting ranks answer at once
constexpr double fresh = 3;
constexpr char seconds_here = '\1';  // in a report that is told more than once, each time after more seconds

// One thread at a time asks and answers, for all communicators of this process.
std::recursive_mutex& turn() {
  static auto& mutex = *new std::recursive_mutex;  // communicators may outlive the program's static objects
  return mutex;
}
std::vector<Watch*>& all() {
  static auto& list = *new std::vector<Watch*>;
  return list;
}

void put(std::string_view text, std::span<char> into) {
  const size_t n = std::min(text.size(), into.size() - 1);
  std::memcpy(into.data(), text.data(), n);
  into[n] = 0;
}

// "rank 3", "ranks 3 and 7", "ranks 1, 2, 3 and 90 more"
std::string ranks_text(const std::vector<int>& ranks) {
  std::string text = ranks.size() == 1 ? "rank" : "ranks";
  const size_t named = ranks.size() <= max_named ? ranks.size() : max_named - 1;
  for (size_t i = 0; i < named; ++i)
    text += fmt::format("{} {}", i == 0 ? "" : i + 1 == ranks.size() ? " and" : ",", ranks[i]);
  if (named < ranks.size()) text += fmt::format(" and {} more", ranks.size() - named);
  return text;
}

}  // namespace

Watch::Watch(MPI_Comm comm, int rank, int size, std::function<void()> poison, std::function<void()> keep)
    : comm_(comm), rank_(rank), size_(size), spoil_(std::move(poison)), keep_(std::move(keep)) {
  const std::lock_guard lock(turn());
  all().push_back(this);
}

Watch::~Watch() {
  leave();
  for (Sent& sent : sent_) keep_for_ever(std::move(sent.note));
}

void Watch::leave() {
  const std::lock_guard lock(turn());
  std::erase(all(), this);
}

void Watch::set_in_doubt(bool in_doubt) {
  const std::lock_guard lock(turn());  // not during destruction
  in_doubt_ = in_doubt;
}

// A later call that publishes nothing knows that it had no effect.
Status Watch::usable() const {
  if (!over_) return {};
  if (in_doubt_) return verdict_;
  return {verdict_.code() == Code::in_doubt ? Code::timeout : verdict_.code(), verdict_.message()};
}

Watch::Place Watch::place_of(const Watch* watch, std::string_view what, const CollectiveCall& call) {
  Place place;
  place.waits_on = watch;
  place.text = call.text.empty() ? std::string(what) : call.text;
  place.text.resize(std::min(place.text.size(), sizeof(Note::place) - 1));
  place.key = call.key;
  place.limit = timeout();
  return place;
}

Result<double> Watch::waited(double idle, std::string_view what, const CollectiveCall& call) {
  if (over_) return verdict_;
  const double at = now(), limit = timeout();
  idle = std::min(idle, at - moved_at_);
  if (idle < limit / 2) asked_early_ = false;
  // Ranks are asked once before the limit, to distinguish silence from a late answer.
  const double patience = call.timed_out ? std::min(limit, grace()) : asked_early_ ? limit : limit / 2;
  const bool over = limit > 0 && !call.untimed && idle >= patience && at >= next_inquiry_;
  const bool tells = telling_.due(idle);
  if (!over && !tells && at - looked_ < between_looks) return idle;
  std::unique_lock lock(turn(), std::try_to_lock);
  if (!lock) return idle;
  looked_ = at;
  Place mine = place_of(this, what, call);
  mine.idle = call.timed_out ? std::max(idle, limit) : idle;
  look_everywhere(mine);
  if (over_) return verdict_;
  const bool asks = tells && at - said_at_ > fresh;
  if (over || asked_for_ || asks) {
    const bool briefly = !over && (!asked_for_ || asked_briefly_);
    if (!briefly) asked_early_ = true;
    PENSTOCK_ASSIGN(idle, conclude(mine, briefly));
  }
  if (!tells || said_.empty()) return idle;
  telling_.told(mine.idle);
  std::string said = said_;
  if (const size_t at_seconds = said.find(seconds_here); at_seconds != std::string::npos)
    said.replace(at_seconds, 1, fmt::format("{:g}", std::round(mine.idle)));
  const Waiting waiting{said, mine.idle, rank_};
  lock.unlock();
  tell_waiting(waiting);
  return idle;
}

Status Watch::heard(const CollectiveCall& call) {
  int found = 0;
  if (!over_ && (MPI_Iprobe(MPI_ANY_SOURCE, tag, comm_, &found, MPI_STATUS_IGNORE) != MPI_SUCCESS || !found)) return {};
  const std::lock_guard lock(turn());
  look_everywhere(place_of(this, "a collective call", call));
  return over_ ? verdict_ : Status();
}

Status Watch::differs(int peer, const CollectiveCall& call) {
  const std::lock_guard lock(turn());
  Place mine = place_of(this, "a collective call", call);
  mine.cause = {Code::mismatch,
                fmt::format("rank {} called something else where rank {} called {}: all ranks must make the "
                            "same calls in the same order",
                            peer, rank_, mine.text)};
  return conclude(mine).status();
}

Status Watch::failed(const Status& status, const CollectiveCall& call) {
  const std::lock_guard lock(turn());
  Place mine = place_of(this, "a collective call", call);
  mine.cause = status;
  return conclude(mine).status();
}

void Watch::answer_all(double idle) {
  const std::unique_lock lock(turn(), std::try_to_lock);
  if (!lock) return;
  Place mine;
  mine.text = "its own work";
  mine.idle = idle;
  mine.limit = timeout();
  look_everywhere(mine);
}

void Watch::look_everywhere(const Place& mine) {
  for (Watch* watch : std::vector(all())) {
    watch->look(mine);
    if (watch->asked_for_ && watch != mine.waits_on) (void)watch->conclude(mine, watch->asked_briefly_);
  }
}

void Watch::look(const Place& mine) {
  for (auto at = sent_.begin(); at != sent_.end();) {
    int done = 0;
    MPI_Test(&at->request, &done, MPI_STATUS_IGNORE);
    at = done ? sent_.erase(at) : std::next(at);
  }
  while (!over_) {
    int found = 0;
    MPI_Status status;
    if (MPI_Iprobe(MPI_ANY_SOURCE, tag, comm_, &found, &status) != MPI_SUCCESS || !found) return;
    Note note;
    if (MPI_Recv(&note, sizeof note, MPI_BYTE, status.MPI_SOURCE, tag, comm_, &status) != MPI_SUCCESS) return;
    take(status.MPI_SOURCE, note, mine);
  }
}

void Watch::take(int source, const Note& note, const Place& mine) {
  silent_.erase(source);
  switch (note.kind) {
    case Note::Kind::inquiry:
      inquiry_ = note.inquiry;
      spoil_();
      return post(0, note_of(mine));
    case Note::Kind::verdict: {
      // Rank 0 may have continued, and may have published what this rank was waiting for.
      const bool unknown = in_doubt_ && note.step > step_;
      (void)conclude_with({unknown ? Code::in_doubt : note.code, note.text});
      return;
    }
    case Note::Kind::go_on:
      go_on_ = note.idle;
      if (note.text[0] != 0) {
        said_ = note.text;
        said_at_ = now();
      }
      moved_at_ = std::max(moved_at_, now() - note.idle);
      return;
    case Note::Kind::report: break;
  }
  if (note.inquiry != 0 && (note.inquiry != inquiry_ || !presides_)) return;  // a late answer
  Place place;
  place.text = note.place;
  place.key = note.key;
  place.step = note.step;
  if (note.here) place.waits_on = this;
  place.idle = note.idle;
  place.limit = note.limit;
  if (note.code != Code::ok) place.cause = {note.code, note.text};
  const auto [at, first] = answers_.try_emplace(source, place);
  if (!first && at->second.cause.ok()) at->second = place;
  if (note.inquiry != 0 || presides_) return;
  asked_briefly_ = note.briefly && (asked_briefly_ || !asked_for_);
  asked_for_ = true;
}

Watch::Note Watch::note_of(const Place& mine) const {
  Note note;
  note.inquiry = inquiry_;
  note.step = step_;
  note.code = mine.cause.code();
  note.key = mine.key;
  note.here = mine.waits_on == this;
  note.idle = mine.idle;
  note.limit = mine.limit;
  put(mine.text, note.place);
  put(mine.cause.message(), note.text);
  return note;
}

void Watch::post(int peer, const Note& note) {
  Sent sent{std::make_shared<Note>(note), MPI_REQUEST_NULL};
  if (MPI_Isend(sent.note.get(), sizeof note, MPI_BYTE, peer, tag, comm_, &sent.request) != MPI_SUCCESS) return;
  sent_.push_back(std::move(sent));
}

Result<double> Watch::conclude(const Place& mine, bool briefly) {
  if (over_) return verdict_;
  if (presides_) return mine.idle;
  spoil_();
  return rank_ == 0 ? preside(mine, briefly) : report(mine, briefly);
}

Result<double> Watch::preside(const Place& mine, bool briefly) {
  presides_ = true;
  asked_for_ = false;
  ++inquiry_;
  Note ask;
  ask.kind = Note::Kind::inquiry;
  ask.inquiry = inquiry_;
  for (int rank = 1; rank < size_; ++rank)
    if (!answers_.contains(rank)) post(rank, ask);
  const double asked_at = now();
  while (std::ssize(answers_) < size_ - 1 && now() < asked_at + (briefly ? brief : grace())) {
    for (Watch* watch : std::vector(all())) watch->look(mine);
    ::usleep(200);
  }
  look(mine);  // this process may have been stopped in the meantime
  presides_ = false;
  asked_for_ = false;
  if (!briefly) next_inquiry_ = now() + grace();

  Status cause = mine.cause;
  double youngest = mine.idle, limit = mine.limit, silence = std::numeric_limits<double>::infinity();
  for (int rank = 1; rank < size_; ++rank)
    if (!answers_.contains(rank))
      silence = std::min(silence, now() - silent_.try_emplace(rank, asked_at).first->second);
  for (const auto& [rank, place] : answers_) {
    if (cause.ok()) cause = place.cause;
    youngest = std::min(youngest, place.idle);
    if (place.limit > 0) limit = limit > 0 ? std::min(limit, place.limit) : place.limit;
  }
  Note told;
  if (cause.ok() && (briefly || std::min(youngest, silence) < nearly * limit)) {
    told.kind = Note::Kind::go_on;
    told.idle = youngest;
    if (std::ssize(answers_) < size_ - 1 || youngest >= told_after()) {
      said_ = judge(mine, cause, limit, true).message();
      said_at_ = now();
      put(said_, told.text);
    }
    moved_at_ = std::max(moved_at_, now() - youngest);
    for (const auto& [rank, place] : answers_) post(rank, told);
    answers_.clear();
    return youngest;
  }
  const Status status = judge(mine, cause, limit);
  told.kind = Note::Kind::verdict;
  told.step = step_;
  told.code = status.code();
  put(status.message(), told.text);
  for (int rank = 1; rank < size_; ++rank) post(rank, told);
  return conclude_with(status);
}

Result<double> Watch::report(const Place& mine, bool briefly) {
  go_on_ = -1;
  Note own = note_of(mine);
  own.inquiry = 0;
  own.briefly = briefly;
  post(0, own);
  const double reported_at = now();
  while (now() < reported_at + (briefly ? 3 * brief : 2 * grace() + 1)) {
    look_everywhere(mine);
    if (over_) return verdict_;
    if (go_on_ >= 0 && mine.cause.ok()) return std::min(go_on_, mine.idle);
    ::usleep(200);
  }
  if (briefly) {
    said_ = fmt::format("waiting in {} for {} s: rank 0 (of {}), which would know for whom, does not answer", mine.text,
                        seconds_here, size_);
    said_at_ = now();
    return mine.idle;
  }
  next_inquiry_ = now() + grace();
  if (mine.cause.ok() && now() - silent_.try_emplace(0, reported_at).first->second < nearly * mine.limit)
    return mine.idle;
  Status status = mine.cause;
  if (status.ok())
    status = {in_doubt_ ? Code::in_doubt : Code::timeout,
              fmt::format("waiting in {} for {:g} s, and rank 0 (of {}), which would know who is missing, does not "
                          "answer: it has not come, was stopped, or is held by its file system",
                          mine.text, mine.limit, size_)};
  own.code = status.code();  // so that a late rank 0 does not wait in turn
  put(status.message(), own.text);
  post(0, own);
  return conclude_with(status);
}

// Rank 0. Compares waiting ranks with this rank, or with the first of them if this rank is elsewhere.
Status Watch::judge(const Place& mine, const Status& cause, double limit, bool told) const {
  std::map<int, Place> places = answers_;
  places[0] = mine;
  places[0].step = step_;
  auto first = places.begin();
  if (mine.waits_on != this && places.size() > 1) ++first;
  const auto& [speaker, call] = *first;
  std::vector<int> missing;
  for (int rank = 1; rank < size_; ++rank)
    if (!places.contains(rank)) missing.push_back(rank);
  const std::string seconds = told ? std::string(1, seconds_here) : fmt::format("{:g}", limit);
  std::map<std::string, std::vector<int>> elsewhere;
  for (const auto& [rank, place] : places) {
    // A rank that is still in the previous call has not made a different call.
    const bool inside = place.waits_on == this && place.step % 2 != 0;
    const bool late = cause.code() == Code::mismatch && (!inside || place.step < call.step);
    if (!late && (place.key != call.key || place.text != call.text)) elsewhere[place.text].push_back(rank);
  }
  std::string others;
  for (const auto& [text, ranks] : elsewhere)
    others += fmt::format("{}{} {} {}", others.empty() ? "" : ", ", ranks_text(ranks),
                          cause.code() == Code::mismatch ? "called"
                          : ranks.size() == 1            ? "is in"
                                                         : "are in",
                          text);
  if (cause.code() == Code::mismatch && !others.empty())
    return {Code::mismatch,
            fmt::format("{} where rank {} called {}: all ranks must make the same calls in the same order", others,
                        speaker, call.text)};
  const Code code = in_doubt_ ? Code::in_doubt : cause.ok() ? Code::timeout : cause.code();
  if (!cause.ok()) return {code, fmt::format("in {}: {}", call.text, cause.message())};
  if (missing.empty() && others.empty())
    return {code, fmt::format("all {} ranks wait in {}, and for {} s nothing has moved", size_, call.text, seconds)};
  if (missing.empty()) return {code, fmt::format("waiting in {} for {} s: {}", call.text, seconds, others)};
  return {code, fmt::format(
                    "waiting for {} (of {}) in {} for {} s: {} not come, {} stopped, or {} held by {} file system{}{}",
                    ranks_text(missing), size_, call.text, seconds, missing.size() == 1 ? "it has" : "they have",
                    missing.size() == 1 ? "was" : "were", missing.size() == 1 ? "is" : "are",
                    missing.size() == 1 ? "its" : "their", others.empty() ? "" : "; ", others)};
}

Status Watch::conclude_with(const Status& status) {
  if (over_) return verdict_;
  spoil_();
  keep_();
  verdict_ = status;
  over_ = true;
  return status;
}

}  // namespace penstock
