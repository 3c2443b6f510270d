// phdf5: ordinary parallel HDF5: define, write, flush, close, all ranks together.
#include <algorithm>

#include "core/base/guarded.hpp"
#include "core/comm/mpi/io_library.hpp"
#include "core/comm/mpi/native.hpp"
#include "core/engine/phdf5/options.hpp"
#include "core/engine/phdf5/transfer.hpp"
#include "core/engine/reserve.hpp"
#include "core/hdf5/attributes.hpp"
#include "core/hdf5/definitions.hpp"
#include "core/hdf5/dimension_scales.hpp"
#include "core/hdf5/meaning.hpp"
#include "core/hdf5/types.hpp"

namespace penstock {

Descriptor phdf5_descriptor();

namespace phdf5 {
namespace {

using hdf5::DatasetHandle;
using hdf5::File;
using hdf5::Group;
using hdf5::library_error;
using hdf5::Properties;
using hdf5::Space;
using hdf5::Type;

constexpr size_t open_at_once = 256;                       // datasets between two agreements
constexpr int64_t largest_in_header = int64_t{64} * 1024;  // larger attributes need format 1.8 or newer

void report_hints(const EngineJob& job, const File& file, IoLibrary library) {
  if (job.hints_outcome == nullptr) return;
  const Properties access(H5Fget_access_plist(file));
  void* handle = nullptr;
  if (!access.ok() || H5Fget_vfd_handle(file, access, &handle) < 0 || handle == nullptr) return;
  MPI_Info info = MPI_INFO_NULL;
  if (MPI_File_get_info(*static_cast<MPI_File*>(handle), &info) != MPI_SUCCESS) return;
  judge_hints(job.hints, hints_in(info), library, *job.comm, *job.hints_outcome);
  if (info != MPI_INFO_NULL) MPI_Info_free(&info);
}

// Closing is collective: a rank that has failed also calls it.
Status close(const EngineJob& job, File& file, Phase phase) {
  const PhaseTimer timer(*job.phases, phase);
  return file.close() ? Status() : library_error(Code::io, "closing '" + job.path + "'");
}

// --- writing ---

class Writer {
 public:
  Writer(const EngineJob& job, const Options& options) : job_(job), options_(options) {}

  Status write() {
    PENSTOCK_TRY(plan());
    PENSTOCK_ASSIGN(hints_, hints_for_writing(job_.comm, job_.hints, job_.hints_outcome));
    PENSTOCK_TRY(agree(job_.comm, create()));
    report_hints(job_, file_, io_library_of(job_.comm, job_.path));
    Status status = guarded([&] { return fill_file(); });
    const Status closed = close(job_, file_, Phase::write);
    if (status.ok()) status = closed;
    if (status.ok() && job_.comm->rank() == 0) status = check_size(job_.path, options_.filter == "none" ? stored_ : 0);
    return status;
  }

 private:
  Status plan() {
    const PhaseTimer timer(*job_.phases, Phase::define);
    PENSTOCK_ASSIGN(rounds_, rounds_of(job_, limits(options_)));
    PENSTOCK_ASSIGN(blocks_, largest_blocks(job_));
    return {};
  }

  Status create() {
    const PhaseTimer timer(*job_.phases, Phase::define);
    PENSTOCK_ASSIGN(const Properties access, file_access(job_, hints_, options_));
    file_ = File(H5Fcreate(job_.path.c_str(), hdf5::create_truncating, H5P_DEFAULT, access));
    if (!file_.ok()) return creation_error(job_.path, library_error(Code::io, "creating '" + job_.path + "'"));
    return {};
  }

  Status fill_file() {
    PENSTOCK_TRY(agree(job_.comm, guarded([&] { return make_groups(); })));
    Status status;
    for (size_t at = 0; at < job_.datasets.size() && status.ok(); at += open_at_once)
      status = fill_datasets(at, std::min(job_.datasets.size(), at + open_at_once));
    PENSTOCK_TRY(status);
    PENSTOCK_TRY(agree(job_.comm, guarded([&] {
                         const PhaseTimer timer(*job_.phases, Phase::define);
                         return hdf5::write_scales(file_, scales_);
                       })));
    if (!job_.sync) return {};
    const PhaseTimer timer(*job_.phases, Phase::sync);
    return H5Fflush(file_, H5F_SCOPE_GLOBAL) < 0 ? library_error(Code::io, "H5Fflush") : Status();
  }

  Status make_groups() {
    const PhaseTimer timer(*job_.phases, Phase::define);
    for (const std::string& name : hdf5::group_names(stored_catalogue_))
      PENSTOCK_TRY(make_group(name).in("group '" + name + "'"));
    return hdf5::write_attributes(file_, stored_catalogue_, "", shared_);
  }

  Status make_group(const std::string& name) {
    PENSTOCK_ASSIGN(const hid_t links, shared_.link_creation(name));
    const Group group(H5Gcreate2(file_, ("/" + name).c_str(), links, H5P_DEFAULT, H5P_DEFAULT));
    if (!group.ok()) return library_error(Code::io, "making it");
    return hdf5::write_attributes(group, stored_catalogue_, name, shared_);
  }

  // All ranks fail together, or with their own status after the last collective call.
  Status fill_datasets(size_t begin, size_t end) {
    std::vector<OpenDataset> open;
    PENSTOCK_TRY(agree(job_.comm, guarded([&]() -> Status {
                         const PhaseTimer timer(*job_.phases, Phase::define);
                         for (size_t at = begin; at < end; ++at) {
                           const Dataset& dataset = job_.dataset(at);
                           PENSTOCK_TRY(make_dataset(dataset, at, open).in("dataset '" + dataset.name + "'"));
                         }
                         return {};
                       })));
    PENSTOCK_TRY(agree(job_.comm, guarded([&] { return reserve_space(open); })));
    Status status = guarded([&] { return move(job_, options_, Direction::write, open); });
    for (OpenDataset& one : open) {
      if (!one.handle.close() && status.ok())
        status = library_error(Code::io, "closing dataset '" + job_.dataset(one.at).name + "'");
    }
    return agree(job_.comm, status);
  }

  Status make_dataset(const Dataset& dataset, size_t at, std::vector<OpenDataset>& open) {
    const auto chunk = chunk_of(dataset, blocks_[at], options_);
    OpenDataset one;
    one.at = at;
    one.rounds = rounds_[at];
    PENSTOCK_ASSIGN(one.type, hdf5::library_type(dataset.type, hdf5::is_utf8(stored_catalogue_, dataset.name)));
    PENSTOCK_ASSIGN(const hid_t links, shared_.link_creation(dataset.name));
    PENSTOCK_ASSIGN(const Properties creation, dataset_creation(chunk, options_.fill || job_.partial, options_));
    const Space space = hdf5::dataset_space(dataset.shape, dataset.unlimited);
    if (!space.ok()) return library_error(Code::internal, "making a dataspace");
    const std::string path = "/" + dataset.name;
    one.handle = DatasetHandle(H5Dcreate2(file_, path.c_str(), one.type, space, links, creation, H5P_DEFAULT));
    if (!one.handle.ok()) return library_error(Code::io, "making it");
    PENSTOCK_TRY(hdf5::write_attributes(one.handle, stored_catalogue_, dataset.name, shared_));
    if (elements(dataset.shape) > 0) open.push_back(std::move(one));
    return {};
  }

  // Parallel HDF5 allocates datasets at creation; filtered chunks may become smaller later. It knows the end of the
  // file only before the first write.
  Status reserve_space(const std::vector<OpenDataset>& open) {
    for (const OpenDataset& one : open) stored_ += static_cast<int64_t>(H5Dget_storage_size(one.handle));
    hsize_t end = 0;
    if (H5Fget_filesize(file_, &end) < 0) end = 0;
    H5Eclear2(H5E_DEFAULT);
    if (!options_.preallocate || job_.comm->rank() != 0) return {};
    return reserve(job_.path, std::max(stored_, static_cast<int64_t>(end)));
  }

  const EngineJob& job_;
  const Options& options_;
  Hints hints_;
  std::vector<int64_t> rounds_;
  std::vector<Dims> blocks_;
  int64_t stored_ = 0;
  File file_;
  hdf5::Shared shared_;
  DimensionScales scales_ = scales_of(job_.catalogue);
  Catalogue stored_catalogue_ = without_names(job_.catalogue, scales_);  // without names that scales express
};

// --- reading ---

Result<OpenDataset> open_dataset(const EngineJob& job, const File& file, size_t at, int64_t rounds) {
  const Dataset& dataset = job.dataset(at);
  OpenDataset one;
  one.at = at;
  one.rounds = rounds;
  one.handle = DatasetHandle(H5Dopen2(file, ("/" + dataset.name).c_str(), H5P_DEFAULT));
  if (!one.handle.ok()) return library_error(Code::damaged, "opening it");
  const Properties creation(H5Dget_create_plist(one.handle));
  const Type type(H5Dget_type(one.handle));
  if (!creation.ok() || !type.ok()) return library_error(Code::damaged, "reading its definition");
  PENSTOCK_TRY(hdf5::check_inside(creation, job.path));
  if (H5Tget_class(type) == H5T_ARRAY)
    return Status(Code::unsupported, "its elements are of an array type: read it with a transport");
  const auto match = hdf5::match_type(type);
  if (!match || match->variable_text || match->type != dataset.type)
    return Status(Code::mismatch, "it is not of type " + name(dataset.type));
  const hdf5::Space space(H5Dget_space(one.handle));
  if (!space.ok() || H5Sget_simple_extent_ndims(space) != dataset.shape.rank())
    return Status(Code::unsupported, "its dimensions are joined in the file: read it with a transport");
  PENSTOCK_ASSIGN(one.type, hdf5::memory_type(dataset.type, type));
  return one;
}

Status read_datasets(const EngineJob& job, const Options& options, const File& file,
                     const std::vector<int64_t>& rounds) {
  for (size_t begin = 0; begin < job.datasets.size(); begin += open_at_once) {
    std::vector<OpenDataset> open;
    PENSTOCK_TRY(agree(job.comm, guarded([&]() -> Status {
                         const size_t end = std::min(job.datasets.size(), begin + open_at_once);
                         for (size_t at = begin; at < end; ++at) {
                           const Dataset& dataset = job.dataset(at);
                           if (elements(dataset.shape) == 0) continue;
                           auto one = open_dataset(job, file, at, rounds[at]);
                           PENSTOCK_TRY(one.status().in("dataset '" + dataset.name + "'"));
                           open.push_back(*std::move(one));
                         }
                         return {};
                       })));
    PENSTOCK_TRY(agree(job.comm, guarded([&] { return move(job, options, Direction::read, open); })));
  }
  return {};
}

Status read(const EngineJob& job, const Options& options, IoLibrary library) {
  PENSTOCK_ASSIGN(const auto rounds, rounds_of(job, limits(options)));
  File file;
  PENSTOCK_TRY(agree(job.comm, guarded([&]() -> Status {
                       PENSTOCK_ASSIGN(const Properties access, file_access(job, job.hints, options));
                       file = File(H5Fopen(job.path.c_str(), hdf5::open_read_only, access));
                       if (!file.ok()) return library_error(Code::damaged, "opening '" + job.path + "'");
                       report_hints(job, file, library);
                       return {};
                     })));
  const Status status = read_datasets(job, options, file, rounds);
  const Status closed = close(job, file, Phase::read);
  return status.ok() ? closed : status;
}

class Phdf5 final : public Engine {
 public:
  const Descriptor& describe() const override {
    static const Descriptor descriptor = phdf5_descriptor();
    return descriptor;
  }
  std::string_view format() const override { return "hdf5"; }
  std::string_view extension() const override { return "h5"; }
  std::string_view convention() const override { return "openPMD"; }

  Status check(const Catalogue& catalogue, const Settings& settings) const override {
    const hdf5::QuietErrors quiet;
    PENSTOCK_ASSIGN(const Options options, parse_options(settings));
    PENSTOCK_TRY(hdf5::check_definitions(catalogue));
    PENSTOCK_TRY(hdf5::check_scales(catalogue));
    if (options.oldest != H5F_LIBVER_EARLIEST) return {};
    for (const auto& [object, attributes] : catalogue.attributes)
      for (const auto& [name, attribute] : attributes)
        if (static_cast<int64_t>(attribute.value.size() + name.size()) + 512 > largest_in_header)
          return {Code::unsupported, "attribute '" + name + "' of '" + object +
                                         "' has 64 KiB or more: add libver=v110, or make it a dataset"};
    return {};
  }

  Status write(const EngineJob& job, const Settings& settings) const override {
    const hdf5::QuietErrors quiet;
    PENSTOCK_TRY(mpi_running());
    PENSTOCK_TRY(check_hints(job.hints));
    PENSTOCK_ASSIGN(const Options options, parse_options(settings));
    return Writer(job, options).write();
  }

  Status read(const EngineJob& job, const Settings& settings) const override {
    const hdf5::QuietErrors quiet;
    PENSTOCK_TRY(mpi_running());
    PENSTOCK_TRY(check_hints(job.hints));
    PENSTOCK_ASSIGN(Options options, parse_options(settings));
    const IoLibrary library = io_library_of(job.comm, job.path);
    if (options.collective && library == IoLibrary::ompio) {
      options.collective = false;
      warn_of_ompio(job.hints_outcome);
    }
    return phdf5::read(job, options, library);
  }
};

}  // namespace
}  // namespace phdf5

const Engine& phdf5_engine() {
  static const phdf5::Phdf5 engine;
  return engine;
}

}  // namespace penstock
