// IoLibrary: detected by tests, with the known behaviour of its hints; sieving is disabled in ROMIO by a hint, in OMPIO
// by its MCA parameter.
#include "core/comm/mpi/io_library.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <span>

#include <fmt/format.h>

#include "core/comm/mpi/native.hpp"

namespace penstock {
namespace {

constexpr char parameter[] = "fbtl_posix_write_datasieving";

#ifdef OPEN_MPI
constexpr bool open_mpi = true;

// Whether the parameter is on; this query also fixes it for the process.
bool is_on() {
  int provided = 0, index = 0;
  if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS) return true;
  bool on = true;
  if (MPI_T_cvar_get_index(parameter, &index) != MPI_SUCCESS) {
    on = false;  // an Open MPI without this parameter
  } else {
    MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
    int count = 0;
    std::array<char, 64> value = {};
    if (MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count) == MPI_SUCCESS) {
      if (count <= 8 && MPI_T_cvar_read(handle, value.data()) == MPI_SUCCESS)
        on = std::any_of(value.begin(), value.end(), [](char byte) { return byte != 0; });
      MPI_T_cvar_handle_free(&handle);
    }
  }
  MPI_T_finalize();
  return on;
}

bool several_threads() {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  return level == MPI_THREAD_MULTIPLE;
}

#else
constexpr bool open_mpi = false;
bool several_threads() { return true; }
bool is_on() { return false; }
#endif

// Sets parameters of OMPIO in the environment unless they are set. They take effect only before the program opens its
// first file, so this is called before each open. One parameter disables sieving. With MPI_THREAD_MULTIPLE OMPIO does
// not sieve; another parameter then keeps its collective calls from using non-blocking ones, which fail with two
// threads (docs/reproducers/two_threads.c).
void set_ompio_parameters() {
  if (several_threads())
    ::setenv("OMPI_MCA_fcoll_vulcan_async_io", "2", 0);
  else
    ::setenv("OMPI_MCA_fbtl_posix_write_datasieving", "0", 0);
}

bool sieves() {
  if (several_threads()) return false;
  set_ompio_parameters();
  static const bool on = is_on();
  return on;
}

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

void warn(HintsOutcome* outcome, std::string text) {
  if (outcome == nullptr) return;
  auto& all = outcome->warnings;
  if (std::find(all.begin(), all.end(), text) == all.end()) all.push_back(std::move(text));
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

Result<Hints> hints_for_writing(const Communicator& comm, Hints hints, HintsOutcome* outcome) {
  if (comm->size() == 1) return hints;
  const auto [own, added] = hints.emplace("romio_ds_write", "disable");
  if (!added && own->second != "disable")
    warn(outcome, "hint romio_ds_write=" + own->second +
                      " lets ranks undo what others write beside them under ROMIO: see docs/known-faults.md");
  int64_t any = sieves() ? 1 : 0;
  PENSTOCK_TRY(comm->all_reduce_max(std::span(&any, 1)));
  if (any == 0) return hints;
  hints.insert_or_assign("cb_nodes", std::string("1"));
  warn(outcome,
       std::string("cb_nodes=1 under OMPIO, whose data sieving loses elements where several ranks write: start with "
                   "--mca ") +
           parameter + " 0 to have them all");
  return hints;
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
