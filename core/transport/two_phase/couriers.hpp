// Couriers: a few ranks of a node that carry its data to and from writers on other nodes. The data of all ranks of the
// node in one window of a writer is a parcel, one message (intra-node aggregation: Kang et al., "Improving MPI
// collective I/O for high volume non-contiguous requests with intra-node aggregation", IEEE TPDS 2020).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/comm/shared_memory.hpp"

namespace penstock {

// What a courier asks of a rank with elements in a parcel: to copy them between its memory and the parcel.
struct Errand {
  int64_t round = 0;
  int64_t place = 0;  // in the courier's outbox, of its elements or of an image of the window
  int32_t writer = 0;
  int32_t parcel = 0;  // its number among those in the outbox
  int32_t image = 0;   // whether it is one (Load)
};

// Outboxes in the node's shared memory, and the errands. All functions are local and never wait; the caller rings.
class Couriers {
 public:
  static constexpr int most_parcels = 32;  // in an outbox

  static int64_t control_bytes(size_t couriers, size_t ranks);

  Couriers() = default;  // none
  // Of the node's RANKS. CONTROL lies in MEMORY, zero when that was made; OUTBOXES too, of BYTES each. TAKEN: as in
  // NodeMemory; it must outlive this.
  Couriers(std::vector<int> couriers, std::vector<int> ranks, int rank, std::shared_ptr<SharedMemory> memory,
           std::byte* control, std::byte* outboxes, int64_t bytes, std::vector<uint32_t>& taken);

  const std::vector<int>& all() const { return couriers_; }
  const std::shared_ptr<SharedMemory>& memory() const { return memory_; }

  // For any rank of the node.
  struct Asked {
    int courier = 0;  // rank
    Errand errand;
    std::byte* data = nullptr;  // of this rank's elements
  };
  std::optional<Asked> next();
  void done(const Asked& asked);

  // For a courier.
  std::span<std::byte> outbox() const;  // empty if this rank is none
  void open(int parcel);
  void ask(int rank, const Errand& errand);
  int64_t done_with(int parcel) const;  // errands of it that are done

 private:
  struct Count;  // of the errands of a parcel that are done
  struct Queue;  // of errands, from one courier to one rank

  Count& count(size_t courier, int parcel) const;
  Queue& queue(size_t courier, size_t rank) const;

  std::vector<int> couriers_, ranks_;
  std::shared_ptr<SharedMemory> memory_;
  std::byte* control_ = nullptr;
  std::byte* outboxes_ = nullptr;
  int64_t bytes_ = 0;
  std::vector<uint32_t>* taken_ = nullptr;
  size_t place_ = 0;      // of this rank among RANKS
  int64_t courier_ = -1;  // its number among the couriers
};

}  // namespace penstock
