// Seal: new checksums for a file that another tool changed on purpose.
#include "core/integrity/repair.hpp"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "core/access/here.hpp"
#include "core/base/crc64.hpp"
#include "core/base/guarded.hpp"
#include "core/comm/calling.hpp"
#include "core/comm/share.hpp"
#include "core/integrity/files.hpp"
#include "core/integrity/parity.hpp"
#include "core/storage/owner.hpp"

namespace penstock {
namespace {

// The present checksums of a file's data.
struct RenewedSums {
  std::vector<BlockCut> cuts;    // of each dataset
  std::vector<uint64_t> blocks;  // of all cuts
};

// Local. The sum of one block of dataset D, read in pieces.
Result<uint64_t> sum_block(const Target& target, const Contents& contents, size_t d, const BlockCut& cut,
                           int64_t index) {
  const Dataset& dataset = contents.catalogue.datasets[d];
  const int64_t size = bytes(dataset.type), most = std::max<int64_t>(1, target.buffer_bytes / size);
  int64_t at = index * cut.elements;
  uint64_t sum = 0;
  std::vector<std::byte> buffer;
  for (const int64_t end = at + block_bytes(dataset, cut, index) / size; at < end; at += most) {
    const Run run{at, std::min(most, end - at)};
    buffer.resize(static_cast<size_t>(run.length * size));
    const Claim claim{static_cast<int>(d), Selection::of_runs(dataset.shape, std::span(&run, 1)), buffer.data()};
    target.comm->working(0);
    PENSTOCK_TRY(read_here(contents, contents.parts.empty() ? target.path : contents.parts[0], std::span(&claim, 1),
                           target.storage));
    sum = crc64(buffer, sum);
  }
  return sum;
}

// Collective. Each block is read by one rank.
Result<RenewedSums> sum_all(const Target& target, const Contents& contents) {
  RenewedSums sums{cut_blocks(contents.catalogue), {}};
  sums.blocks.resize(static_cast<size_t>(block_count(sums.cuts)));
  int64_t number = 0;
  const Status status = guarded([&]() -> Status {
    for (size_t d = 0; d < sums.cuts.size(); ++d)
      for (int64_t i = 0; i < sums.cuts[d].count; ++i) {
        if (!is_reader(target, static_cast<size_t>(number++), sums.blocks.size())) continue;
        PENSTOCK_ASSIGN(sums.blocks[static_cast<size_t>(sums.cuts[d].first + i)],
                        sum_block(target, contents, d, sums.cuts[d], i));
      }
    return {};
  });
  PENSTOCK_TRY(agree(target.comm, status));
  if (!sums.blocks.empty())
    PENSTOCK_TRY(
        target.comm->all_reduce_xor(std::span(reinterpret_cast<int64_t*>(sums.blocks.data()), sums.blocks.size())));
  return sums;
}

// Collective. The sums of the present headers of parts, with their former length. Each is read by one rank.
Result<std::vector<FileSum>> sum_heads(const Target& target, const Contents& contents) {
  const auto& parts = contents.parts;
  std::vector<FileSum> heads = contents.heads;
  std::vector<int64_t> sums(heads.size());
  PENSTOCK_TRY(agree(target.comm, guarded([&]() -> Status {
                       for (size_t p = 0; p < heads.size(); ++p) {
                         if (!is_reader(target, p, parts.size())) continue;
                         PENSTOCK_ASSIGN(auto file, target.storage->open(parts[p], Io::automatic, false));
                         PENSTOCK_ASSIGN(const uint64_t sum, sum_of_file(target, *file, heads[p].bytes));
                         sums[p] = static_cast<int64_t>(sum);
                       }
                       return {};
                     })));
  if (!sums.empty()) PENSTOCK_TRY(target.comm->all_reduce_xor(sums));
  for (size_t p = 0; p < heads.size(); ++p) heads[p].sum = static_cast<uint64_t>(sums[p]);
  return heads;
}

// At most ROOM words long; adds names of datasets that did not fit to LEFT_OUT. Datasets of OLD come first.
Record make_record(const Contents& contents, const RenewedSums& sums, const Record& old, int64_t room,
                   std::vector<std::string>& left_out) {
  Record record;
  using namespace std::chrono;
  record.committed_at = duration_cast<nanoseconds>(system_clock::now().time_since_epoch()).count();
  std::vector<bool> taken(sums.cuts.size());
  int64_t words = std::ssize(encode(record));
  const auto take = [&](bool only_old) {
    for (size_t d = 0; d < sums.cuts.size(); ++d) {
      const BlockCut& cut = sums.cuts[d];
      const Dataset& dataset = contents.catalogue.datasets[d];
      if (taken[d] || cut.count == 0 || (only_old && old.find(dataset) == nullptr)) continue;
      const BlockCut alone{cut.elements, 0, cut.count};
      const int64_t more = record_words(std::span(&alone, 1)) - record_words({});
      if (words + more > room) continue;
      words += more;
      taken[d] = true;
    }
  };
  take(true);
  take(false);
  for (size_t d = 0; d < sums.cuts.size(); ++d) {
    const BlockCut& cut = sums.cuts[d];
    const Dataset& dataset = contents.catalogue.datasets[d];
    if (cut.count > 0 && !taken[d]) left_out.push_back(dataset.name);
    if (!taken[d]) continue;
    const auto first = sums.blocks.begin() + cut.first;
    record.datasets.push_back({crc64(std::as_bytes(std::span(dataset.name))),
                               elements(dataset.shape),
                               cut.elements,
                               {first, first + cut.count}});
  }
  return record;
}

// Collective. Copies the file at the target's path, each rank its share; rank 0 creates the copy.
Status clone(const Target& target, const std::string& to, int64_t size) {
  const int64_t window = combine_window(target);
  return guarded([&]() -> Status {
    std::vector<std::byte> buffer(static_cast<size_t>(std::min(window, size)));
    PENSTOCK_ASSIGN(auto in, target.storage->open(target.path, Io::automatic, false));
    PENSTOCK_ASSIGN(auto out, target.storage->open(to, Io::buffered, true));
    for (int64_t at = window * target.comm->rank(); at < size; at += window * target.comm->size()) {
      const std::span<std::byte> piece(buffer.data(), static_cast<size_t>(std::min(window, size - at)));
      target.comm->working(0);
      PENSTOCK_TRY(in->read(at, piece));
      PENSTOCK_TRY(out->write(at, piece));
    }
    PENSTOCK_TRY(out->sync());
    return out->close();
  });
}

// Rank 0. Writes RECORD to its dataset in the file at PATH, and sets the file's time, which then shows that nobody
// wrote to it since.
Status write_record(const Target& target, const Contents& contents, const std::string& path, Record record,
                    const Record& old) {
  PENSTOCK_ASSIGN(const FileStat info, target.storage->stat(path));
  if (old.metadata_bytes > 0 && old.metadata_bytes <= info.bytes) {
    std::vector<std::byte> head(static_cast<size_t>(old.metadata_bytes));
    PENSTOCK_ASSIGN(auto file, target.storage->open(path, Io::buffered, false));
    PENSTOCK_TRY(file->read(0, head));
    record.metadata_bytes = old.metadata_bytes;
    record.metadata_sum = crc64(head);
  }
  std::vector<uint64_t> words = encode(record);
  words.resize(static_cast<size_t>(contents.record_words));
  Contents alone;
  alone.format = contents.format;
  alone.catalogue.datasets = {{std::string(record_name), {Kind::u64}, Dims{contents.record_words}}};
  alone.parts = {path};
  alone.blocks = {contents.record_blocks};
  alone.foreign = {false};
  const Claim claim{0, Selection::whole(Dims{contents.record_words}), reinterpret_cast<std::byte*>(words.data())};
  PENSTOCK_TRY(write_here(alone, std::span(&claim, 1), target.storage));
  PENSTOCK_TRY(sync_file(*target.storage, path));
  PENSTOCK_TRY(target.storage->permit_like(path, target.path));
  (void)target.storage->set_time(path, record.committed_at);
  return {};
}

// Collective. On failure OUTPUT.created lists the files to remove.
Status seal_single(const Target& target, const Published& file, const Record& old, Output& output, Sealed& sealed) {
  if (file.contents.record_foreign || file.contents.record_words <= 0)
    return {Code::unsupported, "its record of checksums is stored in a way in which only another library can write it"};
  int64_t size = 0, changed_at = 0;
  PENSTOCK_TRY(on_rank_0(target.comm, [&]() -> Status {
    PENSTOCK_ASSIGN(const FileStat info, target.storage->stat(target.path));
    changed_at = info.changed_at;
    PENSTOCK_ASSIGN(auto file, target.storage->create(output.partial, info.bytes, Io::buffered, true, target.access));
    output.created.push_back(output.partial);
    size = info.bytes;
    return file->close();
  }));
  PENSTOCK_TRY(target.comm->all_reduce_max(std::span(&size, 1)));
  PENSTOCK_TRY(agree(target.comm, clone(target, output.partial, size)));
  Contents cloned = file.contents;
  cloned.parts = {output.partial};
  PENSTOCK_ASSIGN(const RenewedSums sums, sum_all(target, cloned));
  const Record record = make_record(cloned, sums, old, file.contents.record_words, sealed.unchecked);
  return on_rank_0(target.comm, [&]() -> Status {
    PENSTOCK_TRY(write_record(target, file.contents, output.partial, record, old));
    PENSTOCK_ASSIGN(const FileStat info, target.storage->stat(target.path));
    if (info.bytes == size && info.changed_at == changed_at) return {};
    return {Code::mismatch,
            "somebody wrote to it while it was being sealed, which would be lost: seal it again when nobody does"};
  });
}

// Collective. Makes the data durable before its new sums are.
Status sync_parts(const Target& target, const Contents& contents) {
  const auto& parts = contents.parts;
  return agree(target.comm, guarded([&]() -> Status {
                 for (size_t p = 0; p < parts.size(); ++p) {
                   if (!is_reader(target, p, parts.size())) continue;
                   target.comm->working(0);
                   PENSTOCK_ASSIGN(auto file, target.storage->open(parts[p], Io::buffered, false));
                   PENSTOCK_TRY(file->sync());
                   PENSTOCK_TRY(file->close());
                 }
                 return {};
               }));
}

// Same for a set: the parts stay and get a new index. The future index file is created first, to mark the owner of the
// parity file.
Status seal_set(const Target& target, const Published& file, const Record& old, Output& output, Sealed& sealed) {
  PENSTOCK_TRY(on_rank_0(target.comm, [&]() -> Status {
    PENSTOCK_ASSIGN(auto file, target.storage->create(output.partial, 0, Io::buffered, false, target.access));
    output.created.push_back(output.partial);
    return file->close();
  }));
  PENSTOCK_TRY(sync_parts(target, file.contents));
  PENSTOCK_ASSIGN(const RenewedSums sums, sum_all(target, file.contents));
  output.placed.contents = file.contents;
  output.placed.contents.record = encode(make_record(output.placed.contents, sums, old, INT64_MAX, sealed.unchecked));
  PENSTOCK_ASSIGN(output.placed.contents.heads, sum_heads(target, file.contents));
  if (file.contents.parity) {
    std::vector<Source> mine;
    const auto& parts = file.contents.parts;
    for (size_t p = 0; p < parts.size(); ++p)
      if (is_reader(target, p, parts.size())) mine.push_back({parts[p]});
    PENSTOCK_TRY(make_parity(target, std::move(mine), parity_path(target, file.contents.generation), Io::buffered,
                             output.created, output.placed.contents));
  }
  return on_rank_0(target.comm, [&]() -> Status {
    PENSTOCK_TRY(write_master(target, output));
    for (const std::string& path : output.created) PENSTOCK_TRY(target.storage->permit_like(path, target.path));
    return target.storage->sync_directory(target.path);
  });
}

Status renew(Target& target, const Published& file, const Record& old, Sealed& sealed) {
  PENSTOCK_TRY(own_partial_files(target));
  target.access = Access::own;  // until they are like what they replace
  Output output;
  output.partial = partial_path(target);
  const bool single = file.contents.parts.size() == 1 && file.contents.parts[0] == target.path;
  Status status = single ? seal_single(target, file, old, output, sealed) : seal_set(target, file, old, output, sealed);
  if (status.ok()) status = publish_together(target.comm, [&] { return put_in_target(target, output); });
  if (!status.ok()) {
    if (status.code() != Code::in_doubt) remove_created(target, output);
    all_cleaned(target.comm, status);
    return status;
  }
  if (target.comm->rank() == 0 && file.contents.parity) (void)target.storage->remove(file.contents.parity->path);
  target.storage->free_removed_files();
  return {};
}

}  // namespace

Result<Sealed> seal(Target& target, const Published& file, const Result<Verification>& found, bool force) {
  const bool unreadable = found.status().code() == Code::damaged;
  if (!found.ok() && !(unreadable && force))
    return unreadable
               ? Status(Code::damaged, found.status().message() + ": 'penstock verify --seal --force' makes a new one")
               : found.status();
  Sealed sealed;
  if (found.ok()) {
    for (const Damage& damage : found->damages) sealed.found.push_back(damage.what);
    if (found->metadata_differ)
      sealed.found.emplace_back("the header before the data, or the index, is not as it was committed");
    sealed.found.insert(sealed.found.end(), found->files.begin(), found->files.end());
    sealed.unchecked = found->unchecked;
    if (sealed.found.empty() && (sealed.unchecked.empty() || !found->modified)) return sealed;
    if (!found->not_meant.empty() && !force)
      return Status(Code::damaged,
                    found->not_meant[0] +
                        ": nobody has written to it since its commit, so that this is damage and no change: bring back "
                        "a good copy, or seal it with --force if you know that it is as it should be");
  } else {
    sealed.found.push_back(found.status().message());
  }
  sealed.unchecked.clear();
  const Record old = file.checking ? file.checking->record : Record{};
  PENSTOCK_TRY(renew(target, file, old, sealed).in(fmt::format("sealing '{}'", target.path)));
  sealed.renewed = true;
  return sealed;
}

}  // namespace penstock
