// Native: MPI objects, and what MPI says about itself.
#include "core/comm/mpi/native.hpp"

#include <fmt/format.h>

namespace penstock {
namespace {

Code code_of(int error) {
  int error_class = MPI_ERR_OTHER;
  MPI_Error_class(error, &error_class);
  switch (error_class) {
    case MPI_ERR_NO_SPACE:
    case MPI_ERR_QUOTA: return Code::no_space;
    case MPI_ERR_ACCESS:
    case MPI_ERR_READ_ONLY: return Code::denied;
    case MPI_ERR_NO_SUCH_FILE: return Code::not_found;
    case MPI_ERR_FILE_EXISTS: return Code::exists;
    case MPI_ERR_UNSUPPORTED_DATAREP:
    case MPI_ERR_UNSUPPORTED_OPERATION: return Code::unsupported;
    case MPI_ERR_NO_MEM: return Code::memory;
    default: return Code::io;
  }
}

}  // namespace

MPI_Comm native(const CommunicatorInterface& comm) {
  const auto* mpi = dynamic_cast<const MpiCommunicatorInterface*>(&comm);
  return mpi == nullptr ? MPI_COMM_SELF : mpi->native();
}

bool mpi_runs() {
  int initialised = 0, finalised = 0;
  MPI_Initialized(&initialised);
  MPI_Finalized(&finalised);
  return initialised && !finalised;
}

Status mpi_running() {
  if (mpi_runs()) return {};
  return {Code::invalid, "MPI is not running: call MPI_Init before, since this method is built on MPI"};
}

void* attribute_of(MPI_Comm comm, int key) {
  void* value = nullptr;
  int found = 0;
  const int error = MPI_Comm_get_attr(comm, key, static_cast<void*>(&value), &found);
  return error == MPI_SUCCESS && found ? value : nullptr;
}

Status check_mpi(int error, const char* call) {
  if (error == MPI_SUCCESS) return {};
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(error, text, &length);
  return {Code::io, fmt::format("{} failed: {}", call, std::string_view(text, static_cast<size_t>(length)))};
}

Status mpi_status(int error, const char* call) {
  const Status status = check_mpi(error, call);
  return status.ok() ? status : Status(code_of(error), status.message());
}

Info::Info(const Hints& hints) {
  if (hints.empty()) return;
  MPI_Info_create(&info_);
  for (const auto& [name, value] : hints)  // values that MPI cannot hold have no effect, as judge_hints reports
    if (!name.empty() && !value.empty() && name.size() < MPI_MAX_INFO_KEY && value.size() < MPI_MAX_INFO_VAL)
      MPI_Info_set(info_, name.c_str(), value.c_str());
}

Info::~Info() {
  if (info_ != MPI_INFO_NULL) MPI_Info_free(&info_);
}

Hints hints_in(MPI_Info info) {
  Hints hints;
  int count = 0;
  if (info != MPI_INFO_NULL) MPI_Info_get_nkeys(info, &count);
  for (int i = 0; i < count; ++i) {
    char key[MPI_MAX_INFO_KEY + 1] = "", value[MPI_MAX_INFO_VAL + 1] = "";
    int found = 0;
    MPI_Info_get_nthkey(info, i, key);
    MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &found);
    if (found) hints[key] = value;
  }
  return hints;
}

}  // namespace penstock
