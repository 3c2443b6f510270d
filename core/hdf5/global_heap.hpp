// Global heap: the collections in which HDF5 keeps strings and lists of variable length, and the mappings of virtual
// datasets. It is read here, because a damaged one makes libhdf5 hang or crash.
#pragma once

#include <functional>
#include <map>
#include <string_view>

#include "core/hdf5/stored_bytes.hpp"

namespace penstock::hdf5 {

// Where an element of variable length lies; all 0: it is empty.
struct HeapElement {
  uint64_t length = 0;  // in values
  uint64_t address = 0, index = 0;
};

class GlobalHeap {
 public:
  explicit GlobalHeap(const StoredBytes& file) : file_(file) {}

  const StoredBytes& file() const { return file_; }
  // Of an element in a dataset, an attribute or a fill value.
  size_t element_bytes() const { return 4 + file_.address_bytes + 4; }
  HeapElement element(std::span<const std::byte> stored) const;
  // The COUNT elements that READ has the library read as TYPE, in the form in which they are stored.
  Result<std::vector<HeapElement>> elements(size_t count,
                                            const std::function<herr_t(hid_t type, void* out)>& read) const;

  // These are valid until the next call, and Code::damaged if the heap is.
  Result<std::span<const std::byte>> object(uint64_t address, uint64_t index);
  // The values of ELEMENT, of VALUE_BYTES each.
  Result<std::span<const std::byte>> values(const HeapElement& element, size_t value_bytes);
  // Up to its first NUL.
  Result<std::string_view> text(const HeapElement& element);

 private:
  struct Object {
    uint64_t index, begin, bytes;
  };
  struct Collection {
    std::vector<std::byte> bytes;
    std::vector<Object> objects;  // by index
  };
  Result<Collection> load(uint64_t address) const;
  Result<const Collection*> find(uint64_t address);

  StoredBytes file_;
  std::map<uint64_t, Collection> known_;  // by address
  uint64_t known_bytes_ = 0;
};

}  // namespace penstock::hdf5
