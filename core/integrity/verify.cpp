// Verify: reads blocks of the published file, each once, by all ranks together, and compares them with their
// checksums.
#include "core/integrity/verify.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/access/here.hpp"
#include "core/access/record.hpp"
#include "core/base/crc64.hpp"
#include "core/base/guarded.hpp"
#include "core/comm/share.hpp"
#include "core/integrity/files.hpp"

namespace penstock {
namespace {

constexpr int64_t max_read = 8 << 20;  // at once

struct BlockId {
  size_t dataset = 0;
  int64_t index = 0;
};

struct Finding {
  BlockId block;
  std::string why;
};

const Dataset& dataset_of(const Published& file, const BlockId& block) {
  return file.contents.catalogue.datasets[block.dataset];
}

int64_t bytes_of(const Published& file, const BlockId& block) {
  return block_bytes(dataset_of(file, block), file.checking->cuts[block.dataset], block.index);
}

size_t number_of(const Checking& checking, const BlockId& block) {
  return static_cast<size_t>(checking.cuts[block.dataset].first + block.index);
}

// Collective. The record, on all ranks. If there is none: an empty one with OR_NONE, otherwise an error.
Status load_checking(const Target& target, Published& file, bool or_none = false) {
  if (file.checking) return {};
  const auto message = from_rank_0(target.comm, [&](Encoder& out) -> Status {
    auto record = load_record(file.contents, file.path, target.storage);
    if (record.status().code() == Code::not_found && or_none) record = Record{};
    PENSTOCK_TRY(record.status());
    out.list(std::span<const uint64_t>(encode(*record)));
    return {};
  });
  PENSTOCK_TRY(message.status());
  Decoder in(*message);
  auto checking = std::make_unique<Checking>();
  PENSTOCK_ASSIGN(checking->record, decode_record(in.list<uint64_t>()));
  int64_t first = 0;
  for (const Dataset& dataset : file.contents.catalogue.datasets) {
    const Record::Sums* sums = checking->record.find(dataset);
    checking->sums.push_back(sums);
    checking->cuts.push_back(sums == nullptr ? BlockCut{1, first, 0}
                                             : BlockCut{sums->block_elements, first, std::ssize(sums->blocks)});
    first += checking->cuts.back().count;
  }
  checking->good.assign(static_cast<size_t>(first), false);
  file.checking = std::move(checking);
  return {};
}

// Blocks to read at once, or a piece of a long block.
class Reader {
 public:
  Reader(const Target& target, const Published& file, std::vector<Finding>& findings)
      : target_(target), file_(file), findings_(findings) {}

  void check(const BlockId& block) {
    const int64_t size = bytes_of(file_, block);
    if (size > max_read) return check_long(block);
    if (bytes_ + size > max_read) flush();
    blocks_.push_back(block);
    bytes_ += size;
  }

  void flush() {
    if (blocks_.empty()) return;
    std::vector<Claim> claims;
    buffer_.resize(static_cast<size_t>(bytes_));
    std::byte* at = buffer_.data();
    for (const BlockId& block : blocks_) {
      const BlockCut& cut = file_.checking->cuts[block.dataset];
      const int64_t size = bytes_of(file_, block);
      claims.push_back(claim(block, block.index * cut.elements, size / bytes(dataset_of(file_, block).type), at));
      at += size;
    }
    if (const Status status = read(claims); status.ok()) {
      for (size_t i = 0; i < blocks_.size(); ++i)
        compare(blocks_[i], crc64({claims[i].memory, static_cast<size_t>(bytes_of(file_, blocks_[i]))}));
    } else if (blocks_.size() == 1) {
      findings_.push_back({blocks_[0], status.message()});
    } else {  // find out which of them cannot be read
      for (const BlockId& block : std::exchange(blocks_, {})) check_long(block);
    }
    blocks_.clear();
    bytes_ = 0;
  }

 private:
  Claim claim(const BlockId& block, int64_t first, int64_t count, std::byte* memory) const {
    const Run run{first, count};
    return {static_cast<int>(block.dataset), Selection::of_runs(dataset_of(file_, block).shape, std::span(&run, 1)),
            memory};
  }

  Status read(std::span<const Claim> claims) {
    target_.comm->working(0);
    return read_here(file_.contents, file_.path, claims, target_.storage);
  }

  void check_long(const BlockId& block) {
    const BlockCut& cut = file_.checking->cuts[block.dataset];
    const int64_t size = bytes(dataset_of(file_, block).type), most = std::max<int64_t>(1, max_read / size);
    int64_t at = block.index * cut.elements;
    uint64_t sum = 0;
    for (const int64_t end = at + bytes_of(file_, block) / size; at < end; at += most) {
      const int64_t count = std::min(most, end - at);
      buffer_.resize(static_cast<size_t>(count * size));
      const Claim piece = claim(block, at, count, buffer_.data());
      if (const Status status = read(std::span(&piece, 1)); !status.ok()) {
        findings_.push_back({block, status.message()});
        return;
      }
      sum = crc64(buffer_, sum);
    }
    compare(block, sum);
  }

  void compare(const BlockId& block, uint64_t sum) {
    if (sum != file_.checking->sums[block.dataset]->blocks[static_cast<size_t>(block.index)])
      findings_.push_back({block, ""});
  }

  const Target& target_;
  const Published& file_;
  std::vector<Finding>& findings_;
  std::vector<BlockId> blocks_;
  std::vector<std::byte> buffer_;
  int64_t bytes_ = 0;
};

// Collective. The blocks of LIST that differ from what was committed. LIST is the same on all ranks.
Result<std::vector<Finding>> find_damaged(const Target& target, Published& file, std::span<const BlockId> list,
                                          const std::function<void(double)>& progress) {
  __int128 total = 0, before = 0;
  for (const BlockId& block : list) total += bytes_of(file, block);
  const int rank = target.comm->rank(), ranks = target.comm->size();
  std::vector<Finding> mine;
  Reader reader(target, file, mine);
  const Status read = guarded([&]() -> Status {
    for (const BlockId& block : list) {
      if (before >= total * rank / ranks && before < total * (rank + 1) / ranks) {
        reader.check(block);
        if (progress && rank == 0) progress(static_cast<double>(before * ranks) / static_cast<double>(total));
      }
      before += bytes_of(file, block);
    }
    reader.flush();
    return {};
  });
  PENSTOCK_TRY(agree(target.comm, read));
  Encoder out;
  for (const Finding& finding : mine) {
    out.value(finding.block);
    out.text(finding.why);
  }
  PENSTOCK_ASSIGN(const auto message, from_all_ranks(target.comm, out.take()));
  std::vector<Finding> found;
  for (Decoder in(message); !in.done();) {
    const auto block = in.value<BlockId>();
    found.push_back({block, in.text()});
  }
  for (const BlockId& block : list) file.checking->good[number_of(*file.checking, block)] = true;
  for (const Finding& finding : found) file.checking->good[number_of(*file.checking, finding.block)] = false;
  return found;
}

// Adjacent blocks form one damage. FOUND is in file order.
std::vector<Damage> damages_of(const Published& file, std::span<const Finding> found) {
  std::vector<Damage> damages;
  for (const Finding& finding : found) {
    const Dataset& dataset = dataset_of(file, finding.block);
    const BlockCut& cut = file.checking->cuts[finding.block.dataset];
    const int64_t first = finding.block.index * cut.elements;
    const int64_t end = first + bytes_of(file, finding.block) / bytes(dataset.type);
    if (!damages.empty() && damages.back().dataset == dataset.name && damages.back().end == first &&
        damages.back().what == finding.why)
      damages.back().end = end;
    else
      damages.push_back({dataset.name, first, end, finding.why});
  }
  for (Damage& damage : damages) {
    const Dims& shape = file.contents.catalogue.find(damage.dataset)->shape;
    damage.what = fmt::format("'{}': elements {} to {} {}", damage.dataset, describe(coordinates(shape, damage.first)),
                              describe(coordinates(shape, damage.end - 1)),
                              damage.what.empty() ? "are not what was committed" : "cannot be read: " + damage.what);
  }
  return damages;
}

// Rank 0. Whether the bytes before the data, or a set's index, are unchanged.
Result<bool> metadata_agree(const Target& target, const Published& file, const Record& record) {
  if (file.contents.altered) return false;
  if (record.metadata_bytes <= 0) return true;
  PENSTOCK_ASSIGN(const FileStat info, target.storage->stat(file.path));
  if (record.metadata_bytes > info.bytes) return false;
  std::vector<std::byte> bytes(static_cast<size_t>(record.metadata_bytes));
  PENSTOCK_ASSIGN(auto opened, target.storage->open(file.path, Io::buffered, false));
  PENSTOCK_TRY(opened->read(0, bytes));
  return crc64(bytes) == record.metadata_sum;
}

bool is_single(const Published& file) { return file.contents.parts.size() == 1 && file.contents.parts[0] == file.path; }

// Collective. The files, numbered as in WrongFile, that were written after their commit. The time of a single file is
// set to that of its commit (place_record), as far as the file system stores it. The files of a set are written before
// its index.
Result<std::vector<int64_t>> find_written(const Target& target, const Published& file, const Record& record) {
  const Contents& contents = file.contents;
  std::vector<int64_t> written(contents.parts.size() + 1);
  PENSTOCK_TRY(on_rank_0(target.comm, [&]() -> Status {
    PENSTOCK_ASSIGN(const FileStat published, target.storage->stat(file.path));
    if (is_single(file)) {
      int64_t unit = 1;
      while (unit < 1'000'000'000 && published.changed_at % (unit * 10) == 0) unit *= 10;
      written[0] = published.changed_at / unit != record.committed_at / unit;
      return {};
    }
    for (size_t i = 0; i < contents.parts.size() + (contents.parity ? 1 : 0); ++i) {
      const auto info = target.storage->stat(path_of(contents, static_cast<int32_t>(i)));
      written[i] = info.ok() && info->changed_at > published.changed_at;
    }
    return {};
  }));
  PENSTOCK_TRY(target.comm->all_reduce_max(written));
  return written;
}

// The parts that hold elements of DAMAGE.
std::vector<int32_t> parts_of(const Contents& contents, const Damage& damage) {
  std::vector<int32_t> parts;
  if (const auto listed = contents.listed.find(damage.dataset); listed != contents.listed.end())
    parts.push_back(listed->second.part);
  for (const StoredBlock& block : contents.blocks[static_cast<size_t>(contents.catalogue.index_of(damage.dataset))])
    if (block.where.count_below(damage.end) > block.where.count_below(damage.first)) parts.push_back(block.part);
  return parts;
}

// The findings that cannot be an edit, by the times of the files.
std::vector<std::string> find_not_meant(const Published& file, const Verification& found,
                                        std::span<const WrongFile> wrong, std::span<const int64_t> written) {
  const Contents& contents = file.contents;
  const bool single = is_single(file);
  std::vector<std::string> list;
  for (const WrongFile& one : wrong)
    if (written[static_cast<size_t>(one.file)] == 0)
      list.push_back(fmt::format("'{}': {}", path_of(contents, one.file), one.why));
  for (const Damage& damage : found.damages) {
    if (single && written[0] != 0) break;
    const auto parts = single ? std::vector<int32_t>() : parts_of(contents, damage);
    if (contents.parity) {
      if (std::ranges::none_of(parts, [&](int32_t p) { return std::ranges::count(wrong, p, &WrongFile::file) > 0; }))
        list.push_back(damage.what + ", though its files are: the index itself is at fault");
    } else if (std::ranges::none_of(parts, [&](int32_t p) { return written[static_cast<size_t>(p)] != 0; })) {
      list.push_back(damage.what);
    }
  }
  if (found.metadata_differ && !found.modified) list.emplace_back("the header or index is not what was committed");
  return list;
}

}  // namespace

Status Verification::verdict(const std::string& path) const {
  const std::string since = modified ? "was damaged, or modified by another tool, since its commit" : "is damaged";
  if (damages.empty() && !metadata_differ && files.empty() && lost.empty()) return {};
  const std::string first = !lost.empty()      ? lost[0]
                            : !damages.empty() ? damages[0].what
                            : metadata_differ  ? "the header or index is not what was committed"
                                               : files[0];
  const std::string more = damages.size() > 1 ? fmt::format(" (and {} more such places)", damages.size() - 1) : "";
  const std::string remedy = rebuildable ? fmt::format("; it can be rebuilt: 'penstock verify --repair {}'", path) : "";
  return {Code::damaged, fmt::format("{}{}: '{}' {}{}", first, more, path, since, remedy)};
}

Result<Verification> verify(Target& target, Published& file, const std::function<void(double)>& progress) {
  PENSTOCK_TRY(refresh(target, file));
  PENSTOCK_TRY(load_checking(target, file, file.contents.parity.has_value()));
  const Checking& checking = *file.checking;
  Verification result;
  for (const Contents::Lost& part : file.contents.lost) {
    result.lost.push_back(part.why.message());
    result.lost.insert(result.lost.end(), part.boxes.begin(), part.boxes.end());
  }
  std::vector<BlockId> all;
  for (size_t d = 0; d < checking.cuts.size(); ++d) {
    const Dataset& dataset = file.contents.catalogue.datasets[d];
    for (int64_t i = 0; i < checking.cuts[d].count; ++i) all.push_back({d, i});
    if (checking.cuts[d].count > 0 || file.contents.parity)
      result.bytes += bytes(dataset);
    else if (elements(dataset.shape) > 0)
      result.unchecked.push_back(dataset.name);
  }
  PENSTOCK_ASSIGN(const auto found, find_damaged(target, file, all, progress));
  result.damages = damages_of(file, found);
  PENSTOCK_ASSIGN(const auto written, find_written(target, file, checking.record));
  int64_t differ = 0, committed_at = checking.record.committed_at;
  PENSTOCK_TRY(on_rank_0(target.comm, [&]() -> Status {
    PENSTOCK_ASSIGN(const bool agrees, metadata_agree(target, file, checking.record));
    differ = !agrees;
    if (committed_at != 0) return {};
    PENSTOCK_ASSIGN(const FileStat index, target.storage->stat(file.path));  // of a set without checksums of data
    committed_at = index.changed_at;
    return {};
  }));
  PENSTOCK_TRY(target.comm->all_reduce_max(std::span(&differ, 1)));
  PENSTOCK_TRY(target.comm->all_reduce_max(std::span(&committed_at, 1)));
  result.committed_at = committed_at;
  result.metadata_differ = differ != 0;
  const auto parts = std::span(written).first(file.contents.parts.size());
  result.modified = file.contents.altered || std::ranges::any_of(parts, [](int64_t one) { return one != 0; });
  PENSTOCK_ASSIGN(const auto wrong, find_wrong_files(target, file.contents));
  for (const WrongFile& one : wrong)
    result.files.push_back(fmt::format("'{}': {}", path_of(file.contents, one.file), one.why));
  result.rebuildable = file.contents.parity && wrong.size() == 1;
  result.not_meant = find_not_meant(file, result, wrong, written);
  return result;
}

Status verify_claims(const Target& target, Published& file, std::span<const Dataset> wanted,
                     std::span<const Claim> claims, VerifyWhen when, std::vector<std::string>& warnings) {
  if (const Status loaded = load_checking(target, file); !loaded.ok()) {
    if (loaded.code() != Code::not_found) return loaded;
    warnings.push_back(loaded.message() + ": nothing is verified");
    return {};
  }
  const Checking& checking = *file.checking;
  struct Asked {
    const BlockCut* cut;
    size_t first;  // of its blocks among all that may be touched
  };
  std::vector<Asked> datasets;  // that some rank reads
  std::vector<BlockId> blocks;
  for (const Dataset& dataset : wanted) {
    const auto index = static_cast<size_t>(file.contents.catalogue.index_of(dataset.name));
    datasets.push_back({&checking.cuts[index], blocks.size()});
    for (int64_t i = 0; i < checking.cuts[index].count; ++i) blocks.push_back({index, i});
  }
  std::vector<int64_t> touched(blocks.size());
  for (const Claim& claim : claims) {
    const auto& [cut, first] = datasets[static_cast<size_t>(claim.dataset)];
    for (int64_t i = 0; i < cut->count; ++i)
      if (claim.selection.count_below((i + 1) * cut->elements) > claim.selection.count_below(i * cut->elements))
        touched[first + static_cast<size_t>(i)] = 1;
  }
  if (!touched.empty()) PENSTOCK_TRY(target.comm->all_reduce_max(touched));
  std::vector<BlockId> list;
  for (size_t n = 0; n < blocks.size(); ++n)
    if (touched[n] != 0 && !(when == VerifyWhen::first && checking.good[number_of(checking, blocks[n])]))
      list.push_back(blocks[n]);
  PENSTOCK_ASSIGN(const auto found, find_damaged(target, file, list, {}));
  Verification result;
  result.damages = damages_of(file, found);
  result.modified = true;  // as far as known here
  return result.verdict(target.path);
}

}  // namespace penstock
