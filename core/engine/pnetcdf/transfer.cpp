// Transfer: portions, with as many collective calls on each rank as the rank with most portions needs.
#include "core/engine/pnetcdf/transfer.hpp"

#include <algorithm>

#include "core/base/guarded.hpp"

namespace penstock::pnetcdf {
namespace {

// The library swaps bytes in a copy of the data of one call, and a call has less than 2 GiB.
constexpr int64_t wave_bytes = int64_t{64} << 20;

// Lists of boxes (varn) fail on record variables and hang on scalars in PnetCDF 1.12
// (docs/reproducers/pnetcdf_varn_record.c): these use one call per box.
PortionLimits limits(bool lists) { return {.direct_bytes = wave_bytes, .boxes = lists ? 1024 : 1}; }

struct Item {
  size_t at = 0;  // index in EngineJob::datasets
  Portion portion;
  std::vector<std::byte> buffer;
  std::byte* data = nullptr;
  std::vector<MPI_Offset> numbers;  // of all boxes, starts and counts
  std::vector<MPI_Offset*> starts, counts;
};

class Mover {
 public:
  Mover(const EngineJob& job, const File& file, const std::vector<int>& variables, Way way, Direction direction)
      : job_(job), file_(file), variables_(variables), way_(way), writes_(direction == Direction::write) {}

  Status run() {
    if (way_ == Way::collective) return collective();
    return way_ == Way::independent ? independent() : nonblocking();
  }

 private:
  const Dataset& dataset(size_t at) const { return job_.dataset(at); }

  void note(size_t at, const Status& status) {
    if (failure_.ok() && !status.ok()) failure_ = status.in("dataset '" + dataset(at).name + "'");
  }

  std::vector<Portion> portions(size_t at) {
    std::vector<Portion> list;
    if (variables_[at] >= 0)
      note(at, guarded([&] {
             const Dataset& one = dataset(at);
             list = portions_of(job_, at, limits(!one.unlimited && one.shape.rank() > 0));
             return Status();
           }));
    return list;
  }

  // The arguments of the library for PORTION. An unprepared item moves nothing.
  Item prepare(size_t at, Portion portion) {
    Item item;
    item.at = at;
    item.portion = std::move(portion);
    const Status ready = guarded([&] { return describe(item); });
    if (ready.ok()) return item;
    note(at, ready);
    Item nothing;
    nothing.at = at;
    return nothing;
  }

  Status describe(Item& item) {
    const ElementType& type = dataset(item.at).type;
    int rank = 0;
    PENSTOCK_TRY(check(ncmpi_inq_varndims(file_.id(), variables_[item.at], &rank), "ncmpi_inq_varndims"));
    const int own = dataset(item.at).shape.rank();
    if (rank != own && rank != own + 1) return {Code::mismatch, "its variable has another number of dimensions"};
    const std::vector<Box> boxes = boxes_of(item.portion);
    item.numbers.reserve(2 * boxes.size() * static_cast<size_t>(rank));
    for (const Box& box : boxes)
      for (const Dims* dims : {&box.start, &box.count}) {
        MPI_Offset* first = item.numbers.data() + item.numbers.size();
        item.numbers.insert(item.numbers.end(), dims->begin(), dims->end());
        if (rank > own) item.numbers.push_back(dims == &box.start ? 0 : parts(type));
        (dims == &box.start ? item.starts : item.counts).push_back(first);
      }
    item.data = item.portion.packed;
    if (item.data != nullptr) return {};
    item.buffer.resize(static_cast<size_t>(item.portion.count * bytes(type)));
    item.data = item.buffer.data();
    if (!writes_) return {};
    const PhaseTimer timer(*job_.phases, Phase::pack);
    copy(item.portion, bytes(type), item.data, Direction::write);
    return {};
  }

  void finish(Item& item) {
    if (writes_ || item.buffer.empty()) return;
    const PhaseTimer timer(*job_.phases, Phase::pack);
    copy(item.portion, bytes(dataset(item.at).type), item.data, Direction::read);
  }

  // Calls one of the library's functions for a LIST of boxes, or those for one box.
  template <typename PutList, typename GetList, typename Put, typename Get, typename... Last>
  void call(Item& item, bool list, PutList put_list, GetList get_list, Put put, Get get, Last... last) {
    static std::byte nothing;
    static MPI_Offset none[max_rank + 1] = {};
    const PhaseTimer timer(*job_.phases, writes_ ? Phase::write : Phase::read);
    const ElementType& type = dataset(item.at).type;
    const auto boxes = static_cast<int>(item.starts.size());
    const MPI_Offset count = item.portion.count * parts(type);
    const MPI_Datatype memory = memory_type(type);
    std::byte* data = item.data == nullptr ? &nothing : item.data;
    const int id = file_.id(), variable = variables_[item.at];
    MPI_Offset* start = boxes == 0 ? none : item.starts[0];
    MPI_Offset* extents = boxes == 0 ? none : item.counts[0];
    int error = NC_NOERR;
    if (list && writes_)
      error = put_list(id, variable, boxes, item.starts.data(), item.counts.data(), data, count, memory, last...);
    else if (list)
      error = get_list(id, variable, boxes, item.starts.data(), item.counts.data(), data, count, memory, last...);
    else if (writes_)
      error = put(id, variable, start, extents, data, count, memory, last...);
    else
      error = get(id, variable, start, extents, data, count, memory, last...);
    note(item.at, check(error, writes_ ? "writing" : "reading"));
  }

  Status collective() {
    // The number of calls of the busiest rank, and whether any rank has lists: all ranks must make the same calls.
    std::vector<int64_t> rounds, lists;
    for (size_t at = 0; at < variables_.size(); ++at) {
      const auto mine = portions(at);
      rounds.push_back(static_cast<int64_t>(mine.size()));
      lists.push_back(std::any_of(mine.begin(), mine.end(), [](const Portion& p) { return !p.selection.is_box(); }) &&
                      !dataset(at).unlimited);
    }
    PENSTOCK_TRY(job_.comm->all_reduce_max(rounds));
    PENSTOCK_TRY(job_.comm->all_reduce_max(lists));
    for (size_t at = 0; at < variables_.size(); ++at) {
      auto mine = portions(at);
      if (dataset(at).shape.rank() == 0) {  // a scalar has no empty write: only ranks that have it post it
        std::vector<Item> items;
        for (Portion& portion : mine) items.push_back(prepare(at, std::move(portion)));
        if (rounds[at] > 0) wait_for(items);
        continue;
      }
      for (size_t round = 0; round < static_cast<size_t>(rounds[at]); ++round) {
        Item item;
        item.at = at;
        if (round < mine.size()) item = prepare(at, std::move(mine[round]));
        call(item, lists[at] != 0, ncmpi_put_varn_all, ncmpi_get_varn_all, ncmpi_put_vara_all, ncmpi_get_vara_all);
        finish(item);
      }
    }
    return failure_;
  }

  Status independent() {
    PENSTOCK_TRY(check(ncmpi_begin_indep_data(file_.id()), "ncmpi_begin_indep_data"));
    for (size_t at = 0; at < variables_.size(); ++at)
      for (Portion& portion : portions(at)) {
        Item item = prepare(at, std::move(portion));
        if (item.starts.empty()) continue;
        call(item, item.starts.size() > 1, ncmpi_put_varn, ncmpi_get_varn, ncmpi_put_vara, ncmpi_get_vara);
        finish(item);
      }
    const Status ended = check(ncmpi_end_indep_data(file_.id()), "ncmpi_end_indep_data");
    return failure_.ok() ? ended : failure_;
  }

  // Requests are posted in waves, each with one collective wait. A rank that has no waves left still joins the waits.
  Status nonblocking() {
    std::vector<std::pair<size_t, Portion>> all;
    std::vector<size_t> ends;  // of waves
    int64_t posted = 0;
    for (size_t at = 0; at < variables_.size(); ++at)
      for (Portion& portion : portions(at)) {
        const int64_t size = portion.count * bytes(dataset(at).type);
        if (posted > 0 && posted + size > wave_bytes) {
          ends.push_back(all.size());
          posted = 0;
        }
        posted += size;
        all.emplace_back(at, std::move(portion));
      }
    if (!all.empty()) ends.push_back(all.size());
    int64_t waves = static_cast<int64_t>(ends.size());
    PENSTOCK_TRY(job_.comm->all_reduce_max(std::span(&waves, 1)));
    size_t next = 0;
    for (size_t wave = 0; wave < static_cast<size_t>(waves); ++wave) {
      const size_t end = wave < ends.size() ? ends[wave] : next;
      std::vector<Item> items;
      items.reserve(end - next);
      for (; next < end; ++next) items.push_back(prepare(all[next].first, std::move(all[next].second)));
      wait_for(items);
    }
    return failure_;
  }

  void wait_for(std::vector<Item>& items) {
    std::vector<int> requests, states;
    for (Item& item : items) {
      if (item.starts.empty()) continue;
      requests.push_back(NC_REQ_NULL);
      call(item, item.starts.size() > 1, ncmpi_iput_varn, ncmpi_iget_varn, ncmpi_iput_vara, ncmpi_iget_vara,
           &requests.back());
    }
    states.assign(requests.size(), NC_NOERR);
    const PhaseTimer timer(*job_.phases, writes_ ? Phase::write : Phase::read);
    const Status waited =
        check(ncmpi_wait_all(file_.id(), static_cast<int>(requests.size()), requests.data(), states.data()),
              "ncmpi_wait_all");
    if (failure_.ok()) failure_ = waited;
    for (const int state : states)
      if (failure_.ok()) failure_ = check(state, "a request");
    for (Item& item : items) finish(item);
  }

  const EngineJob& job_;
  const File& file_;
  const std::vector<int>& variables_;
  Way way_;
  bool writes_;
  Status failure_;
};

}  // namespace

Status move(const EngineJob& job, const File& file, const std::vector<int>& variables, Way way, Direction direction) {
  return Mover(job, file, variables, way, direction).run();
}

}  // namespace penstock::pnetcdf
