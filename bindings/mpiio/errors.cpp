// Errors: classes, and texts, of which MPI keeps a limited number.
#include "bindings/mpiio/errors.hpp"

#include <map>
#include <utility>

#include "bindings/mpiio/original.hpp"

namespace penstock::mpiio {

int class_of(Code code) {
  switch (code) {
    case Code::ok: return MPI_SUCCESS;
    case Code::invalid: return MPI_ERR_ARG;
    case Code::not_found: return MPI_ERR_NO_SUCH_FILE;
    case Code::exists: return MPI_ERR_FILE_EXISTS;
    case Code::denied: return MPI_ERR_ACCESS;
    case Code::no_space: return MPI_ERR_NO_SPACE;
    case Code::unsupported: return MPI_ERR_UNSUPPORTED_OPERATION;
    case Code::memory: return MPI_ERR_NO_MEM;
    case Code::internal: return MPI_ERR_INTERN;
    default: return MPI_ERR_IO;
  }
}

int error_code(const Status& status, int error_class) {
  constexpr size_t most = 64;
  static std::mutex mutex;
  static auto& codes = *new std::map<std::pair<int, std::string>, int>;
  if (error_class == MPI_SUCCESS) error_class = class_of(status.code());
#ifdef MPICH_NUMVERSION  // its own classes take no texts: they come out as those of other errors
  return error_class;
#endif
  if (status.ok()) return error_class;
  const std::string text = "penstock: " + status.message().substr(0, MPI_MAX_ERROR_STRING - 16);
  const std::lock_guard lock(mutex);
  const std::pair key(error_class, text);
  if (const auto known = codes.find(key); known != codes.end()) return known->second;
  if (codes.size() == most) return error_class;
  int code = MPI_SUCCESS, found = MPI_SUCCESS;
  const bool made = MPI_Add_error_code(error_class, &code) == MPI_SUCCESS &&
                    MPI_Error_class(code, &found) == MPI_SUCCESS && found == error_class &&
                    MPI_Add_error_string(code, text.c_str()) == MPI_SUCCESS;
  return codes[key] = made ? code : error_class;
}

int raise(File& file, const char* call, const Status& status, int error_class) {
  if (status.ok()) return MPI_SUCCESS;
  const Status told = status.in(call);
  file.statistics->fail(told.message());
  const int code = error_code(told, error_class);
  Inside::raise_behind(file.handle, code);
  return code;
}

}  // namespace penstock::mpiio
