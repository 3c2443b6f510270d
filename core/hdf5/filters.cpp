// Filters: HDF5's table of them, whose functions know neither their number nor any data of ours.
#include "core/hdf5/filters.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

#include "core/base/guarded.hpp"
#include "core/hdf5/decoding.hpp"

namespace penstock::hdf5 {
namespace {

constexpr size_t most = 8;
std::array<FilterDecoder, most> offered;
std::array<bool, most> registered{};
std::mutex offering;

// What a chunk may be while a Decoding lives, in bytes. Filters before ours may have made it a little larger.
struct Bounds {
  size_t shortest = 0;
  size_t longest = UINT32_MAX;  // of any chunk in HDF5
};
thread_local Bounds bounds;

// HDF5's contract: 0 is a failure, else *BUFFER holds so many bytes, and the old one is freed.
template <size_t slot>
size_t run(unsigned flags, size_t count, const unsigned* values, size_t bytes, size_t* size, void** buffer) {
  if ((flags & H5Z_FLAG_REVERSE) == 0) return 0;
  std::vector<std::byte> decoded;
  const FilteredChunk chunk{{static_cast<const std::byte*>(*buffer), bytes}, {values, count}, bounds.longest};
  const Status status = guarded([&] { return offered[slot].decode(chunk, decoded); });
  if (!status.ok() || decoded.empty() || decoded.size() < bounds.shortest) return 0;
  void* made = H5allocate_memory(decoded.size(), false);
  if (made == nullptr) return 0;
  std::memcpy(made, decoded.data(), decoded.size());
  H5free_memory(*buffer);
  *buffer = made;
  return *size = decoded.size();
}

template <size_t... slots>
constexpr std::array<H5Z_func_t, most> functions_of(std::index_sequence<slots...>) {
  return {&run<slots>...};
}
constexpr std::array<H5Z_func_t, most> functions = functions_of(std::make_index_sequence<most>());

}  // namespace

void offer_decoder(const FilterDecoder& decoder) {
  const std::lock_guard lock(offering);
  for (FilterDecoder& slot : offered) {
    if (slot.id == decoder.id) return;
    if (slot.decode != nullptr) continue;
    slot = decoder;
    return;
  }
}

bool can_decode(H5Z_filter_t filter) {
  unsigned config = 0;
  // Searches like the library when it reads.
  if (H5Zfilter_avail(filter) > 0)
    return H5Zget_filter_info(filter, &config) >= 0 && (config & H5Z_FILTER_CONFIG_DECODE_ENABLED) != 0;
  const std::lock_guard lock(offering);
  for (size_t slot = 0; slot < most; ++slot) {
    if (offered[slot].decode == nullptr || offered[slot].id != filter) continue;
    // As if it encoded, too: HDF5 makes no dataset with a filter that says no. Encoding then fails, chunk by chunk.
    const H5Z_class2_t entry{H5Z_CLASS_T_VERS, filter, 1, 1, offered[slot].name, nullptr, nullptr, functions[slot]};
    return registered[slot] = H5Zregister(&entry) >= 0;
  }
  return false;
}

bool can_encode(H5Z_filter_t filter) {
  unsigned config = 0;
  if (H5Zfilter_avail(filter) <= 0 || H5Zget_filter_info(filter, &config) < 0) return false;
  const std::lock_guard lock(offering);
  for (size_t slot = 0; slot < most; ++slot)
    if (registered[slot] && offered[slot].id == filter) return false;
  return (config & H5Z_FILTER_CONFIG_ENCODE_ENABLED) != 0;
}

Decoding::Decoding(hid_t creation, size_t element_bytes) {
  for (int i = 0; i < H5Pget_nfilters(creation); ++i) {
    unsigned flags = 0, config = 0;
    size_t values = 0;
    const H5Z_filter_t filter =
        H5Pget_filter2(creation, static_cast<unsigned>(i), &flags, &values, nullptr, 0, nullptr, &config);
    if (filter > H5Z_FILTER_NBIT) (void)can_decode(filter);
  }
  hsize_t extents[H5S_MAX_RANK];
  const int rank = H5Pget_layout(creation) == H5D_CHUNKED ? H5Pget_chunk(creation, H5S_MAX_RANK, extents) : 0;
  if (rank <= 0) return;
  size_t size = element_bytes;
  for (int i = 0; i < rank; ++i) size *= extents[i];
  bounds = {size, std::min<size_t>(2 * size + (64 << 10), UINT32_MAX)};
}

Decoding::~Decoding() { bounds = {}; }

}  // namespace penstock::hdf5
