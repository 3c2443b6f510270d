// Global heap: a collection is checked whole before anything of it is used, by us or by the library.
#include "core/hdf5/global_heap.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace penstock::hdf5 {
namespace {

constexpr uint64_t max_bytes = uint64_t{1} << 30;         // of a collection
constexpr uint64_t max_known_bytes = uint64_t{64} << 20;  // of collections in memory

constexpr uint64_t aligned(uint64_t bytes) { return (bytes + 7) / 8 * 8; }

Status damaged(uint64_t address, const std::string& what) {
  return {Code::damaged, fmt::format("its global heap at address {} is damaged: {}", address, what)};
}

// The library has no conversion from a list to bytes: this one leaves the bytes as they are.
herr_t keep_bytes(hid_t from, hid_t to, H5T_cdata_t* state, size_t, size_t, size_t, void*, void*, hid_t) {
  if (state->command == H5T_CONV_INIT && H5Tget_size(from) != H5Tget_size(to)) return -1;
  state->need_bkg = H5T_BKG_NO;
  return 0;
}

}  // namespace

HeapElement GlobalHeap::element(std::span<const std::byte> stored) const {
  const size_t width = file_.address_bytes;
  return {number(stored, 0, 4), number(stored, 4, width), number(stored, 4 + width, 4)};
}

Result<std::vector<HeapElement>> GlobalHeap::elements(size_t count,
                                                      const std::function<herr_t(hid_t type, void* out)>& read) const {
  const Type variable(H5Tvlen_create(H5T_NATIVE_UCHAR)), plain(H5Tcreate(H5T_OPAQUE, element_bytes()));
  constexpr const char* name = "penstock_elements";
  if (!variable.ok() || !plain.ok() || H5Tregister(H5T_PERS_SOFT, name, variable, plain, keep_bytes) < 0)
    return library_error(Code::internal, "making a type for stored elements");
  std::vector<std::byte> stored(count * element_bytes());
  const Status status = read(plain, stored.data()) < 0 ? library_error(Code::damaged, "reading it") : Status();
  H5Tunregister(H5T_PERS_SOFT, name, variable, plain, keep_bytes);
  PENSTOCK_TRY(status);
  std::vector<HeapElement> elements;
  elements.reserve(count);
  for (size_t i = 0; i < count; ++i)
    elements.push_back(element(std::span(stored).subspan(i * element_bytes(), element_bytes())));
  return elements;
}

Result<GlobalHeap::Collection> GlobalHeap::load(uint64_t address) const {
  const size_t head = aligned(8 + file_.length_bytes), object_head = head;
  auto start = file_.read(address, head);
  if (!start.ok()) return damaged(address, start.status().message());
  if (std::string_view(reinterpret_cast<const char*>(start->data()), 4) != "GCOL")
    return damaged(address, "no collection is there");
  if (const uint64_t version = number(*start, 4, 1); version != 1)
    return damaged(address, fmt::format("its version is {}", version));
  const uint64_t size = number(*start, 8, file_.length_bytes);
  if (size < head || !file_.holds(address, size))
    return damaged(address, fmt::format("a collection of {} bytes is not in the file", size));
  if (size > max_bytes)
    return Status(Code::unsupported,
                  fmt::format("its global heap has a collection of {} bytes, more than 1 GiB", size));
  Collection found;
  PENSTOCK_ASSIGN(found.bytes, file_.read(address, size));
  // A rest too small for an object is free.
  for (uint64_t at = head; size - at >= object_head;) {
    const uint64_t index = number(found.bytes, at, 2), bytes = number(found.bytes, at + 8, file_.length_bytes);
    const uint64_t room = size - at;
    const bool is_free = index == 0;  // the size of free space includes its head
    if (is_free ? bytes < object_head || bytes > room : bytes > room - object_head)
      return damaged(address, fmt::format("object {} has {} bytes", index, bytes));
    if (!is_free) found.objects.push_back({index, at + object_head, bytes});
    at += is_free ? bytes : std::min(room, object_head + aligned(bytes));
  }
  std::ranges::sort(found.objects, {}, &Object::index);
  const auto twice = std::ranges::adjacent_find(found.objects, {}, &Object::index);
  if (twice != found.objects.end()) return damaged(address, fmt::format("object {} is there twice", twice->index));
  return found;
}

Result<const GlobalHeap::Collection*> GlobalHeap::find(uint64_t address) {
  const auto next = known_.upper_bound(address);
  if (next != known_.begin()) {
    const auto& [begin, known] = *std::prev(next);
    if (begin == address) return &known;
    if (known.bytes.size() > address - begin) return damaged(address, "two collections overlap");
  }
  PENSTOCK_ASSIGN(Collection found, load(address));
  // Or a hostile file could have one at every byte.
  if (next != known_.end() && next->first - address < found.bytes.size())
    return damaged(address, "two collections overlap");
  if (known_bytes_ > max_known_bytes) {
    known_.clear();
    known_bytes_ = 0;
  }
  known_bytes_ += found.bytes.size();
  return &known_.emplace(address, std::move(found)).first->second;
}

Result<std::span<const std::byte>> GlobalHeap::object(uint64_t address, uint64_t index) {
  PENSTOCK_ASSIGN(const Collection* in, find(address));
  const auto found = std::ranges::lower_bound(in->objects, index, {}, &Object::index);
  if (found == in->objects.end() || found->index != index)
    return damaged(address, fmt::format("object {} is not there", index));
  return std::span(in->bytes).subspan(found->begin, found->bytes);
}

Result<std::span<const std::byte>> GlobalHeap::values(const HeapElement& element, size_t value_bytes) {
  if (element.address == 0 && element.index == 0 && element.length == 0) return std::span<const std::byte>();
  PENSTOCK_ASSIGN(const auto bytes, object(element.address, element.index));
  if (bytes.size() != element.length * value_bytes)
    return damaged(element.address, fmt::format("object {} has {} bytes instead of {}", element.index, bytes.size(),
                                                element.length * value_bytes));
  return bytes;
}

Result<std::string_view> GlobalHeap::text(const HeapElement& element) {
  PENSTOCK_ASSIGN(const auto bytes, values(element, 1));
  const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return all.substr(0, all.find('\0'));
}

}  // namespace penstock::hdf5
