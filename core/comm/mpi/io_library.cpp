// IoLibrary: detected by tests, with the known behaviour of its hints.
#include "core/comm/mpi/io_library.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <span>

#include <fmt/format.h>

#include "core/comm/mpi/native.hpp"
#include "core/comm/mpi/sieving.hpp"

namespace penstock {
namespace {

#ifdef OPEN_MPI
constexpr bool open_mpi = true;
#else
constexpr bool open_mpi = false;
#endif

// Names that affect libraries which echo all hints ('penstock hints' tests them).
constexpr std::string_view of_ompio[] = {"cb_nodes", "cb_buffer_size", "collective_buffering",
                                         "OMPIO_SHAREDFP_RELAXED_ORDERING"};
constexpr std::string_view of_romio[] = {"cb_nodes",
                                         "cb_buffer_size",
                                         "cb_config_list",
                                         "ind_rd_buffer_size",
                                         "ind_wr_buffer_size",
                                         "romio_cb_alltoall",
                                         "romio_cb_ds_threshold",
                                         "romio_cb_fr_alignment",
                                         "romio_cb_fr_types",
                                         "romio_cb_pfr",
                                         "romio_cb_read",
                                         "romio_cb_write",
                                         "romio_ds_read",
                                         "romio_ds_write",
                                         "romio_min_fdomain_size",
                                         "romio_no_indep_rw",
                                         "striping_factor",
                                         "striping_unit",
                                         "start_iodevice",
                                         "direct_read",
                                         "direct_write",
                                         "romio_lustre_co_ratio",
                                         "romio_lustre_coll_threshold",
                                         "romio_lustre_ds_in_coll",
                                         "romio_lustre_start_iodevice"};

bool listed(std::span<const std::string_view> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Open MPI's choice by the environment, which mpiexec's --mca also sets, if the file system does not influence it.
IoLibrary library_by_environment() {
  const char* chosen = std::getenv("OMPI_MCA_io");
  const std::string_view name = chosen == nullptr ? "" : chosen;
  return name.starts_with("romio") || name == "^ompio" ? IoLibrary::open_mpi_romio : IoLibrary::ompio;
}

IoLibrary look(const std::string& path) {
  MPI_File file = MPI_FILE_NULL;
  set_ompio_parameters();
  if (MPI_File_open(MPI_COMM_SELF, path.c_str(), MPI_MODE_RDONLY, MPI_INFO_NULL, &file) != MPI_SUCCESS)
    return library_by_environment();
  const auto found = io_library_of(file);
  MPI_File_close(&file);
  return found.ok() ? *found : library_by_environment();
}

const char* name(IoLibrary library) { return library == IoLibrary::ompio ? "OMPIO" : "ROMIO"; }

// "*:1" is ROMIO's own value of cb_config_list.
bool has_one_aggregator(const Hints& asked, std::string_view hint, const std::string& value, IoLibrary library,
                        const CommunicatorInterface& comm) {
  if (library == IoLibrary::ompio || hint != "cb_nodes" || asked.contains("cb_config_list")) return false;
  int wanted = 0;
  std::from_chars(value.data(), value.data() + value.size(), wanted);
  const int hosts = (comm.size() + comm.node_size() - 1) / comm.node_size();
  return std::min(wanted, comm.size()) > hosts;
}

// "" if no fault is known.
std::string fault_of(const Hints& asked, const std::string& hint, const std::string& value, const Hints& effective,
                     IoLibrary library, const CommunicatorInterface& comm, bool own) {
  if (has_one_aggregator(asked, hint, value, library, comm))
    return "gives ROMIO one aggregator on each host all the same: add hint.cb_config_list=*:*";
  const auto found = effective.find(hint);
  if (found == effective.end())
    return "had no effect: see 'penstock hints' for what " + mpi_library_name() + " honours";
  if (found->second != value)
    return fmt::format("became {}: see 'penstock hints' for what {} honours", found->second, mpi_library_name());
  const bool echoed = library == IoLibrary::ompio            ? !listed(of_ompio, hint)
                      : library == IoLibrary::open_mpi_romio ? !listed(of_romio, hint)
                                                             : false;
  if (!echoed || own) return {};
  return fmt::format("is none that {} honours, though {} reports it back: see 'penstock hints'", name(library),
                     mpi_library_name());
}

}  // namespace

std::string mpi_library_name() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(text, &length);
  const std::string name(text, static_cast<size_t>(length));
  return name.substr(0, name.find_first_of(",\n"));
}

// Open MPI has two implementations and does not report which one is used; only ROMIO accepts this view.
Result<IoLibrary> io_library_of(MPI_File file) {
  if (!open_mpi) return IoLibrary::romio;
  if (MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "internal", MPI_INFO_NULL) != MPI_SUCCESS) return IoLibrary::ompio;
  PENSTOCK_TRY(
      mpi_status(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL), "MPI_File_set_view"));
  return IoLibrary::open_mpi_romio;
}

IoLibrary io_library_of(const Communicator& comm, const std::string& path) {
  if (!open_mpi) return IoLibrary::romio;
  int64_t found = comm->rank() == 0 ? static_cast<int64_t>(look(path)) : 0;
  if (!comm->all_reduce_max(std::span(&found, 1)).ok()) return library_by_environment();
  return static_cast<IoLibrary>(found);
}

void warn_of_ompio(HintsOutcome* outcome) {
  if (outcome != nullptr)
    outcome->warnings.emplace_back(
        "read independently: collective reads of OMPIO lose elements where ranks overlap; --mca io romio321 has none "
        "of that");
}

// ROMIO crashes, at the latest when the file is closed; OMPIO ignores the hint.
Status check_hints(const Hints& hints) {
  set_ompio_parameters();
  const auto found = hints.find("romio_cb_pfr");
  if (found == hints.end() || found->second != "enable") return {};
  return {Code::unsupported,
          "hint romio_cb_pfr=enable: ROMIO crashes with it (docs/reproducers/persistent_realms.c): leave it out"};
}

void judge_hints(const Hints& asked, const Hints& effective, IoLibrary library, const CommunicatorInterface& comm,
                 HintsOutcome& outcome, std::string_view own) {
  outcome.effective = effective;
  for (const auto& [hint, value] : asked) {
    const bool of_caller = !own.empty() && hint.starts_with(own);
    const std::string fault = fault_of(asked, hint, value, effective, library, comm, of_caller);
    if (!fault.empty()) outcome.warnings.push_back(fmt::format("hint {}={} {}", hint, value, fault));
  }
}

}  // namespace penstock
