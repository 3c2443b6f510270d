// Index, decoding: checks every statement of a possibly hostile text before it is used.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>

#include "core/base/crc64.hpp"
#include "core/base/link.hpp"
#include "core/format/dtype.hpp"
#include "core/format/index.hpp"
#include "core/format/json_text.hpp"
#include "core/format/regular_file.hpp"
#include "core/model/tiles.hpp"
#include "core/model/tiling.hpp"

namespace penstock {
namespace {

using nlohmann::json;

constexpr int64_t attribute_limit_bytes = int64_t{1} << 30;

Status damaged(const std::string& why) { return {Code::damaged, why}; }

// Converts any code of a check made for a caller's arguments: here the file is wrong.
Status as_damaged(const Status& status) { return status.ok() ? status : damaged(status.message()); }

Result<const json*> member(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) return damaged(std::string("'") + key + "' is missing");
  return &*found;
}

Result<std::string> text_member(const json& object, const char* key) {
  PENSTOCK_ASSIGN(const json* found, member(object, key));
  if (!found->is_string()) return damaged(std::string("'") + key + "' is not a string");
  return from_json_string(found->get_ref<const std::string&>());
}

Result<Dims> dims_member(const json& object, const char* key) {
  PENSTOCK_ASSIGN(const json* list, member(object, key));
  if (!list->is_array() || list->size() > max_rank)
    return damaged(std::string("'") + key + "' is not a list of at most 8 numbers");
  Dims dims;
  for (const json& entry : *list) {
    PENSTOCK_ASSIGN(const int64_t n, natural_from_json(entry, std::string("a number of '") + key + "'"));
    dims.push_back(n);
  }
  return dims;
}

// A file name that cannot lead out of the index's folder.
Status check_part_name(const std::string& name) {
  const bool legal = !name.empty() && name != "." && name != ".." && name.size() <= 255 &&
                     name.find('/') == std::string::npos && name.find('\0') == std::string::npos;
  return legal ? Status() : damaged("part '" + name.substr(0, 255) + "' is not a plain file name");
}

// A part of such a name.
Status check_generation(const std::string& text) {
  const bool legal = text.size() <= 255 && text.find('/') == std::string::npos && text.find('\0') == std::string::npos;
  return legal ? Status() : damaged("generation '" + text.substr(0, 255) + "' cannot be a piece of a file name");
}

class Reader {
 public:
  Reader(std::string_view text, std::string_view format, std::string_view folder)
      : text_(text), format_(format), folder_(folder) {}

  Result<Contents> read(const json& root) {
    if (!root.is_object()) return damaged("it is not a JSON object");
    PENSTOCK_TRY(read_head(root));
    PENSTOCK_TRY(read_parts(root));
    PENSTOCK_TRY(read_datasets(root));
    PENSTOCK_TRY(read_attributes(root));
    PENSTOCK_TRY(read_record(root));
    PENSTOCK_TRY(read_heads(root));
    PENSTOCK_TRY(read_parity(root));
    PENSTOCK_TRY(read_sum(root));
    PENSTOCK_TRY(as_damaged(check_names(contents_.catalogue)));
    PENSTOCK_TRY(check_bytes_apart());
    return std::move(contents_);
  }

 private:
  // The byte range of one block in its part.
  struct Claim {
    int32_t part;
    int64_t begin, end;
    size_t dataset;
  };

  Status read_head(const json& root) {
    PENSTOCK_ASSIGN(const std::string schema, text_member(root, "schema"));
    if (schema != index_schema)
      return damaged("its schema is '" + schema.substr(0, 80) + "', not '" + std::string(index_schema) + "'");
    PENSTOCK_ASSIGN(contents_.format, text_member(root, "format"));
    if (contents_.format != format_)
      return damaged("its format is '" + contents_.format.substr(0, 80) + "', not '" + std::string(format_) + "'");
    PENSTOCK_ASSIGN(contents_.generation, text_member(root, "generation"));
    if (root.contains("replaced")) {
      PENSTOCK_ASSIGN(contents_.replaced, text_member(root, "replaced"));
    }
    PENSTOCK_TRY(check_generation(contents_.generation));
    return check_generation(contents_.replaced);
  }

  Status read_parts(const json& root) {
    PENSTOCK_ASSIGN(const json* parts, member(root, "parts"));
    if (!parts->is_array() || parts->size() > INT32_MAX) return damaged("'parts' is not a list");
    for (const json& part : *parts) {
      if (!part.is_string()) return damaged("a part is not a string");
      PENSTOCK_ASSIGN(const std::string name, from_json_string(part.get_ref<const std::string&>()));
      PENSTOCK_TRY(check_part_name(name));
      if (!part_index_.emplace(name, static_cast<int32_t>(contents_.parts.size())).second)
        return damaged("part '" + name + "' is listed twice");
      contents_.parts.push_back(join_path(folder_, name));
    }
    return {};
  }

  Status read_record(const json& root) {
    if (!root.contains("checksums")) return {};
    PENSTOCK_ASSIGN(const std::string digits, text_member(root, "checksums"));
    if (!words_of(digits, contents_.record)) return damaged("'checksums' are not words of 16 hexadecimal digits");
    return {};
  }

  static Result<uint64_t> sum_member(const json& object) {
    PENSTOCK_ASSIGN(const std::string digits, text_member(object, "crc64"));
    std::vector<uint64_t> words;
    if (digits.size() != 16 || !words_of(digits, words)) return damaged("a 'crc64' is not of 16 hexadecimal digits");
    return words[0];
  }

  // Indexes older than checksums have none.
  Status read_sum(const json& root) {
    if (!root.contains("crc64")) return {};
    PENSTOCK_ASSIGN(const uint64_t sum, sum_member(root));
    const auto at = text_.rfind(index_sum_key);
    contents_.altered = at == std::string_view::npos || crc64(std::as_bytes(std::span(text_.substr(0, at)))) != sum;
    return {};
  }

  static Result<FileSum> read_file_sum(const json& object) {
    if (!object.is_object()) return damaged("a file's sum is not an object");
    FileSum of;
    PENSTOCK_ASSIGN(const json* size, member(object, "bytes"));
    PENSTOCK_ASSIGN(of.bytes, natural_from_json(*size, "a file's 'bytes'"));
    PENSTOCK_ASSIGN(of.sum, sum_member(object));
    return of;
  }

  // One for each part.
  Result<std::vector<FileSum>> read_file_sums(const json& list, const char* key) const {
    if (!list.is_array() || list.size() != contents_.parts.size())
      return damaged(std::string("'") + key + "' does not have a sum for each part");
    std::vector<FileSum> sums;
    for (const json& one : list) {
      PENSTOCK_ASSIGN(sums.emplace_back(), read_file_sum(one));
    }
    return sums;
  }

  Status read_heads(const json& root) {
    const auto found = root.find("heads");
    if (found == root.end()) return {};
    PENSTOCK_ASSIGN(contents_.heads, read_file_sums(*found, "heads"));
    return {};
  }

  // A file that is written and removed as parity must have been created by penstock as parity.
  Status check_parity_name(const std::string& name) const {
    const std::string& generation = contents_.generation;
    if (generation.size() != 16 || generation.find_first_not_of("0123456789abcdef") != std::string::npos)
      return damaged("the generation of a set with parity is not of 16 hexadecimal digits");
    if (name.ends_with(".parity") && name.find(".g" + generation + ".") != std::string::npos) return {};
    return damaged("'" + name + "' cannot be its parity file: those are called NAME.g" + generation + ".parity");
  }

  Status read_parity(const json& root) {
    const auto found = root.find("parity");
    if (found == root.end()) return {};
    PENSTOCK_ASSIGN(const FileSum file, read_file_sum(*found));
    PENSTOCK_ASSIGN(const std::string name, text_member(*found, "file"));
    PENSTOCK_TRY(check_part_name(name));
    PENSTOCK_TRY(check_parity_name(name));
    if (part_index_.contains(name)) return damaged("its parity file '" + name + "' is one of its parts");
    PENSTOCK_ASSIGN(const json* parts, member(*found, "parts"));
    Parity parity{join_path(folder_, name), file, {}};
    PENSTOCK_ASSIGN(parity.parts, read_file_sums(*parts, "parity"));
    int64_t longest = 0;
    for (const FileSum& part : parity.parts) longest = std::max(longest, part.bytes);
    if (file.bytes != longest) return damaged("the parity file is not as long as the longest part");
    contents_.parity = std::move(parity);
    return {};
  }

  Status read_attributes(const json& root) {
    PENSTOCK_ASSIGN(const json* objects, member(root, "attributes"));
    if (!objects->is_object()) return damaged("'attributes' is not an object");
    int64_t total = 0;
    for (const auto& [key, list] : objects->items()) {
      PENSTOCK_ASSIGN(const std::string object, from_json_string(key));
      const auto legal = object_name(object);
      if (!legal.ok() || *legal != object)
        return damaged("attributes of an object that cannot be, '" + object.substr(0, 200) + "'");
      if (!list.is_object()) return damaged("the attributes of '" + object + "' are not an object");
      auto& attributes = contents_.catalogue.attributes[object];
      for (const auto& [attribute_key, value] : list.items()) {
        PENSTOCK_ASSIGN(const std::string name, from_json_string(attribute_key));
        auto attribute = attribute_from_json(name, value);
        if (!attribute.ok())
          return attribute.status().in("attribute '" + name.substr(0, 200) + "' of '" + object + "'");
        total += static_cast<int64_t>(attribute->value.size());
        if (total > attribute_limit_bytes) return damaged("its attributes claim more than 1 GiB");
        attributes.emplace(name, *std::move(attribute));
      }
    }
    return {};
  }

  Status read_datasets(const json& root) {
    PENSTOCK_ASSIGN(const json* datasets, member(root, "datasets"));
    if (!datasets->is_array()) return damaged("'datasets' is not a list");
    for (const json& entry : *datasets) {
      if (!entry.is_object()) return damaged("a dataset is not an object");
      PENSTOCK_ASSIGN(std::string name, text_member(entry, "name"));
      const auto legal = dataset_name(name);
      if (!legal.ok() || *legal != name) return damaged("a dataset's name cannot be, '" + name.substr(0, 200) + "'");
      if (!contents_.catalogue.datasets.empty() && contents_.catalogue.datasets.back().name >= name)
        return damaged("dataset '" + name + "' is listed twice or not in the order of names");
      PENSTOCK_TRY(read_dataset(entry, name).in("dataset '" + name + "'"));
    }
    return {};
  }

  Status read_dataset(const json& entry, const std::string& name) {
    Dataset dataset;
    dataset.name = name;
    PENSTOCK_ASSIGN(const std::string type, text_member(entry, "type"));
    auto parsed = parse_type(type);
    if (!parsed.ok()) return damaged(parsed.status().message());
    dataset.type = *parsed;
    PENSTOCK_ASSIGN(const std::string dtype, text_member(entry, "dtype"));
    PENSTOCK_ASSIGN(const bool swapped, dtype_is_swapped(dtype, dataset.type));
    PENSTOCK_ASSIGN(dataset.shape, dims_member(entry, "shape"));
    PENSTOCK_TRY(as_damaged(check_shape(dataset.type, dataset.shape)));
    PENSTOCK_ASSIGN(const json* unlimited, member(entry, "unlimited"));
    if (!unlimited->is_boolean()) return damaged("'unlimited' is neither true nor false");
    dataset.unlimited = unlimited->get<bool>();
    if (dataset.unlimited && dataset.shape.rank() == 0) return damaged("a scalar cannot be unlimited");

    const bool encoded = entry.contains("chunk");
    if (encoded) PENSTOCK_TRY(read_chunks(entry, dataset, swapped));
    std::vector<StoredBlock> blocks;
    if (!encoded)
      PENSTOCK_TRY(entry.contains("file") ? read_whole(entry, dataset, blocks) : read_blocks(entry, dataset, blocks));
    for (StoredBlock& block : blocks) {
      block.swapped = swapped;
      PENSTOCK_TRY(claim(block, bytes(dataset.type)));
    }
    contents_.catalogue.datasets.push_back(std::move(dataset));
    contents_.blocks.push_back(std::move(blocks));
    contents_.foreign.push_back(encoded);
    return {};
  }

  Result<int32_t> part_member(const json& entry) const {
    PENSTOCK_ASSIGN(const std::string file, text_member(entry, "file"));
    const auto part = part_index_.find(file);
    if (part == part_index_.end()) return damaged("its file '" + file.substr(0, 255) + "' is not among the parts");
    return part->second;
  }

  Status read_chunks(const json& entry, const Dataset& dataset, bool swapped) {
    if (format_ != "raw") return damaged("only raw has encoded chunks in an index");
    if (swapped) return damaged("its chunks are of the other byte order");
    PENSTOCK_ASSIGN(const Dims chunk, dims_member(entry, "chunk"));
    PENSTOCK_ASSIGN(const int64_t size, chunk_bytes(chunk, dataset));
    PENSTOCK_ASSIGN(std::vector<Filter> filters, read_filters(entry));
    ListedChunks listed;
    PENSTOCK_ASSIGN(listed.part, part_member(entry));
    PENSTOCK_ASSIGN(const json* list, member(entry, "chunks"));
    if (!list->is_array()) return damaged("'chunks' is not a list");
    const int64_t count = Tiles(dataset, chunk, 0).count();
    for (const json& item : *list) {
      if (!item.is_array() || item.size() != 4) return damaged("a chunk is not [number, offset, bytes, skipped]");
      EncodedChunk one;
      PENSTOCK_ASSIGN(one.number, natural_from_json(item[0], "a chunk's number"));
      PENSTOCK_ASSIGN(one.offset, natural_from_json(item[1], "a chunk's offset"));
      PENSTOCK_ASSIGN(one.bytes, natural_from_json(item[2], "a chunk's bytes"));
      PENSTOCK_ASSIGN(const int64_t skipped, natural_from_json(item[3], "a chunk's skipped filters"));
      if (one.number >= count || (!listed.chunks.empty() && one.number <= listed.chunks.back().number))
        return damaged("its chunks are not sorted, or more than it has");
      if (one.bytes == 0 || one.bytes > size || one.offset > INT64_MAX - one.bytes)
        return damaged("a chunk has bytes that no chunk of it can have");
      if (skipped >> filters.size() != 0) return damaged("a chunk skips more filters than there are");
      one.skipped = static_cast<uint32_t>(skipped);
      claims_.push_back({listed.part, one.offset, one.offset + one.bytes, contents_.catalogue.datasets.size()});
      listed.chunks.push_back(one);
    }
    contents_.chunks[dataset.name] = chunk;
    contents_.filters[dataset.name] = std::move(filters);
    contents_.listed[dataset.name] = std::move(listed);
    return {};
  }

  // As it is. An encoder stores what it would make larger.
  static Result<int64_t> chunk_bytes(const Dims& chunk, const Dataset& dataset) {
    constexpr int64_t most = int64_t{1} << 32;
    if (chunk.rank() == 0 || chunk.rank() != dataset.shape.rank())
      return damaged("its chunks have another number of dimensions");
    int64_t size = bytes(dataset.type);
    for (int d = 0; d < chunk.rank(); ++d) {
      if (chunk[d] < 1 || chunk[d] > dataset.shape[d] || chunk[d] > most / size)
        return damaged("its chunks have extents that chunks of it cannot have");
      size *= chunk[d];
    }
    return size;
  }

  static Result<std::vector<Filter>> read_filters(const json& entry) {
    constexpr size_t most = 16, most_values = 64;
    PENSTOCK_ASSIGN(const json* list, member(entry, "filters"));
    if (!list->is_array() || list->empty() || list->size() > most) return damaged("'filters' is not a list of 1 to 16");
    std::vector<Filter> filters;
    for (const json& item : *list) {
      if (!item.is_object()) return damaged("a filter is not an object");
      PENSTOCK_ASSIGN(const json* id, member(item, "id"));
      PENSTOCK_ASSIGN(const int64_t number, natural_from_json(*id, "a filter's 'id'"));
      PENSTOCK_ASSIGN(const json* values, member(item, "values"));
      if (number > UINT16_MAX || !values->is_array() || values->size() > most_values)
        return damaged("a filter is none of HDF5's");
      Filter& filter = filters.emplace_back(Filter{static_cast<int>(number), {}});
      for (const json& one : *values) {
        PENSTOCK_ASSIGN(const int64_t value, natural_from_json(one, "a filter's value"));
        if (value > UINT32_MAX) return damaged("a filter's value has more than 32 bits");
        filter.values.push_back(static_cast<unsigned>(value));
      }
    }
    return filters;
  }

  Status read_whole(const json& entry, const Dataset& dataset, std::vector<StoredBlock>& blocks) {
    StoredBlock block;
    PENSTOCK_ASSIGN(block.part, part_member(entry));
    PENSTOCK_ASSIGN(const json* offset, member(entry, "offset"));
    PENSTOCK_ASSIGN(block.base, natural_from_json(*offset, "'offset'"));
    block.where = Selection::whole(dataset.shape);
    if (block.where.count() > 0) blocks.push_back(std::move(block));
    return {};
  }

  Status read_blocks(const json& entry, const Dataset& dataset, std::vector<StoredBlock>& blocks) {
    PENSTOCK_ASSIGN(const json* list, member(entry, "blocks"));
    if (!list->is_array()) return damaged("'blocks' is not a list");
    const int64_t total = elements(dataset.shape);
    int64_t covered = 0;
    for (const json& item : *list) {
      if (!item.is_object()) return damaged("a block is not an object");
      PENSTOCK_ASSIGN(StoredBlock block, read_block(item, dataset));
      if (block.where.count() > total - covered)
        return damaged("its blocks have more elements than it has: they overlap");
      covered += block.where.count();
      if (block.where.count() > 0) blocks.push_back(std::move(block));
    }
    return covered == total ? check_tiling(total, blocks) : Status();
  }

  Result<StoredBlock> read_block(const json& item, const Dataset& dataset) {
    StoredBlock block;
    PENSTOCK_ASSIGN(const json* part, member(item, "part"));
    PENSTOCK_ASSIGN(const int64_t index, natural_from_json(*part, "'part'"));
    if (index >= static_cast<int64_t>(contents_.parts.size()))
      return damaged("a block lies in part " + std::to_string(index) + ", which is not listed");
    block.part = static_cast<int32_t>(index);
    PENSTOCK_ASSIGN(const json* offset, member(item, "offset"));
    PENSTOCK_ASSIGN(block.base, natural_from_json(*offset, "a block's 'offset'"));
    if (const auto runs = item.find("runs"); runs != item.end()) {
      PENSTOCK_ASSIGN(block.where, read_runs(*runs, dataset));
    } else {
      PENSTOCK_ASSIGN(block.where, read_box(item, dataset));
    }
    return block;
  }

  Result<Selection> read_box(const json& item, const Dataset& dataset) {
    Box box;
    PENSTOCK_ASSIGN(box.start, dims_member(item, "start"));
    PENSTOCK_ASSIGN(box.count, dims_member(item, "count"));
    if (box.start.rank() != dataset.shape.rank() || box.count.rank() != dataset.shape.rank())
      return damaged("a block has another number of dimensions");
    for (int i = 0; i < box.start.rank(); ++i)
      if (box.start[i] > dataset.shape[i] || box.count[i] > dataset.shape[i] - box.start[i])
        return damaged("a block reaches beyond the dataset");
    return Selection::of_box(dataset.shape, box);
  }

  Result<Selection> read_runs(const json& list, const Dataset& dataset) {
    if (!list.is_array()) return damaged("'runs' is not a list");
    const int64_t total = elements(dataset.shape);
    std::vector<Run> runs;
    runs.reserve(list.size());
    int64_t end = 0;
    for (const json& entry : list) {
      if (!entry.is_array() || entry.size() != 2) return damaged("a run is not [offset, length]");
      PENSTOCK_ASSIGN(const int64_t offset, natural_from_json(entry[0], "a run's offset"));
      PENSTOCK_ASSIGN(const int64_t length, natural_from_json(entry[1], "a run's length"));
      if (offset < end) return damaged("the runs of a block overlap or are not sorted");
      if (offset > total || length > total - offset) return damaged("a run reaches beyond the dataset");
      end = offset + length;
      if (length > 0) runs.push_back({offset, length});
    }
    return Selection::of_runs(dataset.shape, runs);
  }

  // For as many elements as the dataset has: equal sums then prove that each occurs once. A constant base protects
  // against accidents; a forged collision only confuses the reader of that file, since every block is known to lie
  // inside the dataset.
  Status check_tiling(int64_t total, const std::vector<StoredBlock>& blocks) {
    constexpr uint64_t base = 0x12ab34cd56ef7890 % tiling_modulus;
    uint64_t sum = 0;
    for (const StoredBlock& block : blocks) sum = tiling_add(sum, tiling_sum(block.where, base));
    return sum == tiling_sum(total, base) ? Status() : damaged("its blocks overlap");
  }

  Status claim(const StoredBlock& block, int64_t element_bytes) {
    const int64_t length = block.where.count() * element_bytes;  // no overflow: at most the dataset's bytes
    if (block.base > INT64_MAX - length) return damaged("a block ends beyond what 63 bits can address");
    claims_.push_back({block.part, block.base, block.base + length, contents_.catalogue.datasets.size()});
    return {};
  }

  Status check_bytes_apart() {
    std::ranges::sort(claims_, {}, [](const Claim& claim) { return std::tie(claim.part, claim.begin); });
    for (size_t i = 1; i < claims_.size(); ++i) {
      const Claim &a = claims_[i - 1], &b = claims_[i];
      if (a.part != b.part || a.end <= b.begin) continue;
      const auto& datasets = contents_.catalogue.datasets;
      return damaged("datasets '" + datasets[a.dataset].name + "' and '" + datasets[b.dataset].name +
                     "' claim the same bytes of part '" + contents_.parts[static_cast<size_t>(a.part)] + "'");
    }
    return {};
  }

  std::string_view text_, format_, folder_;
  Contents contents_;
  std::map<std::string, int32_t> part_index_;
  std::vector<Claim> claims_;
};

Status check_part(const std::string& path, int64_t needed) {
  PENSTOCK_TRY(check_link(path));
  PENSTOCK_ASSIGN(const int64_t size, regular_file_bytes(path));
  if (size >= needed) return {};
  return damaged("part '" + path + "' has " + std::to_string(size) + " bytes where the index needs " +
                 std::to_string(needed) + ": it was cut off, or belongs to another generation");
}

}  // namespace

Result<Contents> decode_index(std::string_view text, std::string_view format, std::string_view folder) {
  const json root = json::parse(text.begin(), text.end(), nullptr, false);
  if (root.is_discarded()) return damaged("the index is not JSON, or was cut off");
  auto contents = Reader(text, format, folder).read(root);
  // Whatever code a check of the model returns, here the text is wrong.
  return contents.ok() ? contents : Result<Contents>(damaged("the index is damaged: " + contents.status().message()));
}

Status find_lost(Contents& contents) {
  std::vector<int64_t> needed(contents.parts.size(), 0);
  for (size_t i = 0; i < contents.blocks.size(); ++i)
    for (const StoredBlock& block : contents.blocks[i]) {
      int64_t& end = needed[static_cast<size_t>(block.part)];
      end = std::max(end, block.base + span_bytes(block, bytes(contents.catalogue.datasets[i].type)));
    }
  for (const auto& [name, listed] : contents.listed) {
    int64_t& end = needed[static_cast<size_t>(listed.part)];
    end = std::max(end, listed.end());
  }
  for (size_t p = 0; p < needed.size(); ++p) {
    Status why = check_part(contents.parts[p], needed[p]);
    if (why.ok()) continue;
    if (why.code() != Code::not_found && why.code() != Code::damaged) return why;
    const auto part = static_cast<int32_t>(p);
    contents.lost.push_back({part, std::move(why), elements_in(contents, part)});
    for (auto& blocks : contents.blocks)
      std::erase_if(blocks, [&](const StoredBlock& block) { return block.part == part; });
    for (auto& [name, listed] : contents.listed)
      if (listed.part == part) listed.chunks.clear();
  }
  return {};
}

}  // namespace penstock
