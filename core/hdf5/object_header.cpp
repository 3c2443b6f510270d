// Object header: both forms, the old one without and the new one with a signature, as in the HDF5 specification.
#include "core/hdf5/object_header.hpp"

#include <algorithm>
#include <string_view>

namespace penstock::hdf5 {
namespace {

using Bytes = std::span<const std::byte>;

constexpr uint64_t fill_old = 4, fill = 5, layout = 8, filters = 11, continuation = 16;
constexpr uint64_t compact_layout = 0, chunked_layout = 2, virtual_layout = 3;
constexpr uint64_t usual_bytes = 1024;  // hold most headers
constexpr uint64_t checksum_bytes = 4;

bool begins(Bytes bytes, std::string_view signature) {
  return bytes.size() >= signature.size() &&
         std::ranges::equal(bytes.first(signature.size()), std::as_bytes(std::span(signature)));
}

class Reader {
 public:
  explicit Reader(const StoredBytes& file) : file_(file) {}

  ObjectHeader read(uint64_t address) {
    const auto start = file_.read_some(address, usual_bytes);
    if (!start.ok()) return {};
    uint64_t begin = 0, size = 0;
    if (begins(*start, "OHDR") && start->size() > 6) {
      const uint64_t flags = number(*start, 5, 1);
      const size_t width = size_t{1} << (flags & 3);
      begin = 6 + (flags & 0x20 ? 16 : 0) + (flags & 0x10 ? 4 : 0) + width;
      if (begin > start->size()) return {};
      size = number(*start, begin - width, width);
      has_order_ = (flags & 4) != 0;
      is_new_ = true;
    } else if (start->size() >= 16 && number(*start, 0, 1) == 1) {
      begin = 16;
      size = number(*start, 8, 4);
    }
    add_part({address + begin, size});
    for (size_t i = 0; i < parts_.size(); ++i) {
      const Part part = parts_[i];
      checked_ = i == 0 ? Part{address, begin + size + checksum_bytes} : part;
      if (i == 0 && begin + size <= start->size())
        read_messages(Bytes(*start).subspan(begin, size), part.address);
      else if (const auto bytes = file_.read(part.address, part.bytes); bytes.ok())
        read_messages(*bytes, part.address);
    }
    return std::move(header_);
  }

 private:
  struct Part {
    uint64_t address, bytes;
  };

  // BYTES, at ADDRESS.
  void read_messages(Bytes bytes, uint64_t address) {
    const uint64_t end = address + bytes.size();
    if (is_new_ && begins(bytes, "OCHK")) bytes = bytes.subspan(4);
    const size_t head = is_new_ ? (has_order_ ? 6 : 4) : 8;
    while (bytes.size() >= head) {
      const uint64_t type = is_new_ ? number(bytes, 0, 1) : number(bytes, 0, 2);
      const uint64_t size = is_new_ ? number(bytes, 1, 2) : number(bytes, 2, 2);
      if (size > bytes.size() - head) return;
      const bool is_shared = (number(bytes, is_new_ ? 3 : 4, 1) & 2) != 0;
      if (!is_shared)
        read_message(type, bytes.subspan(head, size), end - bytes.size() + head);
      else if (type == fill_old || type == fill)
        header_.fill_elsewhere = true;
      bytes = bytes.subspan(head + size);
    }
  }

  // BYTES are at PLACE.
  void read_message(uint64_t type, Bytes bytes, uint64_t place) {
    const size_t address = file_.address_bytes, length = file_.length_bytes;
    if (type == continuation && bytes.size() >= address + length)
      add_part({number(bytes, 0, address), number(bytes, address, length)});
    else if (type == layout && bytes.size() >= 4)
      read_layout(bytes);
    else if (type == fill_old)
      add_fill(bytes, 0);
    else if (type == fill && bytes.size() >= 2)
      read_fill(bytes);
    else if (type == filters && is_new_)
      read_filters(bytes, place);
  }

  void read_filters(Bytes bytes, uint64_t place) {
    constexpr uint64_t with_name = 256;
    if (bytes.size() < 2 || number(bytes, 0, 1) != 2) return;
    FilterList list{checked_.address, checked_.bytes, {}};
    size_t at = 2;
    for (uint64_t left = number(bytes, 1, 1); left > 0; --left) {
      if (bytes.size() < at + 8) return;
      list.numbers.push_back(place + at - checked_.address);
      const bool has_name = number(bytes, at, 2) >= with_name;
      const size_t name = has_name ? number(bytes, at + 2, 2) : 0;
      at += has_name ? 4 : 2;
      at += 4 + name + 4 * number(bytes, at + 2, 2);
    }
    header_.filters = std::move(list);
  }

  void read_layout(Bytes bytes) {
    const size_t address = file_.address_bytes;
    const uint64_t version = number(bytes, 0, 1), kind = number(bytes, version < 3 ? 2 : 1, 1);
    if (version >= 4 && kind == virtual_layout && bytes.size() >= 2 + address + 4)
      header_.mappings.push_back({0, number(bytes, 2, address), number(bytes, 2 + address, 4)});
    if (version == 3 && kind == chunked_layout && bytes.size() >= 3 + address)
      header_.chunk_index = number(bytes, 3, address);
    if (kind != compact_layout) return;
    const size_t width = version < 3 ? 4 : 2;  // of the size
    const size_t data = version < 3 ? 8 + 4 * number(bytes, 1, 1) + width : 2 + width;
    if (data > bytes.size()) return;  // the library refuses it
    header_.compact_bytes = number(bytes, data - width, width);
    header_.is_cut = header_.compact_bytes > bytes.size() - data;
  }

  void read_fill(Bytes bytes) {
    const uint64_t version = number(bytes, 0, 1);
    const bool there = version >= 3   ? (number(bytes, 1, 1) & 0x20) != 0
                       : version == 1 ? true
                                      : bytes.size() >= 4 && number(bytes, 3, 1) != 0;
    if (there) add_fill(bytes, version >= 3 ? 2 : 4);
  }

  void add_fill(Bytes bytes, size_t at) {
    if (bytes.size() < at + 4) return;
    const uint64_t size = number(bytes, at, 4);
    if (size == 0 || size > bytes.size() - at - 4) return;
    const Bytes value = bytes.subspan(at + 4, size);
    header_.fills.emplace_back(value.begin(), value.end());
  }

  // Parts that name each other come to an end: together they are no longer than the file.
  void add_part(Part part) {
    if (part.bytes == 0 || !file_.holds(part.address, part.bytes) || part.bytes > file_.end - parts_bytes_) return;
    parts_bytes_ += part.bytes;
    parts_.push_back(part);
  }

  const StoredBytes& file_;
  bool is_new_ = false, has_order_ = false;
  std::vector<Part> parts_;
  Part checked_{};  // the current one, with its signature and checksum
  uint64_t parts_bytes_ = 0;
  ObjectHeader header_;
};

bool is_undefined(uint64_t address, size_t bytes) { return address == ~uint64_t{0} >> (64 - 8 * bytes); }

}  // namespace

ObjectHeader read_header(const StoredBytes& file, uint64_t address) { return Reader(file).read(address); }

Status check_layout(const ObjectHeader& header, GlobalHeap& heap) {
  if (header.is_cut) return {Code::damaged, "its header is damaged and has only a part of it"};
  for (const HeapElement& mapping : header.mappings) {
    if (is_undefined(mapping.address, heap.file().address_bytes)) continue;  // there are none
    PENSTOCK_ASSIGN(const Bytes block, heap.object(mapping.address, mapping.index));
    if (block.size() < 4 || metadata_checksum(block.first(block.size() - 4)) != number(block.last(4)))
      return {Code::damaged, "its list of virtual sources in the global heap is damaged: the checksum differs"};
  }
  return {};
}

Status check_fills(const ObjectHeader& header, GlobalHeap& heap) {
  if (header.fill_elsewhere) return {Code::unsupported, "its fill value is shared with other objects"};
  for (const auto& value : header.fills) {
    if (value.size() != heap.element_bytes()) return {Code::damaged, "its fill value has a wrong size"};
    PENSTOCK_TRY(heap.text(heap.element(value)).status());
  }
  return {};
}

}  // namespace penstock::hdf5
