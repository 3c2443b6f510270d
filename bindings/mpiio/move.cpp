// Moving: what the ranks do together.
#include <algorithm>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "bindings/mpiio/advice.hpp"
#include "bindings/mpiio/file.hpp"
#include "bindings/mpiio/immediate.hpp"
#include "bindings/mpiio/settings.hpp"
#include "bindings/mpiio/shape.hpp"
#include "core/base/guarded.hpp"
#include "core/comm/calling.hpp"
#include "core/comm/mpi/native.hpp"
#include "core/methods/methods.hpp"
#include "core/transport/transport.hpp"

namespace penstock::mpiio {
namespace {

constexpr int64_t most_calls = 4096;        // kept at once
constexpr int64_t most_distance = 16;       // between calls that ask
constexpr size_t most_layers = 16;          // of runs that overlap in a read: a rank with more reads by itself
constexpr int64_t worth_keeping = 4 << 20;  // larger calls move at once: their copy would cost more than it saves

// Waits for late ranks as long as MPI does.
Status max_over_ranks(const File& file, std::span<int64_t> words) {
  return check_mpi(
      MPI_Allreduce(MPI_IN_PLACE, words.data(), static_cast<int>(words.size()), MPI_INT64_T, MPI_MAX, file.native),
      "MPI_Allreduce");
}

// A file that stays open.
class Lent final : public StorageFile {
 public:
  explicit Lent(StorageFile& file) : file_(file) {}
  Status write(int64_t offset, std::span<const std::byte> bytes) override { return file_.write(offset, bytes); }
  Status read(int64_t offset, std::span<std::byte> bytes) override { return file_.read(offset, bytes); }
  Status sync() override { return file_.sync(); }
  Status close() override { return {}; }

 private:
  StorageFile& file_;
};

// The file that is open, for transports, which open files by their names.
class HeldFiles final : public Files {
 public:
  explicit HeldFiles(File& file) : file_(file) {}
  // Lends the file that is open: to open it again may be refused by now, and to close a descriptor of it would end the
  // program's POSIX locks.
  Result<StorageFilePtr> open(const std::string&, IoMode mode, bool writable) override {
    if (file_.background != nullptr || mode.io != Io::buffered || mode.queue_depth != 1 || writable > file_.writable())
      return open_storage(file_, mode, writable);
    PENSTOCK_ASSIGN(StorageFile * opened, storage_file(file_));
    return StorageFilePtr(std::make_unique<Lent>(*opened));
  }
  Result<FileStat> stat(const std::string&) override { return file_.statistics->storage->stat(path_now(file_)); }

 private:
  File& file_;
};

// Moves RUNS of all ranks, which end before byte END. Writing, the status is the same on all. EXCLUSIVE: it is
// Code::overlap if two ranks write the same byte.
Status move_runs(File& file, Direction direction, std::vector<Run> runs, const Shape& shape, int64_t end,
                 bool exclusive = false) {
  const bool alone = is_alone(file, direction, shape);
  std::vector<std::vector<Run>> layers;
  Status by_itself;  // what this rank reads by itself
  if (direction == Direction::read) {
    if (!alone) layers = layers_of(runs, most_layers);
    if (layers.empty()) by_itself = guarded([&] { return read_alone(file, runs).status(); });
    if (alone) return by_itself;
  } else {
    layers.push_back(without_overlaps(std::move(runs)));
    if (alone) return agree(file.comm, guarded([&] { return write_alone(file, layers[0]); }));
  }
  const Plan& plan = plan_for(file, direction, shape);
  PhaseTimes phases;
  HintsOutcome outcome;
  Job job;
  job.direction = direction;
  job.comm = file.comm;
  job.files = std::make_shared<HeldFiles>(file);
  job.block = plan.settings.integer("block");
  job.keep = direction == Direction::write;
  job.bridge = file.fills_gaps && file.is_sole ? job.block : 1;
  job.exclusive = exclusive;
  job.keep_below = shape.size;
  job.sync = false;
  job.phases = &phases;
  job.hints_outcome = &outcome;
  job.hints = plan.hints;
  if (const std::string& io = plan.settings.word("io"); io.empty() || io == "auto") job.io = Io::buffered;
  job.parts = {{file.path, end, 0}};
  for (const std::vector<Run>& layer : layers) {
    std::vector<Piece> pieces = pieces_of(layer);
    std::ranges::move(pieces, std::back_inserter(job.pieces));
  }
  auto transfer = find_transport(plan.transport)->begin(job, plan.settings);
  Status status = agree(file.comm, transfer.status());
  if (status.ok()) status = agree(file.comm, (*transfer)->finish());
  if (status.ok()) status = by_itself;
  const std::lock_guard lock(file.statistics->mutex);
  for (size_t p = 0; p < phases.seconds.size(); ++p) file.statistics->phases.seconds[p] += phases.seconds[p];
  return status;
}

// Kept calls that are moved in one go: no call has bytes in the range of another one.
std::vector<int> groups_of(std::span<const Hull> hulls) {
  std::vector<int> starts;
  std::map<int64_t, int64_t> group;  // by their ends: disjoint ranges
  for (size_t c = 0; c < hulls.size(); ++c) {
    const Hull& hull = hulls[c];
    bool meets = false;
    if (hull.first < hull.last) {
      const auto near = group.upper_bound(hull.first);
      meets = near != group.end() && near->second < hull.last;
    }
    if (c == 0 || meets) {
      starts.push_back(static_cast<int>(c));
      group.clear();
    }
    if (hull.first < hull.last) group.emplace(hull.last, hull.first);
  }
  return starts;
}

// SIZE becomes that of the file by now.
Status ask_size(File& file, int64_t& size) {
  const auto now = size_of(file);
  if (now.ok()) size = std::max(size, *now);
  return max_over_ranks(file, {&size, 1});
}

// HULL with the gap before it, which ranks write, too, where the gap between calls is less than a block.
Hull with_gap(const File& file, Hull hull) {
  if (hull.first < hull.last) hull.first = std::max(int64_t{0}, hull.first - file.plan.settings.integer("block"));
  return hull;
}

// Before the ranks tell each other of a movement, so that nobody has handed over anything of it: what waits in HULL was
// written before, by whatever handle.
void wait_for_earlier(File& file, const Hull& hull) {
  if (file.background == nullptr) return;
  if (Status waited = wait_for_background(file, with_gap(file, hull)); file.failed.ok())
    file.failed = std::move(waited);
}

// Older bytes of this file's background are in the file where HULLS of all ranks lie; SIZE is that of then.
Status wait_for_older(File& file, std::span<const Hull> hulls, int64_t& size) {
  if (file.background == nullptr) return {};
  bool any = false;
  for (const Hull& hull : hulls) {
    const Hull wider = with_gap(file, hull);
    if (!file.background->meets(wider)) continue;
    any = true;
    if (const Status waited = wait_for_background(file, wider); !waited.ok() && file.failed.ok()) file.failed = waited;
  }
  return any ? ask_size(file, size) : Status();
}

// Whether few ranks of a node write what is moved, and not each its own.
bool is_exchanged(const File& file, const Shape& shape) {
  return plan_for(file, Direction::write, shape).transport == "two_phase" && !is_alone(file, Direction::write, shape);
}

void note_handed_over(File& file, std::span<const Hull> hulls) {
  if (file.background == nullptr) return;
  for (const Hull& hull : hulls) file.background->note(with_gap(file, hull));
}

// What the thread failed to write is the error of this movement.
void take_failure(File& file, Kept& kept) {
  if (file.background == nullptr) return;
  if (Status failed = file.background->failure(); kept.failed.ok()) kept.failed = std::move(failed);
}

// Moves all of KEPT. HULLS are those of all ranks.
Status move_calls(File& file, Kept& kept, std::vector<Hull> hulls, Shape shape) {
  const std::vector<int> groups = groups_of(hulls);
  // Runs of calls [BEGIN, END), and their hull over all ranks.
  const auto runs_of_calls = [&](size_t begin, size_t end) {
    std::pair<std::vector<Run>, Hull> found;
    for (size_t c = begin; c < end; ++c) {
      found.first.insert(found.first.end(), kept.calls[c].runs.begin(), kept.calls[c].runs.end());
      found.second.add(hulls[c]);
    }
    return found;
  };
  // Ranges of calls that overlap seldom have a byte in common: fields of records, or halves of a variable.
  const bool at_once = groups.size() > 1 && is_exchanged(file, shape);
  // The thread keeps no order between ranks.
  Handing handing(file, groups.size() <= 1 || at_once, is_exchanged(file, shape));
  if (handing.allowed()) note_handed_over(file, hulls);
  if (at_once) {
    auto [runs, all] = runs_of_calls(0, hulls.size());
    const Status status = move_runs(file, Direction::write, std::move(runs), shape, all.last, true);
    if (status.code() != Code::overlap) return status;
    handing.stop();
    PENSTOCK_TRY(drain_together(file));
    PENSTOCK_TRY(ask_size(file, shape.size));  // some windows may be written by now
  }
  Status first;
  for (size_t g = 0; g < groups.size(); ++g) {
    const auto begin = static_cast<size_t>(groups[g]);
    const size_t end = g + 1 < groups.size() ? static_cast<size_t>(groups[g + 1]) : hulls.size();
    auto [runs, all] = runs_of_calls(begin, end);
    if (all.first < all.last)
      if (Status status = move_runs(file, Direction::write, std::move(runs), shape, all.last); first.ok())
        first = status;
    shape.size = std::max(shape.size, all.last);
  }
  return first;
}

std::string plan_text(const File& file, const Shape& shape) {
  if (file.automatic && is_alone(file, Direction::write, shape)) return "independent";
  std::string text = plan_for(file, Direction::write, shape).text(vocabulary());
  text = text.substr(text.find('/') + 1);
  for (const std::string_view known :
       {"durability=none,", ":durability=none", ",durability=none"})  // it is always that
    if (const size_t at = text.find(known); at != std::string::npos) return text.erase(at, known.size());
  return text;
}

// A movement for WHY, which began at START, is in the report.
void note_movement(File& file, const Shape& shape, std::string_view why, double start, std::string plan = {}) {
  Statistics& statistics = *file.statistics;
  const std::lock_guard lock(statistics.mutex);
  statistics.reason = file.advice == nullptr || !plan.empty() ? "" : file.advice->reason(Direction::write, shape);
  statistics.plan = plan.empty() ? plan_text(file, shape) : std::move(plan);
  if (statistics.reason.empty()) statistics.reason = file.automatic ? "chosen by the length of runs" : "as asked";
  if (file.background != nullptr) statistics.reason += ", in the background";
  ++statistics.moves[std::string(why)];
  statistics.moving_seconds += now() - start;
}

// Moves what is kept, with OWN as the last call if it is given.
Status move(File& file, std::string_view why, std::vector<Run>* own) {
  const Calling calling(file.comm, why, file.path);
  const Untimed untimed(file.comm, run_settings().waits);
  const bool any = !file.kept.calls.empty() || file.keeps_alone || own != nullptr;
  if ((any || file.at_once) && file.kept.failed.ok()) file.kept.failed = std::exchange(file.failed, {});
  if (!any) {
    PENSTOCK_TRY(answer_of(file));
    return file.at_once ? agree(file.comm, std::exchange(file.kept.failed, {})) : Status();
  }
  const double start = now();
  Kept kept = std::exchange(file.kept, {});
  file.has_kept = false;
  take_out_own(kept);
  const Alone alone = std::exchange(file.alone, {});
  if (file.keeps_alone) {
    std::vector<Run> runs = alone.runs();
    kept.calls.push_back({hull_of(runs), std::move(runs)});
    kept.since = alone.since();
  }
  if (own != nullptr) {
    for (Run& run : *own) run.call = static_cast<int32_t>(kept.calls.size());
    kept.calls.push_back({hull_of(*own), std::move(*own)});
  }
  Shape shape;
  std::vector<int64_t> words;
  for (const Kept::Call& call : kept.calls) {
    wait_for_earlier(file, call.hull);
    words.insert(words.end(), {call.hull.first == INT64_MAX ? INT64_MIN : -call.hull.first, call.hull.last});
    shape.add(call.runs);
  }
  shape.calls = std::ssize(kept.calls);
  const auto size = size_of(file);  // at least as far as this rank has written by now
  shape.size = size.ok() ? *size : 0;
  take_failure(file, kept);
  const Status before = kept.failed.ok() ? size.status() : kept.failed;
  shape.failed = !before.ok();
  append(words, shape);
  words.push_back(!kept.immediate.empty());
  PENSTOCK_TRY(max_over_ranks(file, words));
  const std::span<const int64_t> all(words);
  std::vector<Hull> hulls;
  for (size_t c = 0; c < kept.calls.size(); ++c)
    hulls.push_back({all[2 * c] == INT64_MIN ? INT64_MAX : -all[2 * c], all[2 * c + 1]});
  shape = shape_of(all.subspan(2 * hulls.size(), shape_words));
  PENSTOCK_TRY(wait_for_older(file, hulls, shape.size));
  if (all.back() != 0) PENSTOCK_TRY(agree(file.comm, take_out_later(file, kept, hulls)));
  Status status = move_calls(file, kept, std::move(hulls), shape);
  if (shape.failed != 0)
    if (const Status agreed = agree(file.comm, before); !agreed.ok()) status = agreed;
  if (shape.bytes == 0 && file.keeps_alone) return status;
  note_movement(file, shape, why, start);
  const std::lock_guard lock(file.statistics->mutex);
  double& longest = file.statistics->kept_seconds_max;
  if (kept.since > 0) longest = std::max(longest, now() - kept.since);
  return status;
}

// Copies RUNS, whose data is then in ARENA.
bool capture(std::vector<Run>& runs, Arena& arena) {
  std::byte* to = arena.take(bytes_of(runs));
  if (to == nullptr) return false;
  for (Run& run : runs) {
    std::copy(run.data, run.data + run.length, to);
    run.data = to;
    to += run.length;
  }
  return true;
}

void keep(File& file, std::vector<Run> runs) {
  const int64_t bytes = bytes_of(runs);
  if (file.kept.calls.empty()) file.kept.since = now();
  for (Run& run : runs) run.call = static_cast<int32_t>(file.kept.calls.size());
  std::ranges::sort(runs, {}, &Run::offset);
  file.kept.bytes += bytes + std::ssize(runs) * static_cast<int64_t>(sizeof(Run));
  file.kept.calls.push_back({hull_of(runs), std::move(runs)});
  file.has_kept = true;
  Statistics& statistics = *file.statistics;
  const std::lock_guard lock(statistics.mutex);
  ++statistics.kept_calls;
  statistics.kept_bytes += bytes;
  statistics.kept_bytes_max = std::max(statistics.kept_bytes_max, file.kept.bytes);
}

}  // namespace

Status move_kept(File& file, std::string_view why) { return move(file, why, nullptr); }

namespace {

// Before its next use of the file each rank waits until all have come here, not at once: HDF5 fills chunks by such a
// call, and then ranks write into them by independent calls; and what a rank wrote of a chunk with filters, another one
// may have written for it.
Status all_have_written(File& file) {
  file.gathering.sends.push_back(MPI_REQUEST_NULL);
  return check_mpi(MPI_Ibarrier(file.native, &file.gathering.sends.back()), "MPI_Ibarrier");
}

// Nothing is kept. A failure is told on all ranks: of a call that was foreseen, at the next one that is not.
Status write_at_once(File& file, std::vector<Run> runs) {
  const Calling calling(file.comm, "a collective write", file.path);
  const Untimed untimed(file.comm, run_settings().waits);
  const double start = now();
  Shape shape;
  shape.add(runs);
  const auto by_itself = [&] { return guarded([&] { return write_alone(file, without_overlaps(std::move(runs))); }); };
  PENSTOCK_TRY(answer_of(file));
  take_failure(file, file.kept);
  file.foresight[static_cast<size_t>(Direction::read)].left = 0;  // before the others have written
  if (is_foreseen(file, Direction::write, shape)) {
    const Status status = by_itself();
    note_movement(file, shape, "at once", start, "independent");
    if (file.comm->size() == 1) return status;
    if (file.kept.failed.ok()) file.kept.failed = status;
    return all_have_written(file);
  }
  const Hull own = hull_of(runs);
  wait_for_earlier(file, own);
  const auto size = size_of(file);
  if (!size.ok() && file.kept.failed.ok()) file.kept.failed = size.status();
  shape.size = size.ok() ? *size : 0;
  shape.failed = !file.kept.failed.ok();
  shape.unforeseen = file.foresight[static_cast<size_t>(Direction::write)].missed;
  std::vector<int64_t> words;
  append(words, shape);
  if (file.foresight[static_cast<size_t>(Direction::write)].small) {
    const Status status = gather(file, words, std::move(runs));
    note_movement(file, shape, "at once", start, "gather");
    return status;
  }
  words.insert(words.end(), {!file.alone.empty(), own.first == INT64_MAX ? INT64_MIN : -own.first, own.last});
  PENSTOCK_TRY(max_over_ranks(file, words));
  shape = shape_of(words);
  learn(file, Direction::write, shape);
  if (shape.failed != 0) return agree(file.comm, std::exchange(file.kept.failed, {}));
  if (words[shape_words] != 0) {  // what any rank keeps goes first
    PENSTOCK_TRY(move_kept(file, "a collective write"));
    return write_at_once(file, std::move(runs));
  }
  const std::span<const int64_t> ends = std::span<const int64_t>(words).last(2);
  const Hull all{ends[0] == INT64_MIN ? INT64_MAX : -ends[0], ends[1]};
  PENSTOCK_TRY(wait_for_older(file, {&all, 1}, shape.size));
  const Handing handing(file, true, is_exchanged(file, shape));
  note_handed_over(file, {&all, 1});
  const Status status = is_alone(file, Direction::write, shape)
                            ? agree(file.comm, by_itself())
                            : move_runs(file, Direction::write, std::move(runs), shape, all.last);
  note_movement(file, shape, "at once", start);
  return status;
}

}  // namespace

Status write_together(File& file, std::vector<Run> runs) {
  if (file.at_once && file.kept.calls.empty()) return write_at_once(file, std::move(runs));
  constexpr int64_t short_run = 64 << 10;
  const int64_t limit = run_settings().memory, data = bytes_of(runs);
  const int64_t bytes = data + std::ssize(runs) * static_cast<int64_t>(sizeof(Run));
  const int64_t used = std::max(file.kept.bytes, Arena::in_process()) + file.kept.own.bytes.map_bytes();
  Pace& pace = file.pace;
  pace.largest = std::max(pace.largest, bytes);
  if (++pace.calls == pace.next) {
    int64_t words[2] = {used + bytes, pace.largest};
    PENSTOCK_TRY(max_over_ranks(file, words));
    pace.largest = 0;
    const bool large = words[1] > std::min(worth_keeping, limit / 8);
    pace.distance = large ? 1 : std::min(2 * pace.distance, most_distance);
    if (words[1] > 0) pace.distance = std::clamp((limit / 2 - words[0]) / words[1], int64_t{1}, pace.distance);
    pace.next += pace.distance;
    if (large) return move(file, "a large call", &runs);
    if (words[0] > limit / 2) return move(file, "memory", &runs);
  }
  if (std::ssize(file.kept.calls) >= most_calls) return move(file, "the number of calls", &runs);
  const int64_t mean = runs.empty() ? 0 : data / std::ssize(runs);
  // Short runs are worth some memory, since the ranks ask again soon: without an exchange each is a call of its own.
  const bool has_room = used + bytes <= (mean < short_run ? 4 : 1) * limit;
  const bool advised = file.advice != nullptr && file.advice->has(Direction::write);
  const bool by_itself = file.automatic && !advised && mean >= long_run && file.background == nullptr;
  if (!by_itself && has_room && capture(runs, file.kept.arena)) {
    keep(file, std::move(runs));
    return {};
  }
  const Status written = write_alone(file, without_overlaps(std::move(runs)));
  keep(file, {});                                         // it counts as a call, since it does on other ranks
  if (file.kept.failed.ok()) file.kept.failed = written;  // all ranks learn of it at the next movement
  return {};
}

Result<int64_t> read_together(File& file, std::vector<Run> runs) {
  if (!file.kept.calls.empty() || file.keeps_alone) PENSTOCK_TRY(move_kept(file, "a collective read"));
  if (file.background != nullptr) {
    Status there = file.background->drain();
    if (there.ok()) there = wait_for_background(file, hull_of(runs));  // also by a handle that is closed
    if (file.failed.ok()) file.failed = there;
  }
  const Calling calling(file.comm, "a collective read", file.path);
  const Untimed untimed(file.comm, run_settings().waits);
  Shape shape;
  shape.add(runs);
  PENSTOCK_TRY(answer_of(file));
  if (is_foreseen(file, Direction::read, shape)) return read_alone(file, runs);
  const auto size = size_of(file);
  if (!size.ok() && file.kept.failed.ok()) file.kept.failed = size.status();
  shape.size = size.ok() ? *size : 0;
  shape.failed = !file.kept.failed.ok();
  shape.unforeseen = file.foresight[static_cast<size_t>(Direction::read)].missed;
  std::vector<int64_t> words;
  append(words, shape);
  PENSTOCK_TRY(max_over_ranks(file, words));
  shape = shape_of(words);
  learn(file, Direction::read, shape);
  if (shape.failed != 0) PENSTOCK_TRY(agree(file.comm, std::exchange(file.kept.failed, {})));
  std::vector<Run> there;
  for (Run run : runs) {
    run.length = std::min(run.length, shape.size - run.offset);
    if (run.length > 0) there.push_back(run);
  }
  PENSTOCK_TRY(move_runs(file, Direction::read, there, shape, shape.size));
  overlay_others(file, there);
  return bytes_of(there);
}

Status sync(File& file) {
  const Calling calling(file.comm, "MPI_File_sync", file.path);
  const Untimed untimed(file.comm, run_settings().waits);
  PENSTOCK_TRY(drain_together(file));
  Status status = std::exchange(file.failed, {});  // of this rank alone, perhaps
  // Two ranks of a node write back at once, which is faster than one; with OMPIO all do.
  if (status.ok() && file.comm->node_rank() < 2) {
    auto storage = storage_file(file);
    status = storage.ok() ? (*storage)->sync() : storage.status();
  }
  return agree(file.comm, status);
}

}  // namespace penstock::mpiio
