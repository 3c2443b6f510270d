// Layout: the contents of a file as a message between ranks.
#include "core/model/layout.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/encode.hpp"

namespace penstock {

std::string part_dataset_name(std::string_view name, int64_t k) {
  std::string local;
  for (const char c : name) local.append(c == '#' ? 2 : 1, c);
  if (k > 0) local += fmt::format("#{:06d}", k);
  return local;
}

int64_t span_bytes(const StoredBlock& block, int64_t element_bytes) {
  const int64_t count = block.where.count();
  if (block.row_stride == 0 || count == 0) return count * element_bytes;
  const int64_t rows = packed_shape(block.where)[0];
  return (rows - 1) * block.row_stride + count / rows * element_bytes;
}

int64_t ListedChunks::end() const {
  int64_t end = 0;
  for (const EncodedChunk& chunk : chunks) end = std::max(end, chunk.offset + chunk.bytes);
  return end;
}

namespace {

void encode(Encoder& out, std::span<const StoredBlock> blocks) {
  out.value(std::ssize(blocks));
  for (const StoredBlock& block : blocks) {
    out.value(block.part);
    out.value(block.base);
    out.value(block.swapped);
    block.where.encode(out);
    out.value(block.row_stride);
  }
}

std::vector<StoredBlock> decode_blocks(Decoder& in) {
  std::vector<StoredBlock> blocks;
  for (auto n = in.value<int64_t>(); n > 0 && in.ok(); --n) {
    StoredBlock block;
    block.part = in.value<int32_t>();
    block.base = in.value<int64_t>();
    block.swapped = in.value<bool>();
    block.where = Selection::decode(in);
    block.row_stride = in.value<int64_t>();
    blocks.push_back(std::move(block));
  }
  return blocks;
}

void name_elements(const Dataset& dataset, const StoredBlock& block, std::vector<std::string>& names) {
  const auto add = [&](const Dims& first, const Dims& last) {
    names.push_back("'" + dataset.name + "': " + describe(first) + " to " + describe(last));
  };
  if (!block.where.is_box()) {
    for (const MemoryRun& run : block.where.runs())
      add(coordinates(dataset.shape, run.offset), coordinates(dataset.shape, run.offset + run.length - 1));
    return;
  }
  Dims last = block.where.box().start;
  for (int i = 0; i < last.rank(); ++i) last[i] += block.where.box().count[i] - 1;
  add(block.where.box().start, last);
}

}  // namespace

std::vector<std::string> elements_in(const Contents& contents, int32_t part) {
  std::vector<std::string> names;
  for (size_t i = 0; i < contents.blocks.size(); ++i) {
    const Dataset& dataset = contents.catalogue.datasets[i];
    const auto listed = contents.listed.find(dataset.name);
    if (listed != contents.listed.end() && listed->second.part == part)
      name_elements(dataset, {part, 0, false, Selection::whole(dataset.shape)}, names);
    for (const StoredBlock& block : contents.blocks[i])
      if (block.part == part && block.where.count() > 0) name_elements(dataset, block, names);
  }
  return names;
}

void Contents::leave_out(std::string what) {
  constexpr size_t most = 1000;
  if (left_out.empty()) left_out = what;
  if (unread.size() < most) unread.push_back(std::move(what));
}

std::string Contents::why_unread(std::string_view object) const {
  const std::string name = fmt::format("'{}' ", object);
  for (const std::string& what : unread)
    if (what.starts_with(name)) return what.substr(name.size());
  return {};
}

std::vector<std::byte> encode(const Contents& contents) {
  Encoder out;
  out.text(contents.format);
  out.text(contents.generation);
  out.text(contents.replaced);
  out.text(contents.left_out);
  out.texts(contents.unread);
  out.text(contents.converted);
  out.list(std::span<const std::byte>(encode(contents.catalogue)));
  out.texts(contents.parts);
  for (size_t i = 0; i < contents.catalogue.datasets.size(); ++i) {
    out.value(static_cast<bool>(contents.foreign[i]));
    encode(out, contents.blocks[i]);
  }
  out.value(std::ssize(contents.chunks));
  for (const auto& [name, chunk] : contents.chunks) {
    out.text(name);
    out.dims(chunk);
  }
  out.value(std::ssize(contents.filters));
  for (const auto& [name, filters] : contents.filters) {
    out.text(name);
    out.value(std::ssize(filters));
    for (const auto& [id, values] : filters) {
      out.value(id);
      out.list(std::span<const unsigned>(values));
    }
  }
  out.value(std::ssize(contents.listed));
  for (const auto& [name, listed] : contents.listed) {
    out.text(name);
    out.value(listed.part);
    out.list(std::span<const EncodedChunk>(listed.chunks));
  }
  out.value(std::ssize(contents.lost));
  for (const Contents::Lost& lost : contents.lost) {
    out.value(lost.part);
    out.value(lost.why.code());
    out.text(lost.why.message());
    out.texts(lost.boxes);
  }
  out.list(std::span<const FileSum>(contents.heads));
  out.value(contents.parity.has_value());
  if (contents.parity) {
    out.text(contents.parity->path);
    out.value(contents.parity->file);
    out.list(std::span<const FileSum>(contents.parity->parts));
  }
  out.value(contents.altered);
  out.list(std::span<const uint64_t>(contents.record));
  encode(out, contents.record_blocks);
  out.value(contents.record_words);
  out.value(contents.record_foreign);
  return out.take();
}

Result<Contents> decode_contents(std::span<const std::byte> bytes) {
  Decoder in(bytes);
  Contents contents;
  contents.format = in.text();
  contents.generation = in.text();
  contents.replaced = in.text();
  contents.left_out = in.text();
  contents.unread = in.texts();
  contents.converted = in.text();
  PENSTOCK_ASSIGN(contents.catalogue, decode_catalogue(in.list<std::byte>()));
  contents.parts = in.texts();
  for (size_t i = 0; i < contents.catalogue.datasets.size() && in.ok(); ++i) {
    contents.foreign.push_back(in.value<bool>());
    contents.blocks.push_back(decode_blocks(in));
  }
  for (auto n = in.value<int64_t>(); n > 0 && in.ok(); --n) {
    std::string name = in.text();
    contents.chunks.emplace(std::move(name), in.dims());
  }
  for (auto n = in.value<int64_t>(); n > 0 && in.ok(); --n) {
    std::vector<Filter>& filters = contents.filters[in.text()];
    for (auto k = in.value<int64_t>(); k > 0 && in.ok(); --k) {
      const auto id = in.value<int>();
      filters.push_back({id, in.list<unsigned>()});
    }
  }
  for (auto n = in.value<int64_t>(); n > 0 && in.ok(); --n) {
    ListedChunks& listed = contents.listed[in.text()];
    listed.part = in.value<int32_t>();
    listed.chunks = in.list<EncodedChunk>();
  }
  for (auto n = in.value<int64_t>(); n > 0 && in.ok(); --n) {
    Contents::Lost& lost = contents.lost.emplace_back();
    lost.part = in.value<int32_t>();
    const auto code = in.value<Code>();
    lost.why = {code, in.text()};
    lost.boxes = in.texts();
  }
  contents.heads = in.list<FileSum>();
  if (in.value<bool>()) {
    Parity& parity = contents.parity.emplace();
    parity.path = in.text();
    parity.file = in.value<FileSum>();
    parity.parts = in.list<FileSum>();
  }
  contents.altered = in.value<bool>();
  contents.record = in.list<uint64_t>();
  contents.record_blocks = decode_blocks(in);
  contents.record_words = in.value<int64_t>();
  contents.record_foreign = in.value<bool>();
  if (!in.ok() || !in.done()) return Status(Code::internal, "a file's contents from rank 0 cannot be decoded");
  return contents;
}

}  // namespace penstock
