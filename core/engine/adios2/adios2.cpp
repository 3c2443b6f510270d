// adios2: writes one step to a BP5 folder: define, put, end the step, close.
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "core/base/guarded.hpp"
#include "core/base/library_gate.hpp"
#include "core/base/units.hpp"
#include "core/comm/mpi/native.hpp"
#include "core/engine/adios2/attributes.hpp"
#include "core/engine/adios2/folder.hpp"
#include "core/engine/adios2/notes.hpp"
#include "core/engine/adios2/transfer.hpp"
#include "core/engine/portions.hpp"

namespace penstock {

Descriptor adios2_descriptor();

namespace bp5 {
namespace {

// The element of each scalar dataset, on rank 0, where readers look for it first. The rank that has it contributes two
// words of eight bytes and a one; the others the smallest number.
Result<std::vector<std::vector<std::byte>>> gather_scalars(const EngineJob& job) {
  std::vector<int64_t> words(job.datasets.size() * 3, INT64_MIN);
  std::vector<std::vector<std::byte>> values(job.datasets.size());
  for (size_t at = 0; at < values.size(); ++at) {
    if (!is_value(job.dataset(at))) continue;
    for (const Portion& portion : portions_of(job, at, {})) {
      words[at * 3] = words[at * 3 + 1] = 0;
      words[at * 3 + 2] = 1;
      copy(portion, bytes(job.dataset(at).type), reinterpret_cast<std::byte*>(&words[at * 3]), Direction::write);
    }
  }
  PENSTOCK_TRY(job.comm->all_reduce_max(words));
  if (job.comm->rank() != 0) return values;
  for (size_t at = 0; at < values.size(); ++at) {
    if (!is_value(job.dataset(at))) continue;
    values[at].resize(static_cast<size_t>(bytes(job.dataset(at).type)));
    if (words[at * 3 + 2] == 1) std::memcpy(values[at].data(), &words[at * 3], values[at].size());
  }
  return values;
}

// Rank 0. On a full disk ADIOS2 hangs or ends the program, so there must be room for its index and the ends of its
// buffers too, approximately.
Status check_room(const EngineJob& job) {
  const std::string folder = job.path.substr(0, job.path.rfind('/') + 1);
  struct statvfs disk = {};
  if (job.comm->rank() != 0 || ::statvfs(folder.empty() ? "." : folder.c_str(), &disk) != 0) return {};
  int64_t needed = int64_t{4} << 20;
  for (const Dataset& dataset : job.catalogue.datasets) needed += bytes(dataset) + bytes(dataset) / 64;
  needed += job.comm->size() * (8192 + 256 * static_cast<int64_t>(job.datasets.size()));
  const int64_t free = static_cast<int64_t>(disk.f_bavail) * static_cast<int64_t>(disk.f_frsize);
  if (free >= needed) return {};
  return {Code::no_space, fmt::format("'{}' has {} free, ADIOS2 may need {}: name another place", folder,
                                      format_bytes(free), format_bytes(needed))};
}

Status write(const EngineJob& job, const Settings& settings) {
  PENSTOCK_TRY(agree(job.comm, check_room(job)));
  PENSTOCK_ASSIGN(const auto scalars, gather_scalars(job));
  Folder folder;
  {
    const PhaseTimer timer(*job.phases, Phase::define);
    PENSTOCK_TRY(agree(job.comm, folder.start(job.comm.get(), &settings)));
    PENSTOCK_TRY(agree(job.comm, guarded([&] {
                         return job.comm->rank() == 0 ? define_attributes(folder.io(), job.catalogue, job.partial)
                                                      : Status();
                       })));
    PENSTOCK_TRY(agree(job.comm, folder.open(job.path, adios2_mode_write)));
  }
  adios2_step_status step = adios2_step_status_other_error;
  PENSTOCK_TRY(agree(
      job.comm, check(adios2_begin_step(folder.engine(), adios2_step_mode_append, -1, &step), "adios2_begin_step")));
  Status status = guarded([&] { return put(job, folder, scalars); });
  const PhaseTimer timer(*job.phases, Phase::write);
  const Status ended = check(adios2_end_step(folder.engine()), "adios2_end_step");  // collective even after a failure
  const Status closed = folder.close();
  if (status.ok()) status = ended;
  status = agree(job.comm, status.ok() ? closed : status);
  if (!status.ok()) folder.abandon();
  return status;
}

Status read(const EngineJob& job, const Settings& settings) {
  Folder folder;
  {
    const PhaseTimer timer(*job.phases, Phase::define);
    PENSTOCK_TRY(agree(job.comm, folder.start(job.comm.get(), &settings)));
    PENSTOCK_TRY(agree(job.comm, folder.open(job.path, adios2_mode_readRandomAccess)));
  }
  const Status status = guarded([&] { return get(job, folder); });
  const Status closed = folder.close();
  return status.ok() ? closed : status;
}

int64_t size_of(const std::string& path) {
  struct stat file = {};
  return ::stat(path.c_str(), &file) == 0 && S_ISREG(file.st_mode) ? file.st_size : -1;
}

Result<Contents> contents(const std::string& path) {
  Folder folder;
  PENSTOCK_TRY(folder.start(nullptr, nullptr));
  PENSTOCK_TRY(folder.open(path, adios2_mode_readRandomAccess));
  Contents found;
  found.format = "adios2";
  // Texts are in the metadata, so none is longer.
  const auto max_text = static_cast<size_t>(size_of(path + "/md.0") + std::max<int64_t>(size_of(path + "/mmd.0"), 0));
  PENSTOCK_TRY(find_datasets(folder, found.catalogue, found.left_out));
  PENSTOCK_TRY(find_attributes(folder, max_text + 1, found.catalogue, found.left_out));
  PENSTOCK_TRY(folder.close());
  found.parts = {path};
  found.blocks.resize(found.catalogue.datasets.size());
  found.foreign.assign(found.catalogue.datasets.size(), true);
  return found;
}

class Adios2 final : public Engine {
 public:
  const Descriptor& describe() const override {
    static const Descriptor descriptor = adios2_descriptor();
    return descriptor;
  }
  std::string_view format() const override { return {}; }
  std::string_view extension() const override { return "bp"; }
  Status check(const Catalogue& catalogue, const Settings&) const override {
    PENSTOCK_TRY(check_names(catalogue));
    return check_names_of(catalogue);
  }
  Status write(const EngineJob& job, const Settings& settings) const override {
    const LibraryGate gate;
    PENSTOCK_TRY(mpi_running());
    return bp5::write(job, settings);
  }
  Status read(const EngineJob& job, const Settings& settings) const override {
    const LibraryGate gate;
    PENSTOCK_TRY(mpi_running());
    return bp5::read(job, settings);
  }
  bool recognises(const std::string& path) const override {
    return size_of(path + "/md.0") >= 0 && size_of(path + "/md.idx") >= 0 && size_of(path + "/mmd.0") >= 0;
  }
  Result<Contents> contents(const std::string& path) const override {
    Result<Contents> found = Status(Code::damaged, "");
    const LibraryGate gate;
    const Status status = guarded([&] {
      found = bp5::contents(path);
      return found.status();
    });
    if (!status.ok()) return status.in("'" + path + "'");
    return found;
  }
};

}  // namespace
}  // namespace bp5

const Engine& adios2_engine() {
  static const bp5::Adios2 engine;
  return engine;
}

}  // namespace penstock
