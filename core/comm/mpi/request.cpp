// MpiRequest: tests requests, and handles those that were not waited for.
#include "core/comm/mpi/request.hpp"

#include "core/comm/mpi/watch.hpp"
#include "core/comm/patience.hpp"

namespace penstock {

MpiRequest::MpiRequest(std::shared_ptr<const CommunicatorInterface> comm, std::vector<MPI_Request> requests,
                       bool receives)
    : comm_(std::move(comm)), requests_(std::move(requests)), receives_(receives) {}

MpiRequest::~MpiRequest() {
  for (MPI_Request& request : requests_)
    if (receives_ && request != MPI_REQUEST_NULL) MPI_Cancel(&request);
  Patience patience;
  while (true) {
    const auto done = test();
    if (!done.ok() || *done) return;
    if (!patience.wait(*this, "a message that was given up").ok()) return;
  }
}

Result<bool> MpiRequest::test() {
  int done = 0;
  PENSTOCK_TRY(check_mpi(MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &done, MPI_STATUSES_IGNORE),
                         "MPI_Testall"));
  return done != 0;
}

void MpiRequest::abandon() {
  for (MPI_Request& request : requests_)
    if (!receives_ && request != MPI_REQUEST_NULL) MPI_Request_free(&request);
}

Result<double> MpiRequest::waited(double idle, std::string_view what) { return comm_->waited(idle, what); }

}  // namespace penstock
