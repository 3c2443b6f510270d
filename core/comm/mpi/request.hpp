// MpiRequest: the MPI requests of one logical message.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <penstock/communicator.hpp>

namespace penstock {

enum class Way : uint8_t { send, receive };

// Appends to REQUESTS those of a message of BYTES, which are only read to send them: one for each GiB, at least one.
Status begin_message(Way way, std::span<std::byte> bytes, int peer, int tag, MPI_Comm comm,
                     std::vector<MPI_Request>& requests);

class MpiRequest : public Request::State {
 public:
  // REQUESTS belong to COMM.
  MpiRequest(std::shared_ptr<const CommunicatorInterface> comm, std::vector<MPI_Request> requests, Way way);
  // A receive that is given up after a failure may never be matched. It is cancelled, so that nobody waits for it;
  // requests that still do not end within the limit are left to MPI.
  ~MpiRequest() override;
  MpiRequest(const MpiRequest&) = delete;
  MpiRequest& operator=(const MpiRequest&) = delete;

  Result<bool> test() override;
  void abandon() override;
  Result<double> waited(double idle, std::string_view what) override;

 private:
  std::shared_ptr<const CommunicatorInterface> comm_;
  std::vector<MPI_Request> requests_;
  Way way_;
};

}  // namespace penstock
