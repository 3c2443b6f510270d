// Automatic: each rank encodes some windows of its own data with each codec; one reduction adds up what that took.
#include "core/commit/automatic.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/guarded.hpp"
#include "core/base/units.hpp"
#include "core/comm/cores.hpp"
#include "core/commit/ahead.hpp"
#include "core/commit/batches.hpp"
#include "core/plan/machine.hpp"
#include "core/transport/move.hpp"

namespace penstock {
namespace {

constexpr std::string_view automatic = "auto";
constexpr int64_t windows = 4, max_window = 32 << 10, min_window = 4 << 10;
constexpr int64_t sampled = 64;                // of a dataset, one in so many bytes
constexpr int64_t least_sampled = 64 << 10;    // bytes of a rank: with fewer it has no say
constexpr int64_t least_for_a_rate = 8 << 20;  // less is mostly latency
constexpr double gain = 0.9, gain_by_guess = 0.7;

// Bytes per second of all ranks together, by folder, and whether files are synced there.
class Rates {
 public:
  // 0: unknown.
  double of(const Target& target) {
    const std::lock_guard lock(mutex_);
    const auto found = rates_.find(key(target));
    return found == rates_.end() ? 0 : found->second;
  }
  void note(const Target& target, double rate) {
    const std::lock_guard lock(mutex_);
    if (rates_.size() >= most) rates_.clear();
    double& known = rates_[key(target)];
    known = known > 0 ? (known + rate) / 2 : rate;
  }

 private:
  using Key = std::pair<std::string, bool>;
  static constexpr size_t most = 256;
  static Key key(const Target& target) { return {target.path.substr(0, target.path.rfind('/') + 1), target.durable}; }
  std::mutex mutex_;
  std::map<Key, double> rates_;
};

Rates& rates() {
  static auto* const all = new Rates;  // files may be closed at the program's end
  return *all;
}

// Without deflate, if there are others: it is never the fastest, and trying it would take most of the time.
std::vector<const Codec*> candidates() {
  std::vector<const Codec*> list;
  for (const Codec* codec : codecs())
    if (codec->describe().missing.empty() && !codec->lossy()) list.push_back(codec);
  if (list.size() > 1) std::erase_if(list, [](const Codec* codec) { return codec->describe().name == "deflate"; });
  return list;
}

// Elements of dataset D in this rank's memory, from places all over them, one window after another.
std::vector<std::vector<std::byte>> sample(const NewContents& contents, size_t d) {
  const int64_t size = bytes(contents.catalogue.datasets[d].type);
  int64_t all = 0;
  for (const Claim& claim : contents.claims)
    if (static_cast<size_t>(claim.dataset) == d && claim.supplier == nullptr) all += claim.selection.count() * size;
  const int64_t window = std::clamp(all / sampled / windows, min_window, max_window) / size * size;
  std::vector<std::vector<std::byte>> found;
  if (all < least_sampled || window == 0) return found;
  int64_t passed = 0, next = 0;  // bytes
  for (const Claim& claim : contents.claims) {
    if (static_cast<size_t>(claim.dataset) != d || claim.supplier != nullptr) continue;
    const Selection own = in_packed(claim.selection);
    const int64_t here = own.count() * size;
    for (; std::ssize(found) < windows && next < passed + here; next += all / windows) {
      const int64_t first = (next - passed) / size * size, length = std::min(window, here - first);
      if (length < window / 2) continue;  // at the end of a claim
      found.emplace_back(static_cast<size_t>(length));
      copy_window({0, 0, size, 0, own, claim.memory}, {first, first + length}, found.back().data(), Direction::write);
    }
    passed += here;
  }
  return found;
}

// What the ranks add up, for one dataset and one codec.
struct Tried {
  int64_t bytes = 0, encoded = 0, nanoseconds = 0;
};

Status try_codec(const Codec& codec, const ElementType& type, std::span<const std::vector<std::byte>> samples,
                 Tried& tried) {
  std::vector<std::byte> out;
  for (const std::vector<std::byte>& in : samples) {
    const CodecUse use{type, Dims{std::ssize(in) / bytes(type)}, 0, 0};
    if (!codec.takes(type, use.chunk)) return {};
    PENSTOCK_ASSIGN(const auto encoder, codec.encoder(use));
    out.resize(in.size());
    PENSTOCK_TRY(encoder->encode(std::span(in).first(in.size() / 16), out).status());  // touches its tables
    const double begin = now();
    PENSTOCK_ASSIGN(const EncodedSize made, encoder->encode(in, out));
    tried.nanoseconds += std::max<int64_t>(1, static_cast<int64_t>((now() - begin) * 1e9));
    tried.bytes += std::ssize(in);
    tried.encoded += made.bytes;
  }
  return {};
}

// The codec of dataset D in the published file, if something of it stays; null: none that is known.
const Codec* codec_before(const Opened& file, const NewContents& contents, size_t d) {
  const Dataset& dataset = contents.catalogue.datasets[d];
  if (!file.file || contents.kept[d] == 0) return nullptr;
  const auto filters = file.file->contents.filters.find(dataset.name);
  const auto chunk = file.file->contents.chunks.find(dataset.name);
  if (filters == file.file->contents.filters.end() || chunk == file.file->contents.chunks.end()) return nullptr;
  for (const Codec* codec : codecs()) {
    if (!codec->describe().missing.empty() || codec->lossy()) continue;
    const std::vector<Filter> own = codec->filters({dataset.type, chunk->second, 0, 0});
    if (!own.empty() && !filters->second.empty() && own.back().id == filters->second.back().id) return codec;
  }
  return nullptr;
}

// Whether files of this size are written past the page cache, if the file system can.
bool is_direct(const Opened& file) {
  const std::string_view io = file.plan.settings.word("io");
  return io == "direct" || (io == "auto" && file.target.durable);
}

// Local. In how many batches ALL bytes will be encoded and written ahead, by what all ranks know; 1: they will not.
int64_t batches_ahead(const Opened& file, int64_t all) {
  const int ranks = file.target.comm->size();
  if (!is_direct(file) || all < least_ahead(ranks)) return 1;
  return std::max<int64_t>(1, all / ranks / batch_bytes(ranks, file.plan.settings.integer("memory_bytes"), all));
}

bool in_boxes(const NewContents& contents) {
  return std::ranges::all_of(contents.claims, [](const Claim& claim) { return claim.selection.is_box(); });
}

double usual_rate(bool durable) {
  const Machine machine = usual_machine();
  return durable ? machine.write_synced_all : machine.write_cache_all;
}

}  // namespace

void note_rate(const Target& target, int64_t bytes, double seconds) {
  if (bytes >= least_for_a_rate && seconds > 0) rates().note(target, static_cast<double>(bytes) / seconds);
}

double seconds_of(double bytes, double ratio, const Pace& pace) {
  const double encoding = bytes / pace.encode, storing = ratio * bytes / pace.store;
  const double copying = ratio * bytes / usual_machine().write_cache_all;
  return std::min(encoding + storing,
                  std::max(encoding + copying, storing) + std::min(encoding, storing) / pace.batches);
}

Result<std::string> choose_codecs(const Opened& file, const NewContents& contents, bool may_write_ahead,
                                  std::vector<EncodingWay>& ways) {
  std::vector<size_t> asked;
  for (size_t d = 0; d < ways.size(); ++d)
    if (ways[d].settings.word("compression") == automatic) asked.push_back(d);
  if (asked.empty()) return std::string();
  const Communicator& comm = file.target.comm;
  const std::vector<const Codec*> tried_codecs = candidates();
  std::vector<Tried> tried(asked.size() * tried_codecs.size());
  PENSTOCK_TRY(agree(comm, guarded([&]() -> Status {
                       for (size_t i = 0; i < asked.size(); ++i) {
                         const auto samples = sample(contents, asked[i]);
                         for (size_t c = 0; c < tried_codecs.size(); ++c)
                           PENSTOCK_TRY(try_codec(*tried_codecs[c], contents.catalogue.datasets[asked[i]].type, samples,
                                                  tried[i * tried_codecs.size() + c]));
                       }
                       return {};
                     })));
  // Decisions must be the same on all ranks: what ranks know is averaged.
  const double own_rate = rates().of(file.target);
  constexpr double parts = 1e6;  // of a core
  std::vector<int64_t> sums{static_cast<int64_t>(own_rate), own_rate > 0 ? 1 : 0,
                            static_cast<int64_t>(share_of_cores(comm) * parts), in_boxes(contents) ? 1 : 0};
  const size_t facts = sums.size();
  for (const Tried& one : tried) sums.insert(sums.end(), {one.bytes, one.encoded, one.nanoseconds});
  PENSTOCK_TRY(comm->all_reduce_sum(sums));
  const bool measured = sums[1] == comm->size();
  const double store = measured ? static_cast<double>(sums[0]) / comm->size() : usual_rate(file.target.durable);
  int64_t asked_bytes = 0;
  for (const size_t d : asked) asked_bytes += bytes(contents.catalogue.datasets[d]);
  const bool ahead = may_write_ahead && measured && sums[3] == comm->size();
  const int64_t batches = ahead ? batches_ahead(file, asked_bytes) : 1;
  std::map<std::string, int> decided;
  for (size_t i = 0; i < asked.size(); ++i) {
    const auto all = static_cast<double>(bytes(contents.catalogue.datasets[asked[i]]));
    std::string_view best = "none";
    double seconds = all / store * (measured ? gain : gain_by_guess);
    for (size_t c = 0; c < tried_codecs.size(); ++c) {
      const int64_t* one = sums.data() + facts + 3 * (i * tried_codecs.size() + c);
      if (one[0] == 0) continue;
      const double ratio = static_cast<double>(one[1]) / static_cast<double>(one[0]);
      const double encode =
          static_cast<double>(one[0]) / static_cast<double>(one[2]) * 1e9 * static_cast<double>(sums[2]) / parts;
      const double needed = seconds_of(all, ratio, {encode, store, static_cast<double>(batches)});
      if (needed >= seconds) continue;
      seconds = needed;
      best = tried_codecs[c]->describe().name;
    }
    if (const Codec* before = codec_before(file, contents, asked[i])) best = before->describe().name;
    constexpr Parameter compression{"compression", Parameter::Type::text, "", "", ""};
    PENSTOCK_TRY(ways[asked[i]].settings.set(compression, best));
    ++decided[std::string(best)];
  }
  std::vector<std::string> words;
  for (const auto& [codec, count] : decided)
    words.push_back(fmt::format("{} for {} dataset{}", codec, count, count == 1 ? "" : "s"));
  return fmt::format("compression: {}, as storage {} {}/s{}", fmt::join(words, ", "),
                     measured ? "took" : "usually takes", format_bytes(static_cast<int64_t>(store)),
                     batches > 1 ? ", while other chunks are compressed" : "");
}

}  // namespace penstock
