// pnetcdf: Parallel-NetCDF, with the definitions of format netcdf: define, write, close.

#include "core/base/guarded.hpp"
#include "core/base/library_gate.hpp"
#include "core/comm/mpi/io_library.hpp"
#include "core/comm/mpi/native.hpp"
#include "core/engine/pnetcdf/file.hpp"
#include "core/engine/pnetcdf/transfer.hpp"
#include "core/engine/reserve.hpp"
#include "core/netcdf/define.hpp"
#include "core/netcdf/names.hpp"

namespace penstock {

Descriptor pnetcdf_descriptor();

namespace pnetcdf {
namespace {

Way way_of(const Settings& settings) {
  const std::string& mode = settings.word("mode");
  return mode == "collective" ? Way::collective : mode == "independent" ? Way::independent : Way::nonblocking;
}

Way way_to_read(const EngineJob& job, const Settings& settings, IoLibrary library) {
  const Way way = way_of(settings);
  if (way == Way::independent || library != IoLibrary::ompio) return way;
  warn_of_ompio(job.hints_outcome);
  return Way::independent;
}

// The user's hints take precedence. Without the first one the library swaps bytes in the caller's memory.
Hints hints_of(const EngineJob& job, const Settings& settings) {
  Hints hints{{"nc_in_place_swap", "disable"}};
  constexpr std::pair<const char*, const char*> named[] = {{"header_align", "nc_header_align_size"},
                                                           {"var_align", "nc_var_align_size"},
                                                           {"aggrs_per_node", "nc_num_aggrs_per_node"}};
  for (const auto& [parameter, hint] : named)
    if (settings.integer(parameter) > 0) hints[hint] = settings.word(parameter);
  for (const auto& [name, value] : job.hints) hints[name] = value;
  return hints;
}

// If rows may be missing, writes a zero to the last one, so that the file contains all rows.
Status touch_last_rows(const EngineJob& job, const File& file, const netcdf::Header& header) {
  for (size_t i = 0; i < header.variables.size(); ++i) {
    const netcdf::Variable& variable = header.variables[i];
    const Dataset& dataset = job.catalogue.datasets[i];
    if (!variable.record || elements(dataset.shape) == 0) continue;
    std::vector<MPI_Offset> start(variable.dimensions.size(), 0), count(variable.dimensions.size(), 1);
    start[0] = header.records - 1;
    if (job.comm->rank() != 0) count[0] = 0;
    const std::byte zeros[8] = {};
    PENSTOCK_TRY(check(ncmpi_put_vara_all(file.id(), static_cast<int>(i), start.data(), count.data(), zeros,
                                          job.comm->rank() == 0 ? 1 : 0, memory_type(dataset.type)),
                       "writing a first zero of '" + dataset.name + "'"));
  }
  return {};
}

Status fill(const EngineJob& job, const Settings& settings, const netcdf::Header& header, File& file, int64_t& end) {
  {
    const PhaseTimer timer(*job.phases, Phase::define);
    PENSTOCK_TRY(agree(job.comm, guarded([&]() -> Status {
                         PENSTOCK_TRY(file.define(header));
                         PENSTOCK_ASSIGN(end, file.end(header));
                         const bool wanted = settings.boolean("preallocate") || job.partial;
                         return wanted && job.comm->rank() == 0 ? reserve(job.path, end) : Status();
                       })));
    if (job.partial) PENSTOCK_TRY(agree(job.comm, touch_last_rows(job, file, header)));
  }
  std::vector<int> variables;
  for (size_t at = 0; at < job.datasets.size(); ++at)
    variables.push_back(elements(job.dataset(at).shape) == 0 ? -1 : job.datasets[at]);
  // No ncmpi_sync: if it fails on one rank, it never returns on the others. The session syncs the file.
  return agree(job.comm, move(job, file, variables, way_of(settings), Direction::write));
}

Status write(const EngineJob& job, const Settings& settings) {
  PENSTOCK_ASSIGN(const netcdf::Defined defined, netcdf::define(job.catalogue, 1));
  const Hints asked = hints_of(job, settings);
  PENSTOCK_ASSIGN(const Hints hints, hints_for_writing(job.comm, asked, job.hints_outcome));
  File file;
  {
    const PhaseTimer timer(*job.phases, Phase::define);
    PENSTOCK_TRY(agree(job.comm, file.create(job, hints)));
  }
  file.report(job, asked, io_library_of(job.comm, job.path));
  int64_t end = 0;
  Status status = guarded([&] { return fill(job, settings, defined.header, file, end); });
  const PhaseTimer timer(*job.phases, Phase::write);
  const Status closed = file.close();
  if (status.ok()) status = closed;
  if (status.ok() && job.comm->rank() == 0) status = check_size(job.path, job.partial ? end : 0);
  return status;
}

Result<std::vector<int>> find_variables(const EngineJob& job, const File& file) {
  std::vector<int> variables;
  int note = -1;
  const bool encoded =
      ncmpi_inq_attid(file.id(), NC_GLOBAL, std::string(netcdf::own_attribute).c_str(), &note) == NC_NOERR;
  for (size_t at = 0; at < job.datasets.size(); ++at) {
    const Dataset& dataset = job.dataset(at);
    variables.push_back(-1);
    if (elements(dataset.shape) == 0) continue;
    const std::string name = encoded ? netcdf::encode_name(dataset.name) : dataset.name;
    PENSTOCK_TRY(
        check(ncmpi_inq_varid(file.id(), name.c_str(), &variables.back()), "looking for variable '" + name + "'"));
  }
  return variables;
}

Status read(const EngineJob& job, const Settings& settings) {
  File file;
  const Hints hints = hints_of(job, settings);
  PENSTOCK_TRY(agree(job.comm, file.open(job, hints)));
  const IoLibrary library = io_library_of(job.comm, job.path);
  file.report(job, hints, library);
  auto variables = find_variables(job, file);
  Status status = agree(job.comm, variables.status());
  if (status.ok()) status = move(job, file, *variables, way_to_read(job, settings, library), Direction::read);
  const Status closed = file.close();
  return status.ok() ? closed : status;
}

class Pnetcdf final : public Engine {
 public:
  const Descriptor& describe() const override {
    static const Descriptor descriptor = pnetcdf_descriptor();
    return descriptor;
  }
  std::string_view format() const override { return "netcdf"; }
  std::string_view extension() const override { return "nc"; }
  std::string_view convention() const override { return "CF"; }
  Status check(const Catalogue& catalogue, const Settings&) const override {
    PENSTOCK_TRY(check_names(catalogue));
    return netcdf::define(catalogue, 1).status();
  }
  Status write(const EngineJob& job, const Settings& settings) const override {
    const LibraryGate gate;
    PENSTOCK_TRY(mpi_running());
    PENSTOCK_TRY(check_hints(job.hints));
    return pnetcdf::write(job, settings);
  }
  Status read(const EngineJob& job, const Settings& settings) const override {
    const LibraryGate gate;
    PENSTOCK_TRY(mpi_running());
    PENSTOCK_TRY(check_hints(job.hints));
    return pnetcdf::read(job, settings);
  }
};

}  // namespace
}  // namespace pnetcdf

const Engine& pnetcdf_engine() {
  static const pnetcdf::Pnetcdf engine;
  return engine;
}

}  // namespace penstock
