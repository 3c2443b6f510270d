// Transfer: portions as dataspaces, one or several per call.
#include "core/engine/phdf5/transfer.hpp"

#include <algorithm>

#include "core/base/guarded.hpp"
#include "core/hdf5/definitions.hpp"

namespace penstock::phdf5 {
namespace {

using hdf5::library_error;
using hdf5::Properties;
using hdf5::Space;

// An array in memory that contains the box with gaps: ghost cells, or every n-th element.
struct Frame {
  int rank = 0;
  hsize_t extents[max_rank + 1], count[max_rank + 1];
};

bool frame_of(const Selection& selection, Frame& frame) {
  const Dims &count = selection.box().count, &stride = selection.stride();
  const int rank = count.rank();
  for (int i = 0; i < rank; ++i) {
    const int64_t outer = i == 0 ? count[0] * stride[0] : stride[i - 1];
    if (stride[i] < 1 || outer % stride[i] != 0 || outer / stride[i] < count[i]) return false;
    frame.extents[i] = static_cast<hsize_t>(outer / stride[i]);
    frame.count[i] = static_cast<hsize_t>(count[i]);
  }
  frame.rank = rank;
  if (rank > 0 && stride[rank - 1] > 1) {
    frame.extents[rank] = static_cast<hsize_t>(stride[rank - 1]);
    frame.count[rank] = 1;
    ++frame.rank;
  }
  return rank > 0;
}

bool takes(const Selection& selection) {
  Frame frame;
  return frame_of(selection, frame);
}

constexpr hsize_t origin[max_rank + 1] = {};

// The part of one dataset in one call.
struct Call {
  const OpenDataset* dataset = nullptr;
  Space file, memory;
  std::byte* data = nullptr;
  std::vector<std::byte> buffer;
  const Portion* portion = nullptr;  // null: nothing to move
};

Status select_boxes(hid_t space, const Portion& portion) {
  H5S_seloper_t operation = H5S_SELECT_SET;
  for (const Box& box : boxes_of(portion)) {
    if (!hdf5::select_box(space, box, operation)) return library_error(Code::internal, "selecting a box");
    operation = H5S_SELECT_OR;
  }
  return {};
}

Status place_in_memory(Call& call, int64_t element_bytes) {
  const Portion& portion = *call.portion;
  Frame frame;
  const auto count = static_cast<hsize_t>(portion.count);
  if (portion.packed == nullptr && portion.supplier == nullptr && portion.selection.is_box() &&
      frame_of(portion.selection, frame)) {
    call.memory = Space(H5Screate_simple(frame.rank, frame.extents, nullptr));
    call.data = portion.memory + portion.selection.memory_offset() * element_bytes;
    if (!call.memory.ok() ||
        H5Sselect_hyperslab(call.memory, H5S_SELECT_SET, origin, nullptr, frame.count, nullptr) < 0)
      return library_error(Code::internal, "describing memory");
    return {};
  }
  call.memory = Space(H5Screate_simple(1, &count, nullptr));
  if (!call.memory.ok()) return library_error(Code::internal, "describing memory");
  call.data = portion.packed;
  if (call.data == nullptr) {
    call.buffer.resize(static_cast<size_t>(portion.count * element_bytes));
    call.data = call.buffer.data();
  }
  return {};
}

// The call of a rank without data to move, or whose preparation failed.
Status take_part(Call& call) {
  static std::byte nothing;
  const hsize_t one = 1;
  call.portion = nullptr;
  call.data = &nothing;
  call.file = Space(H5Dget_space(call.dataset->handle));
  call.memory = Space(H5Screate_simple(1, &one, nullptr));
  if (!call.file.ok() || !call.memory.ok() || H5Sselect_none(call.file) < 0 || H5Sselect_none(call.memory) < 0)
    return library_error(Code::internal, "selecting nothing");
  return {};
}

class Mover {
 public:
  Mover(const EngineJob& job, const Options& options, Direction direction)
      : job_(job), options_(options), direction_(direction) {}

  Status run(std::span<const OpenDataset> datasets) {
    PENSTOCK_ASSIGN(transfer_, transfer(options_));
    std::vector<std::vector<Portion>> portions;
    int64_t rounds = 0;
    for (const OpenDataset& dataset : datasets) {
      portions.emplace_back();
      note(dataset, guarded([&] {
             portions.back() = portions_of(job_, dataset.at, limits(options_));
             return Status();
           }));
      rounds = std::max(rounds, calls(dataset, portions.back()));
    }
    for (int64_t round = 0; round < rounds; ++round) {
      std::vector<Call> together;
      for (size_t d = 0; d < datasets.size(); ++d) {
        if (round >= calls(datasets[d], portions[d])) continue;
        const bool mine = round < static_cast<int64_t>(portions[d].size());
        together.push_back(prepare(datasets[d], mine ? &portions[d][static_cast<size_t>(round)] : nullptr));
      }
      note(*together.front().dataset, move_together(together));
      for (Call& call : together) finish(call);
    }
    return failure_;
  }

 private:
  int64_t calls(const OpenDataset& dataset, const std::vector<Portion>& portions) const {
    return options_.collective ? dataset.rounds : static_cast<int64_t>(portions.size());
  }

  void note(const OpenDataset& dataset, Status status) {
    if (failure_.ok() && !status.ok()) failure_ = status.in("dataset '" + job_.dataset(dataset.at).name + "'");
  }

  Call prepare(const OpenDataset& dataset, const Portion* portion) {
    Call call;
    call.dataset = &dataset;
    call.portion = portion;
    const Status ready = guarded([&] { return portion == nullptr ? Status() : describe(call); });
    note(dataset, ready);
    if (portion == nullptr || !ready.ok()) note(dataset, take_part(call));
    return call;
  }

  Status describe(Call& call) {
    const int64_t size = bytes(job_.dataset(call.dataset->at).type);
    call.file = Space(H5Dget_space(call.dataset->handle));
    if (!call.file.ok()) return library_error(Code::internal, "its dataspace");
    PENSTOCK_TRY(select_boxes(call.file, *call.portion));
    PENSTOCK_TRY(place_in_memory(call, size));
    if (call.buffer.empty() || direction_ == Direction::read) return {};
    const PhaseTimer timer(*job_.phases, Phase::pack);
    copy(*call.portion, size, call.buffer.data(), direction_);
    return {};
  }

  void finish(Call& call) {
    if (call.portion == nullptr || call.buffer.empty() || direction_ == Direction::write) return;
    const PhaseTimer timer(*job_.phases, Phase::pack);
    copy(*call.portion, bytes(job_.dataset(call.dataset->at).type), call.buffer.data(), direction_);
  }

  Status move_together(std::vector<Call>& calls) {
    const bool writes = direction_ == Direction::write;
    const PhaseTimer timer(*job_.phases, writes ? Phase::write : Phase::read);
    herr_t moved = -1;
#if H5_VERSION_GE(1, 14, 0)
    if (options_.multi) {
      std::vector<hid_t> handles, types, memories, files;
      std::vector<const void*> sources;
      std::vector<void*> targets;
      for (const Call& call : calls) {
        handles.push_back(call.dataset->handle);
        types.push_back(call.dataset->type);
        memories.push_back(call.memory);
        files.push_back(call.file);
        sources.push_back(call.data);
        targets.push_back(call.data);
      }
      moved = writes ? H5Dwrite_multi(calls.size(), handles.data(), types.data(), memories.data(), files.data(),
                                      transfer_, sources.data())
                     : H5Dread_multi(calls.size(), handles.data(), types.data(), memories.data(), files.data(),
                                     transfer_, targets.data());
      return moved < 0 ? failure(calls, writes ? "H5Dwrite_multi" : "H5Dread_multi") : Status();
    }
#endif
    const Call& call = calls.front();
    const hid_t handle = call.dataset->handle, type = call.dataset->type;
    moved = writes ? H5Dwrite(handle, type, call.memory, call.file, transfer_, call.data)
                   : H5Dread(handle, type, call.memory, call.file, transfer_, call.data);
    return moved < 0 ? failure(calls, writes ? "H5Dwrite" : "H5Dread") : Status();
  }

  // The error of CALLS that have just failed in the library's function NAME.
  Status failure(const std::vector<Call>& calls, const char* name) {
    Status status = library_error(direction_ == Direction::write ? Code::io : Code::damaged, name);
    for (const Call& call : calls) {
      const Properties creation(H5Dget_create_plist(call.dataset->handle));
      if (creation.ok()) status = hdf5::explain_failure(creation, job_.path, status);
    }
    return status;
  }

  const EngineJob& job_;
  const Options& options_;
  Direction direction_;
  Properties transfer_;
  Status failure_;
};

}  // namespace

PortionLimits limits(const Options& options) {
  PortionLimits limits{.takes = takes};
  const auto datasets = static_cast<int64_t>(options.multi ? datasets_at_once : 1);
  limits.direct_bytes /= datasets;
  limits.staged_bytes /= datasets;
  return limits;
}

Status move(const EngineJob& job, const Options& options, Direction direction, std::span<const OpenDataset> datasets) {
  Status first;
  const size_t step = options.multi ? datasets_at_once : 1;
  for (size_t at = 0; at < datasets.size(); at += step) {
    Mover mover(job, options, direction);
    const Status moved = mover.run(datasets.subspan(at, std::min(step, datasets.size() - at)));
    if (first.ok()) first = moved;
  }
  return first;
}

}  // namespace penstock::phdf5
