// Recognise: asks each format and engine; rank 0 reads, and all ranks get its answer.
#include "core/access/recognise.hpp"

#include <algorithm>
#include <array>
#include <mutex>

#include <fmt/format.h>

#include "core/codec/codec.hpp"
#include "core/comm/share.hpp"
#include "core/engine/engine.hpp"
#include "core/format/format.hpp"
#include "core/hdf5/filters.hpp"
#include "core/model/checksums.hpp"

namespace penstock {
namespace {

// The format of a file of BYTES bytes that begins with HEAD; null if none recognises it.
Result<const Format*> recognise(StorageFile& file, std::span<const std::byte> head, int64_t bytes) {
  for (const Format* format : formats())
    if (format->recognises(head)) return format;
  std::array<std::byte, 8> later;
  for (int64_t at = 512; at <= bytes - std::ssize(later); at *= 2) {
    PENSTOCK_TRY(file.read(at, later));
    for (const Format* format : formats())
      if (format->may_begin_later() && format->recognises(later)) return format;
  }
  return nullptr;
}

}  // namespace

void offer_decoders() {
  static std::once_flag done;
  std::call_once(done, [] {
    for (const Codec* codec : codecs())
      for (const FilterDecoder& decoder : codec->decoders())
        if (decoder.id > 255) hdf5::offer_decoder(decoder);  // the library has filters with lower numbers itself
  });
}

Result<Contents> recognise_and_read(Storage& storage, const std::string& path) {
  offer_decoders();
  if (const Engine* engine = recognising_engine(path)) return engine->contents(path);
  PENSTOCK_ASSIGN(const FileStat info, storage.stat(path));
  if (info.directory) return Status(Code::invalid, fmt::format("'{}' is a folder, not a file", path));
  if (!info.regular) return Status(Code::invalid, fmt::format("'{}' is no regular file", path));
  if (info.bytes == 0) return Status(Code::damaged, fmt::format("'{}' is empty (0 bytes)", path));
  std::vector<std::byte> head(static_cast<size_t>(std::min<int64_t>(512, info.bytes)));
  PENSTOCK_ASSIGN(auto file, storage.open(path, Io::buffered, false));
  PENSTOCK_TRY(file->read(0, head));
  PENSTOCK_ASSIGN(const Format* format, recognise(*file, head, info.bytes));
  PENSTOCK_TRY(file->close());
  if (format == nullptr)
    return Status(
        Code::damaged,
        fmt::format("'{}' is no file that penstock can read: neither HDF5, nor classic netCDF, nor the index of a set",
                    path));
  PENSTOCK_ASSIGN(Contents contents, format->read(path));
  take_record_apart(contents);
  return contents;
}

Result<Contents> read_contents(const Communicator& comm, Storage& storage, const std::string& path) {
  offer_decoders();
  PENSTOCK_ASSIGN(const auto bytes, from_rank_0(comm, [&](Encoder& out) -> Status {
                    PENSTOCK_ASSIGN(const Contents contents, recognise_and_read(storage, path));
                    out.list(std::span<const std::byte>(encode(contents)));
                    return {};
                  }));
  return decode_contents(Decoder(bytes).list<std::byte>());
}

}  // namespace penstock
