// MpiRequest: begins and tests requests, and handles those that were not waited for.
#include "core/comm/mpi/request.hpp"

#include <algorithm>

#include "core/comm/mpi/native.hpp"
#include "core/comm/patience.hpp"

namespace penstock {

Status begin_message(Way way, std::span<std::byte> bytes, int peer, int tag, MPI_Comm comm,
                     std::vector<MPI_Request>& requests) {
  constexpr size_t max_bytes = size_t{1} << 30;  // of one MPI call
  do {
    const auto now = bytes.first(std::min(max_bytes, bytes.size()));
    const int length = static_cast<int>(now.size());
    MPI_Request& request = requests.emplace_back(MPI_REQUEST_NULL);
    if (way == Way::send)
      PENSTOCK_TRY(check_mpi(MPI_Isend(now.data(), length, MPI_BYTE, peer, tag, comm, &request), "MPI_Isend"));
    else
      PENSTOCK_TRY(check_mpi(MPI_Irecv(now.data(), length, MPI_BYTE, peer, tag, comm, &request), "MPI_Irecv"));
    bytes = bytes.subspan(now.size());
  } while (!bytes.empty());
  return {};
}

MpiRequest::MpiRequest(std::shared_ptr<const CommunicatorInterface> comm, std::vector<MPI_Request> requests, Way way)
    : comm_(std::move(comm)), requests_(std::move(requests)), way_(way) {}

MpiRequest::~MpiRequest() {
  for (MPI_Request& request : requests_)
    if (way_ == Way::receive && request != MPI_REQUEST_NULL) MPI_Cancel(&request);
  (void)wait_until([this] { return test(); }, *this, "a message that was given up");
}

Result<bool> MpiRequest::test() {
  int done = 0;
  PENSTOCK_TRY(check_mpi(MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &done, MPI_STATUSES_IGNORE),
                         "MPI_Testall"));
  return done != 0;
}

void MpiRequest::abandon() {
  for (MPI_Request& request : requests_)
    if (way_ == Way::send && request != MPI_REQUEST_NULL) MPI_Request_free(&request);
}

Result<double> MpiRequest::waited(double idle, std::string_view what) { return comm_->waited(idle, what); }

}  // namespace penstock
