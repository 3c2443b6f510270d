// Sieving: of ROMIO through a hint, of OMPIO through its MCA parameter; and OMPIO's other parameter.
#include "core/comm/mpi/sieving.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <span>

#include "core/comm/mpi/native.hpp"

namespace penstock {
namespace {

constexpr char parameter[] = "fbtl_posix_write_datasieving";

void warn(HintsOutcome* outcome, std::string text) {
  if (outcome == nullptr) return;
  auto& all = outcome->warnings;
  if (std::find(all.begin(), all.end(), text) == all.end()) all.push_back(std::move(text));
}

#ifdef OPEN_MPI

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

bool sieves() {
  if (several_threads()) return false;
  set_ompio_parameters();
  static const bool on = is_on();
  return on;
}

#else
bool several_threads() { return true; }
bool sieves() { return false; }
#endif

}  // namespace

void set_ompio_parameters() {
  if (several_threads())
    ::setenv("OMPI_MCA_fcoll_vulcan_async_io", "2", 0);
  else
    ::setenv("OMPI_MCA_fbtl_posix_write_datasieving", "0", 0);
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

}  // namespace penstock
