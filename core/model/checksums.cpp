// Checksums: contributions of pieces to block sums, and the words of the record.
#include "core/model/checksums.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "core/base/crc64.hpp"

namespace penstock {
namespace {

// On a big-endian machine the bytes of elements would have to be swapped first.
static_assert(std::endian::native == std::endian::little, "sums are over little-endian elements");

constexpr int64_t min_block = 1 << 20, max_of_one = 1 << 16, max_of_all = 1 << 18;
constexpr uint64_t magic = 0x314D555354534E50;  // "PNSTSUM1" as stored in the file
constexpr size_t head_words = 6, dataset_words = 3;

// Adds zeros between runs. Their number is usually the same as before, so powers of x are reused.
class Gaps {
 public:
  uint64_t after(uint64_t linear, int64_t bytes) {
    if (linear == 0 || bytes == 0) return linear;
    Crc64Zeros& zeros = known_[static_cast<size_t>(static_cast<uint64_t>(bytes) * 0x9E3779B97F4A7C15 >> 56)];
    if (zeros.bytes() != bytes) zeros = Crc64Zeros(bytes);
    return zeros.after(linear);
  }

 private:
  std::array<Crc64Zeros, 256> known_;
};

// Takes bytes of one dataset in ascending order, each once.
class Summer {
 public:
  Summer(int64_t block_bytes, int64_t end, std::span<uint64_t> sums) : size_(block_bytes), end_(end), sums_(sums) {}

  void add(int64_t at, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      if (at >= block_end_) enter(at / size_);
      linear_ = gaps_.after(linear_, at - at_);
      const auto here = static_cast<size_t>(std::min(std::ssize(bytes), block_end_ - at));
      linear_ = crc64_linear(bytes.first(here), linear_);
      at += static_cast<int64_t>(here);
      at_ = at;
      bytes = bytes.subspan(here);
    }
  }

  void finish() {
    if (block_ >= 0) sums_[static_cast<size_t>(block_)] ^= gaps_.after(linear_, block_end_ - at_);
    linear_ = 0;
  }

 private:
  void enter(int64_t block) {
    finish();
    block_ = block;
    at_ = block * size_;
    block_end_ = std::min(end_, at_ + size_);
  }

  int64_t size_, end_;
  std::span<uint64_t> sums_;
  Gaps gaps_;
  int64_t block_ = -1, block_end_ = 0;
  int64_t at_ = 0;  // the end of LINEAR
  uint64_t linear_ = 0;
};

void add_strided(Summer& summer, const Segment& segment, const std::byte* memory, int64_t size) {
  constexpr int64_t capacity = 4096;
  std::array<std::byte, capacity> buffer;
  const int64_t most = std::max<int64_t>(1, capacity / size);
  for (int64_t i = 0; i < segment.length;) {
    const std::byte* from = memory + (segment.memory + i * segment.stride) * size;
    if (size > capacity) {
      summer.add((segment.offset + i++) * size, {from, static_cast<size_t>(size)});
      continue;
    }
    const int64_t count = std::min(most, segment.length - i);
    for (int64_t k = 0; k < count; ++k)
      std::memcpy(buffer.data() + k * size, from + k * segment.stride * size, static_cast<size_t>(size));
    summer.add((segment.offset + i) * size, {buffer.data(), static_cast<size_t>(count * size)});
    i += count;
  }
}

}  // namespace

std::vector<BlockCut> cut_blocks(const Catalogue& catalogue) {
  std::vector<BlockCut> cuts(catalogue.datasets.size());
  int64_t count = 0;
  for (int64_t least = min_block;; least *= 2) {
    count = 0;
    for (size_t d = 0; d < cuts.size(); ++d) {
      const Dataset& dataset = catalogue.datasets[d];
      const int64_t all = dataset.name == record_name ? 0 : elements(dataset.shape);
      BlockCut& cut = cuts[d];
      cut.elements = std::max<int64_t>(1, min_block / bytes(dataset.type)) * (least / min_block);
      while (all / cut.elements >= max_of_one) cut.elements *= 2;
      cut.first = count;
      cut.count = (all + cut.elements - 1) / cut.elements;
      count += cut.count;
    }
    if (count <= std::max<int64_t>(max_of_all, 2 * std::ssize(cuts))) return cuts;
  }
}

int64_t block_count(std::span<const BlockCut> cuts) { return cuts.empty() ? 0 : cuts.back().first + cuts.back().count; }

int64_t block_bytes(const Dataset& dataset, const BlockCut& cut, int64_t index) {
  return std::min(cut.elements, elements(dataset.shape) - index * cut.elements) * bytes(dataset.type);
}

void add_to_sums(const Selection& selection, const std::byte* memory, int64_t element_bytes, const BlockCut& cut,
                 std::span<uint64_t> sums) {
  if (selection.count() == 0) return;
  Summer summer(cut.elements * element_bytes, elements(selection.shape()) * element_bytes,
                sums.subspan(static_cast<size_t>(cut.first), static_cast<size_t>(cut.count)));
  Cursor cursor(selection);
  for (Segment segment; cursor.next(segment);) {
    if (segment.stride == 1 || segment.length == 1)
      summer.add(segment.offset * element_bytes,
                 {memory + segment.memory * element_bytes, static_cast<size_t>(segment.length * element_bytes)});
    else
      add_strided(summer, segment, memory, element_bytes);
  }
  summer.finish();
}

namespace {

// Terms take twice the memory of 8-byte elements, so there is a limit.
bool makes_terms(const Selection& selection, int64_t element_bytes) {
  constexpr int64_t max_terms = 1 << 17, max_mean_bytes = 32;
  if (selection.is_box() || selection.count() == 0 || selection.count() > max_terms) return false;
  const bool has_words = element_bytes <= 8 && std::has_single_bit(static_cast<uint64_t>(element_bytes));
  return has_words && selection.count() * element_bytes <= max_mean_bytes * std::ssize(selection.runs());
}

}  // namespace

void BlockSummer::add(const Selection& selection, const std::byte* memory, int64_t element_bytes, const BlockCut& cut,
                      std::span<uint64_t> sums) {
  if (!makes_terms(selection, element_bytes)) return add_to_sums(selection, memory, element_bytes, cut, sums);
  constexpr size_t max_known = 4;
  const int64_t block_bytes = cut.elements * element_bytes;
  auto known = std::ranges::find_if(known_, [&](const Terms& terms) {
    return terms.selection.runs().data() == selection.runs().data() && terms.selection.shape() == selection.shape() &&
           terms.element_bytes == element_bytes && terms.block_bytes == block_bytes;
  });
  if (known == known_.end()) {
    if (known_.size() == max_known) known_.erase(known_.begin());
    known_.push_back(make_terms(selection, element_bytes, block_bytes));
    known = known_.end() - 1;
  }
  size_t begin = 0;
  for (const auto& [index, end] : known->blocks) {
    const auto terms = std::span<const Crc64Term>(known->list).subspan(begin, end - begin);
    sums[static_cast<size_t>(cut.first + index)] ^= crc64_of_terms(terms, memory, element_bytes);
    begin = end;
  }
}

BlockSummer::Terms BlockSummer::make_terms(const Selection& selection, int64_t element_bytes, int64_t block_bytes) {
  Terms terms{selection, element_bytes, block_bytes, {}, {}};
  std::vector<int64_t> places;  // of the terms, in bytes of the dataset
  for (const MemoryRun& run : selection.runs())
    for (int64_t i = 0; i < run.length; ++i) {
      const int64_t place = (run.offset + i) * element_bytes;
      const int64_t index = place / block_bytes;
      if (terms.blocks.empty() || terms.blocks.back().index != index) terms.blocks.push_back({index, 0});
      terms.list.push_back({(run.memory + i) * element_bytes, 0});
      terms.blocks.back().end = terms.list.size();
      places.push_back(place);
    }
  const int64_t all = elements(selection.shape()) * element_bytes;
  Gaps gaps;
  size_t begin = 0;
  for (const auto& [index, end] : terms.blocks) {
    int64_t last = std::min((index + 1) * block_bytes, all);
    uint64_t factor = Crc64Zeros(0).factor();
    for (size_t i = end; i-- > begin;) {
      factor = gaps.after(factor, last - places[i]);
      terms.list[i].factor = factor;
      last = places[i];
    }
    begin = end;
  }
  return terms;
}

const Record::Sums* Record::find(const Dataset& dataset) const {
  const auto found = by_name.find(crc64(std::as_bytes(std::span(dataset.name))));
  if (found == by_name.end()) return nullptr;
  const Sums& sums = datasets[found->second];
  return sums.block_elements > 0 && sums.elements == elements(dataset.shape) ? &sums : nullptr;
}

void take_record_apart(Contents& contents) {
  auto& datasets = contents.catalogue.datasets;
  const int index = contents.catalogue.index_of(record_name);
  if (index < 0) return;
  const auto d = static_cast<size_t>(index);
  const bool legal = datasets[d].type == ElementType{Kind::u64} && datasets[d].shape.rank() == 1;
  contents.record_words = legal ? datasets[d].shape[0] : 0;
  contents.record_foreign = contents.foreign[d];
  contents.record_blocks = std::move(contents.blocks[d]);
  datasets.erase(datasets.begin() + index);
  contents.blocks.erase(contents.blocks.begin() + index);
  contents.foreign.erase(contents.foreign.begin() + index);
  contents.catalogue.attributes.erase(std::string(record_name));
}

int64_t record_words(std::span<const BlockCut> cuts) {
  int64_t datasets = 0;
  for (const BlockCut& cut : cuts) datasets += cut.count > 0;
  return static_cast<int64_t>(head_words) + static_cast<int64_t>(dataset_words) * datasets + block_count(cuts) + 1;
}

std::vector<uint64_t> encode(const Record& record) {
  std::vector<uint64_t> words{magic,
                              static_cast<uint64_t>(record.committed_at),
                              static_cast<uint64_t>(record.metadata_bytes),
                              record.metadata_sum,
                              record.datasets.size(),
                              0};
  for (const Record::Sums& sums : record.datasets) {
    words.insert(words.end(),
                 {sums.name, static_cast<uint64_t>(sums.elements), static_cast<uint64_t>(sums.block_elements)});
    words.insert(words.end(), sums.blocks.begin(), sums.blocks.end());
  }
  words[5] = words.size() + 1;
  words.push_back(crc64(std::as_bytes(std::span(words))));
  return words;
}

Result<Record> decode_record(std::span<const uint64_t> words) {
  const auto bad = [](std::string_view why) {
    return Status(Code::damaged, fmt::format("the record of checksums {}", why));
  };
  if (words.size() <= head_words || words[0] != magic) return bad("is not one");
  if (words[5] <= head_words || words[5] > words.size()) return bad("is damaged itself");
  words = words.first(words[5]);
  if (crc64(std::as_bytes(words.first(words.size() - 1))) != words.back()) return bad("is damaged itself");
  Record record;
  record.committed_at = static_cast<int64_t>(words[1]);
  record.metadata_bytes = static_cast<int64_t>(words[2]);
  record.metadata_sum = words[3];
  size_t at = head_words;
  const size_t end = words.size() - 1;
  for (uint64_t d = 0; d < words[4]; ++d) {
    if (end - at < dataset_words) return bad("ends too early");
    Record::Sums sums{words[at], static_cast<int64_t>(words[at + 1]), static_cast<int64_t>(words[at + 2]), {}};
    at += dataset_words;
    if (sums.elements < 0 || sums.block_elements < 0) return bad("has a size below zero");
    const uint64_t count =
        sums.block_elements == 0 || sums.elements == 0
            ? 0
            : (static_cast<uint64_t>(sums.elements) - 1) / static_cast<uint64_t>(sums.block_elements) + 1;
    if (end - at < count) return bad("ends too early");
    sums.blocks.assign(words.begin() + static_cast<std::ptrdiff_t>(at),
                       words.begin() + static_cast<std::ptrdiff_t>(at + count));
    at += count;
    record.by_name.emplace(sums.name, record.datasets.size());
    record.datasets.push_back(std::move(sums));
  }
  if (at != end) return bad("is too long");
  return record;
}

}  // namespace penstock
