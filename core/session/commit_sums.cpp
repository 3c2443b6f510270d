// CommitSums: decides which datasets are summed and by which rank, and forms the record on rank 0.
#include "core/session/commit_sums.hpp"

#include <algorithm>
#include <chrono>
#include <system_error>

#include "core/access/here.hpp"
#include "core/access/record.hpp"
#include "core/base/crc64.hpp"
#include "core/session/method.hpp"
#include "core/session/proof.hpp"
#include "core/session/writing.hpp"

namespace penstock {
namespace {

// The sums of the published file for DATASET of the new one; null if it has none, or a different division into blocks.
const Record::Sums* published_sums(const File::State& state, const Record& record, const Dataset& dataset,
                                   const BlockCut& cut) {
  const Dataset* old = state.file->contents.catalogue.find(dataset.name);
  const Record::Sums* sums = old == nullptr ? nullptr : record.find(*old);
  return sums != nullptr && cut.elements % sums->block_elements == 0 ? sums : nullptr;
}

// Collective. Sums add up only if no element is put twice, and the data in holes of a changed file is unknown.
Status find_summed(File::State& state, Writing& writing, CommitSums& sums) {
  const std::vector<int64_t>& kept = writing.target.kept;
  const size_t count = sums.datasets.size();
  const bool keeps = std::ranges::any_of(kept, [](int64_t n) { return n > 0; });
  sums.summed.assign(count, true);
  sums.anew.assign(count, true);
  if (!keeps && !state.partial) return {};

  const auto find = [&](std::span<const int64_t> from) {
    return find_tiled(state.target.comm, writing.target.catalogue, writing.resolved.claims, from, state.target.token);
  };
  PENSTOCK_ASSIGN(const std::vector<bool> whole, find(std::vector<int64_t>(count)));
  sums.summed = whole;
  if (!keeps) return {};
  PENSTOCK_ASSIGN(const std::vector<bool> beyond, find(kept));
  std::vector<int64_t> unknown(count);
  for (const Claim& claim : writing.resolved.claims)
    if (claim.selection.count() > 0 && claim.selection.first() < kept[static_cast<size_t>(claim.dataset)])
      unknown[static_cast<size_t>(claim.dataset)] = 1;
  if (state.target.comm->rank() == 0) {
    auto record = load_record(state.file->contents, state.file->path, state.target.storage);
    if (record.ok()) sums.published = *std::move(record);
    for (size_t d = 0; d < count; ++d)
      if (kept[d] > 0 && !published_sums(state, sums.published, sums.datasets[d], sums.cuts[d])) unknown[d] = 1;
  }
  PENSTOCK_TRY(state.target.comm->all_reduce_max(unknown));
  for (size_t d = 0; d < count; ++d) {
    if (kept[d] == 0 || whole[d]) continue;
    sums.anew[d] = false;
    sums.summed[d] = beyond[d] && unknown[d] == 0;
  }
  return {};
}

// The record takes its place by name, and later datasets are renumbered.
void add_record(File::State& state, Writing& writing, CommitSums& sums) {
  const Dims shape{record_words(sums.cuts)};
  const Dataset dataset{std::string(record_name), {Kind::u64}, shape};
  const int at = insert_dataset(writing.target, writing.resolved.claims, dataset);
  sums.datasets.insert(sums.datasets.begin() + at, dataset);
  sums.cuts.insert(sums.cuts.begin() + at, {1, 0, 0});
  sums.summed.insert(sums.summed.begin() + at, false);
  sums.anew.insert(sums.anew.begin() + at, true);
  if (state.target.comm->rank() > 0) return;
  sums.words.resize(static_cast<size_t>(shape[0]));
  writing.resolved.claims.push_back({at, Selection::whole(shape), reinterpret_cast<std::byte*>(sums.words.data())});
}

void sum_claims(const Resolved& resolved, CommitSums& sums) {
  for (const Claim& claim : resolved.claims) {
    const auto d = static_cast<size_t>(claim.dataset);
    if (sums.summed[d] && claim.supplier == nullptr)
      add_to_sums(claim.selection, claim.memory, bytes(sums.datasets[d].type), sums.cuts[d], sums.sums);
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

Record make_record(const File::State& state, const Output& output, CommitSums& sums) {
  Record record;
  record.committed_at = sums.committed_at;
  if (sums.in_file && !output.placed.heads.empty()) {
    record.metadata_bytes = output.placed.heads[0].bytes;
    record.metadata_sum = output.placed.heads[0].sum;
  }
  for (size_t d = 0; d < sums.datasets.size(); ++d) {
    const Dataset& dataset = sums.datasets[d];
    const BlockCut& cut = sums.cuts[d];
    if (cut.count == 0) continue;
    Record::Sums of{crc64(std::as_bytes(std::span(dataset.name))), elements(dataset.shape), 0, {}};
    if (sums.summed[d]) {
      of.block_elements = cut.elements;
      if (!sums.anew[d]) add_published(*published_sums(state, sums.published, dataset, cut), dataset, cut, sums.sums);
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

Status plan_sums(File::State& state, Writing& writing) {
  CommitSums& sums = writing.sums;
  const bool readable = !state.target.method.folders;
  sums.wanted = readable && state.plan.settings.word("checksums") != "none";
  if (!sums.wanted) return {};
  sums.datasets = writing.target.catalogue.datasets;
  sums.cuts = cut_blocks(writing.target.catalogue);
  sums.sums.resize(static_cast<size_t>(block_count(sums.cuts)));
  PENSTOCK_TRY(find_summed(state, writing, sums));
  int64_t total = 0;
  for (const Dataset& dataset : sums.datasets) total += bytes(dataset);
  sums.early = state.target.method.at_once || sums_come_first(total, state.target.comm->size());
  sums.in_file = !state.target.set;
  if (sums.in_file) add_record(state, writing, sums);
  return {};
}

void start_sums(File::State& state, Writing& writing, bool behind) {
  CommitSums& sums = writing.sums;
  if (!sums.wanted) return;
  const auto sum = [&resolved = writing.resolved, &sums] { sum_claims(resolved, sums); };
  if (behind && state.target.comm->threads_allowed()) {
    try {
      sums.thread = std::thread(sum);
      return;
    } catch (const std::system_error&) {  // no thread available
    }
  }
  sum();
}

Status add_up_sums(File::State& state, Writing& writing) {
  CommitSums& sums = writing.sums;
  if (!sums.wanted) return {};
  sums.wait();
  if (!sums.sums.empty())
    PENSTOCK_TRY(
        state.target.comm->all_reduce_xor(std::span(reinterpret_cast<int64_t*>(sums.sums.data()), sums.sums.size())));
  if (state.target.comm->rank() > 0) return {};
  sums.committed_at = nanoseconds_now();
  std::vector<uint64_t> words = encode(make_record(state, writing.output, sums));
  if (sums.in_file) {
    std::ranges::copy(words, sums.words.begin());
    return {};
  }
  Contents& contents = writing.output.placed.contents;
  contents.record = std::move(words);
  // Parity has sums of whole files.
  if (!state.target.parity &&
      std::ranges::any_of(writing.output.placed.heads, [](const auto& head) { return head.bytes > 0; }))
    contents.heads = std::move(writing.output.placed.heads);
  return {};
}

Status sum_now(File::State& state, Writing& writing) {
  start_sums(state, writing, false);
  return add_up_sums(state, writing);
}

Status place_record(File::State& state, Writing& writing) {
  CommitSums& sums = writing.sums;
  if (!sums.wanted || !sums.in_file) return {};
  const Contents& contents = writing.output.placed.contents;
  if (!sums.early) {
    const Claim claim{contents.catalogue.index_of(record_name), Selection::whole(Dims{std::ssize(sums.words)}),
                      reinterpret_cast<std::byte*>(sums.words.data())};
    PENSTOCK_TRY(write_here(contents, std::span(&claim, 1), state.target.storage));
    if (state.target.durable) {
      PENSTOCK_ASSIGN(auto file, state.target.storage->open(writing.output.partial, Io::buffered, true));
      PENSTOCK_TRY(file->sync());
      PENSTOCK_TRY(file->close());
    }
  }
  // If a file system cannot, later findings cannot be distinguished from edits of other tools: not an error.
  (void)state.target.storage->set_time(writing.output.partial, sums.committed_at);
  return {};
}

}  // namespace penstock
