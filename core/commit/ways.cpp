// Ways: options of a dataset come before the plan, and chunks that are there already before all others.
#include "core/commit/ways.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/access/record.hpp"
#include "core/base/guarded.hpp"
#include "core/commit/automatic.hpp"
#include "core/commit/chunk_shape.hpp"
#include "core/methods/dataset_options.hpp"
#include "core/model/tiles.hpp"

namespace penstock {
namespace {

constexpr int64_t min_bytes = 64 << 10;   // of an encoded dataset: a smaller one would not pay for its index
constexpr int64_t min_kept_chunk = 4096;  // smaller chunks of other files are not imitated
constexpr std::string_view fallback_codec = "deflate";

// The sizes that the plan sets.
struct Limits {
  int64_t max_chunk = 0;  // a chunk fits into what a rank holds at once
  int64_t chunk_bytes = 0;

  explicit Limits(const Settings& settings)
      : max_chunk(settings.integer("memory_bytes") / 4),
        chunk_bytes(std::min(settings.integer("chunk_bytes"), max_chunk)) {}

  // SAID of this dataset alone.
  bool encodes(const Dataset& dataset, bool said) const {
    return bytes(dataset) >= (said ? 1 : std::max<int64_t>(1, std::min(min_bytes, chunk_bytes))) &&
           dataset.shape.rank() > 0 && dataset.name != record_name;
  }
};

// The chunk extents of DATASET in the file whose data stays or is copied: no chunk is then decoded twice. Null if there
// are none, or if they do not suit.
const Dims* imitated(const Opened& file, const Dataset& dataset, const Limits& limits) {
  const auto& chunks = file.file ? file.file->contents.chunks : file.copied_chunks;
  const auto found = chunks.find(dataset.name);
  if (found == chunks.end() || found->second.rank() != dataset.shape.rank()) return nullptr;
  const int64_t size = Tiles(dataset, found->second, 0).bytes();
  return size >= std::min(min_kept_chunk, limits.chunk_bytes) && size <= limits.max_chunk ? &found->second : nullptr;
}

// The extents of chunks that CODEC takes: OLD, or those by which each rank has its own in BLOCKS, or others.
// Nothing if there are none.
std::optional<Dims> chunk_for(const Codec& codec, const Dataset& dataset, const Limits& limits, const Dims* old,
                              const RankBlocks& blocks) {
  if (old != nullptr && codec.takes(dataset.type, *old)) return *old;
  const int64_t most = limits.chunk_bytes;
  if (blocks.extents.rank() > 0) {
    const Dims chunk = chunk_within(dataset, blocks, codec.unit_of(dataset, most), most, codec.multiple());
    if (chunk.rank() > 0 && codec.takes(dataset.type, chunk)) return chunk;
  }
  const Dims chunk = codec.chunk_of(dataset, most);
  return codec.takes(dataset.type, chunk) ? std::optional(chunk) : std::nullopt;
}

// Fills in codec and chunk. No codec for a dataset that neither the one named nor deflate, which every reader has, can
// encode.
void complete(EncodingWay& way, const Dataset& dataset, const Limits& limits, const Dims* old,
              const RankBlocks& blocks) {
  for (const std::string_view name : {std::string_view(way.settings.word("compression")), fallback_codec}) {
    const Codec& codec = *find_codec(name);
    if (!codec.describe().missing.empty()) continue;
    const auto chunk = chunk_for(codec, dataset, limits, old, blocks);
    if (!chunk) continue;
    way.codec = &codec;
    way.chunk = *chunk;
    return;
  }
}

// How dataset D of CONTENTS is encoded, if it is.
std::optional<Settings> settings_of(const Plan& plan, const NewContents& contents, size_t d) {
  const Dataset& dataset = contents.catalogue.datasets[d];
  const auto own = contents.dataset_options.find(dataset.name);
  const bool has_own = own != contents.dataset_options.end();
  Settings settings = has_own ? encoding_settings(plan, own->second) : plan.settings;
  const bool said = settings.word("compression") != plan.settings.word("compression");
  if (settings.word("compression") == "none" || !Limits(plan.settings).encodes(dataset, said)) return {};
  return settings;
}

}  // namespace

bool is_encoded(const Plan& plan, const NewContents& contents, size_t d) {
  const auto settings = settings_of(plan, contents, d);
  return settings && settings->word("compression") != "auto";  // which may decide for none
}

Result<std::vector<EncodingWay>> choose_ways(Opened& file, const NewContents& contents, bool may_write_ahead) {
  const Limits limits(file.plan.settings);
  const std::vector<Dataset>& datasets = contents.catalogue.datasets;
  std::vector<EncodingWay> ways(datasets.size());
  std::vector<bool> cut(datasets.size());
  for (size_t d = 0; d < datasets.size(); ++d) {
    auto settings = settings_of(file.plan, contents, d);
    cut[d] = settings.has_value();
    if (cut[d]) ways[d].settings = *std::move(settings);
  }
  if (std::ranges::find(cut, true) == cut.end()) return ways;
  PENSTOCK_ASSIGN(const std::string decided, choose_codecs(file, contents, may_write_ahead, ways));
  std::string& reason = file.report.reason;
  if (!decided.empty()) reason += reason.empty() ? decided : "; " + decided;
  for (size_t d = 0; d < datasets.size(); ++d) cut[d] = cut[d] && ways[d].settings.word("compression") != "none";
  PENSTOCK_ASSIGN(const std::vector<RankBlocks> blocks,
                  blocks_of_ranks(file.target.comm, datasets, cut, contents.claims));
  for (size_t d = 0; d < datasets.size(); ++d) {
    if (!cut[d]) continue;
    const bool stays = !file.file || contents.kept[d] > 0;
    complete(ways[d], datasets[d], limits, stays ? imitated(file, datasets[d], limits) : nullptr, blocks[d]);
  }
  return ways;
}

}  // namespace penstock
