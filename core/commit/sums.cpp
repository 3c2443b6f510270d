// CommitSums: decides which datasets are summed and by which rank, and forms the record on rank 0.
#include "core/commit/sums.hpp"

#include <algorithm>
#include <chrono>
#include <system_error>
#include <thread>

#include "core/access/here.hpp"
#include "core/access/record.hpp"
#include "core/base/crc64.hpp"
#include "core/commit/errors.hpp"
#include "core/commit/moving.hpp"
#include "core/commit/proof.hpp"
#include "core/methods/dataset_options.hpp"

namespace penstock {
namespace {

// The sums of FILE for DATASET of the new one; null if it has none, or a different division into blocks.
const Record::Sums* published_sums(const Published& file, const Record& record, const Dataset& dataset,
                                   const BlockCut& cut) {
  const Dataset* old = file.contents.catalogue.find(dataset.name);
  const Record::Sums* sums = old == nullptr ? nullptr : record.find(*old);
  return sums != nullptr && cut.elements % sums->block_elements == 0 ? sums : nullptr;
}

// Of what was put. The record is not in its own sums.
bool has_sums(const CommitSums& sums, size_t dataset) {
  return (sums.summed.empty() || sums.summed[dataset]) && (sums.encoded.empty() || !sums.encoded[dataset]) &&
         sums.cuts[dataset].count > 0;
}

// DATASETS are those of CONTENTS, which may have given them away.
void sum_claims(std::span<const Dataset> datasets, NewContents& contents) {
  CommitSums& sums = contents.sums;
  BlockSummer summer;
  for (const Claim& claim : contents.claims) {
    const auto d = static_cast<size_t>(claim.dataset);
    if (has_sums(sums, d) && claim.supplier == nullptr)
      summer.add(claim.selection, claim.memory, bytes(datasets[d].type), sums.cuts[d], sums.sums);
  }
}

// Blocks of the published file are contained in those of the new one.
void add_published(const Record::Sums& old, const Dataset& dataset, const BlockCut& cut, std::span<uint64_t> sums) {
  const int64_t size = bytes(dataset.type), all = elements(dataset.shape);
  for (size_t i = 0; i < old.blocks.size(); ++i) {
    const int64_t begin = static_cast<int64_t>(i) * old.block_elements;
    const int64_t end = std::min(begin + old.block_elements, old.elements);
    const int64_t block = begin / cut.elements;
    const int64_t behind = std::min((block + 1) * cut.elements, all) - end;
    sums[static_cast<size_t>(cut.first + block)] ^=
        Crc64Zeros(behind * size).after(crc64_from_linear(old.blocks[i], (end - begin) * size));
  }
}

Record make_record(const Published* file, const Placed& placed, std::span<const int64_t> kept, CommitSums& sums) {
  Record record;
  record.committed_at = sums.committed_at;
  if (sums.in_file && !placed.heads.empty()) {
    record.metadata_bytes = placed.heads[0].bytes;
    record.metadata_sum = placed.heads[0].sum;
  }
  const std::vector<Dataset>& datasets = placed.contents.catalogue.datasets;
  for (size_t d = 0; d < datasets.size(); ++d) {
    const Dataset& dataset = datasets[d];
    const BlockCut& cut = sums.cuts[d];
    if (cut.count == 0) continue;
    Record::Sums of{crc64(std::as_bytes(std::span(dataset.name))), elements(dataset.shape), 0, {}};
    if (sums.summed[d]) {
      of.block_elements = cut.elements;
      if (kept[d] > 0) add_published(*published_sums(*file, sums.published, dataset, cut), dataset, cut, sums.sums);
      for (int64_t i = 0; i < cut.count; ++i)
        of.blocks.push_back(
            crc64_from_linear(sums.sums[static_cast<size_t>(cut.first + i)], block_bytes(dataset, cut, i)));
    }
    record.datasets.push_back(std::move(of));
  }
  return record;
}

int64_t nanoseconds_now() {
  using namespace std::chrono;
  return duration_cast<nanoseconds>(system_clock::now().time_since_epoch()).count();
}

}  // namespace

void plan_sums(const Target& target, const Plan& plan, NewContents& contents) {
  CommitSums& sums = contents.sums;
  sums.wanted = !target.method.folders && plan.settings.word("checksums") != "none";
  if (!sums.wanted) return;
  sums.lossy = !contents.rounded.empty() || allows_errors(plan.settings) ||
               std::ranges::any_of(contents.dataset_options,
                                   [&](const auto& own) { return allows_errors(encoding_settings(plan, own.second)); });
  int64_t total = 0;
  for (const Dataset& dataset : contents.catalogue.datasets) total += bytes(dataset);
  sums.cuts = cut_blocks(contents.catalogue);
  sums.sums.resize(static_cast<size_t>(block_count(sums.cuts)));
  sums.early = target.method.at_once || sums_come_first(total, target.comm->size());
  sums.in_file = !target.set;
  if (!sums.in_file) return;
  const Dims shape{record_words(sums.cuts)};
  const size_t at = insert_dataset(contents, {std::string(record_name), {Kind::u64}, shape});
  sums.cuts.insert(sums.cuts.begin() + static_cast<std::ptrdiff_t>(at), {1, 0, 0});
  if (target.comm->rank() == 0) sums.words.resize(static_cast<size_t>(shape[0]));
}

// Sums add up only if no element is put twice, and the data in holes of a changed file is unknown.
Status find_summed(const Target& target, const Published* file, const Tiling& tiling, NewContents& contents) {
  CommitSums& sums = contents.sums;
  if (!sums.wanted) return {};
  const std::vector<Dataset>& datasets = contents.catalogue.datasets;
  const std::vector<int64_t>& kept = contents.kept;
  sums.summed = tiling.whole;
  if (std::ranges::none_of(kept, [](int64_t n) { return n > 0; })) return {};
  std::vector<int64_t> unknown(datasets.size());
  for (const Claim& claim : contents.claims)
    if (claim.selection.count() > 0 && claim.selection.first() < kept[static_cast<size_t>(claim.dataset)])
      unknown[static_cast<size_t>(claim.dataset)] = 1;
  if (target.comm->rank() == 0) {
    auto record = load_record(file->contents, file->path, target.storage);
    if (record.ok()) sums.published = *std::move(record);
    for (size_t d = 0; d < kept.size(); ++d)
      if (kept[d] > 0 && !published_sums(*file, sums.published, datasets[d], sums.cuts[d])) unknown[d] = 1;
  }
  PENSTOCK_TRY(target.comm->all_reduce_max(unknown));
  for (size_t d = 0; d < kept.size(); ++d)
    if (kept[d] > 0) sums.summed[d] = tiling.beyond[d] && unknown[d] == 0;
  return {};
}

std::span<uint64_t> sum_at_once(NewContents& contents) {
  CommitSums& sums = contents.sums;
  sums.added_up = sums.wanted && sums.early && !contents.options.supplied && !sums.lossy;
  if (!sums.added_up) return {};
  sum_claims(contents.catalogue.datasets, contents);
  return sums.sums;
}

void start_sums(const Target& target, Moving& moving, bool background) {
  if (!moving.contents.sums.wanted || moving.contents.sums.added_up) return;
  const auto sum = [&moving] { sum_claims(moving.output.placed.contents.catalogue.datasets, moving.contents); };
  if (background && target.comm->threads_allowed()) {
    try {
      moving.summing = std::thread(sum);
      return;
    } catch (const std::system_error&) {  // no thread available
    }
  }
  sum();
}

Status add_up_sums(const Target& target, const Published* file, Moving& moving) {
  CommitSums& sums = moving.contents.sums;
  if (!sums.wanted) return {};
  moving.end_summing();
  if (!sums.added_up && !sums.sums.empty())
    PENSTOCK_TRY(
        target.comm->all_reduce_xor(std::span(reinterpret_cast<int64_t*>(sums.sums.data()), sums.sums.size())));
  if (target.comm->rank() > 0) return {};
  sums.committed_at = nanoseconds_now();
  Placed& placed = moving.output.placed;
  std::vector<uint64_t> words = encode(make_record(file, placed, moving.contents.kept, sums));
  if (sums.in_file) {
    std::ranges::copy(words, sums.words.begin());
    return {};
  }
  placed.contents.record = std::move(words);
  // Parity has sums of whole files.
  if (!target.parity && std::ranges::any_of(placed.heads, [](const auto& head) { return head.bytes > 0; }))
    placed.contents.heads = std::move(placed.heads);
  return {};
}

Status place_record(const Target& target, Moving& moving) {
  CommitSums& sums = moving.contents.sums;
  if (!sums.wanted || !sums.in_file) return {};
  const Contents& contents = moving.output.placed.contents;
  const std::string& path = moving.output.partial;
  if (!sums.early) {
    const Claim claim{contents.catalogue.index_of(record_name), Selection::whole(Dims{std::ssize(sums.words)}),
                      reinterpret_cast<std::byte*>(sums.words.data())};
    PENSTOCK_TRY(write_here(contents, std::span(&claim, 1), target.storage));
    if (target.durable) PENSTOCK_TRY(sync_file(*target.storage, path));
  }
  // If a file system cannot, later findings cannot be distinguished from edits of other tools: not an error.
  (void)target.storage->set_time(path, sums.committed_at);
  return {};
}

}  // namespace penstock
