// Record: reads it from its dataset, or from the index of a set.
#include "core/access/record.hpp"

#include <fmt/format.h>

#include "core/access/here.hpp"

namespace penstock {

Result<Record> load_record(const Contents& contents, const std::string& path, const std::shared_ptr<Files>& files) {
  const std::string where = fmt::format("'{}'", path);
  const auto decoded = [&](std::span<const uint64_t> words) {
    auto record = decode_record(words);
    return record.ok() ? std::move(record) : record.status().in(where);
  };
  if (!contents.record.empty()) return decoded(contents.record);
  constexpr int64_t most = int64_t{1} << 24;
  if (contents.record_words <= 0 || contents.record_words > most)
    return Status(Code::not_found, where + " has no checksums");
  const Dataset dataset{std::string(record_name), {Kind::u64}, Dims{contents.record_words}};
  Contents alone;
  alone.format = contents.format;
  alone.catalogue.datasets = {dataset};
  alone.parts = contents.parts;
  alone.blocks = {contents.record_blocks};
  alone.foreign = {contents.record_foreign};
  std::vector<uint64_t> words(static_cast<size_t>(contents.record_words));
  const Claim claim{0, Selection::whole(dataset.shape), reinterpret_cast<std::byte*>(words.data())};
  PENSTOCK_TRY(read_here(alone, path, std::span(&claim, 1), files));
  return decoded(words);
}

}  // namespace penstock
