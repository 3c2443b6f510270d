// Raw: which writes of an HDF5 file are raw data of one rank, as HDF5's file driver says; they are kept back.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "bindings/mpiio/file.hpp"
#include "bindings/mpiio/original.hpp"
#include "bindings/mpiio/settings.hpp"
#include "bindings/mpiio/shape.hpp"
#include "core/base/guarded.hpp"

namespace penstock::mpiio {
namespace {

thread_local bool raw = false;

bool may_keep(const File& file, std::span<const Run> runs, int64_t bytes) {
  return raw && file.keeps_alone && file.keeps_more && file.caller == std::this_thread::get_id() && !runs.empty() &&
         bytes / std::ssize(runs) < long_run && bytes <= run_settings().memory / 2 && others(file).empty();
}

}  // namespace

bool is_raw() { return raw; }

Status write_kept(File& file) {
  const Alone alone = std::exchange(file.alone, {});
  return write_alone(file, alone.runs());
}

Status write_or_keep(File& file, std::vector<Run> runs) {
  const int64_t bytes = bytes_of(runs);
  if (!may_keep(file, runs, bytes)) return write_alone(file, without_overlaps(std::move(runs)));
  const int64_t used = std::max(file.alone.bytes(), Arena::in_process());
  if (used + bytes > run_settings().memory) PENSTOCK_TRY(write_kept(file));
  if (!file.alone.keep(runs)) return write_alone(file, without_overlaps(std::move(runs)));
  Statistics& statistics = *file.statistics;
  const std::lock_guard lock(statistics.mutex);
  ++statistics.kept_calls;
  statistics.kept_bytes += bytes;
  statistics.kept_bytes_max = std::max(statistics.kept_bytes_max, file.alone.bytes());
  return {};
}

namespace {

// Collective.
void keep_no_more(MPI_File handle) {
  const Inside inside;
  const auto file = find(handle);
  if (file == nullptr || !file->keeps_alone) return;
  const std::lock_guard lock(file->busy);
  const Together together(*file);
  if (!std::exchange(file->keeps_more, false)) return;
  if (const Status status = guarded([&] { return move_kept(*file, "HDF5 frees space"); }); !status.ok())
    file->failed = status;
}

}  // namespace
}  // namespace penstock::mpiio

// What bindings/hdf5_driver/ says.
extern "C" __attribute__((visibility("default"))) int penstock_mpiio_raw(int raw) {
  return std::exchange(penstock::mpiio::raw, raw != 0);
}
extern "C" __attribute__((visibility("default"))) void penstock_mpiio_keep_no_more(MPI_File file) {
  penstock::mpiio::keep_no_more(file);
}
