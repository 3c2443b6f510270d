// Index, encoding: written directly instead of through a JSON tree, since a block may have tens of thousands of runs.
#include <set>
#include <utility>

#include "core/base/crc64.hpp"
#include "core/format/dtype.hpp"
#include "core/format/index.hpp"
#include "core/format/json_text.hpp"
#include "core/format/regular_file.hpp"

namespace penstock {
namespace {

void append_key(std::string& out, std::string_view key) {
  append_json(out, key);
  out += ": ";
}

void append_runs(std::string& out, const Selection& where) {
  out += ", \"runs\": [";
  bool first = true;
  for (const MemoryRun& run : where.runs()) {
    out += first ? "[" : ",[";
    first = false;
    append_json(out, run.offset);
    out += ',';
    append_json(out, run.length);
    out += ']';
  }
  out += ']';
}

// One part holds all of it in row-major order: numpy.memmap can map it directly.
bool whole_in_one(const Dataset& dataset, const std::vector<StoredBlock>& blocks) {
  return elements(dataset.shape) > 0 && blocks.size() == 1 && blocks[0].where.is_box() &&
         blocks[0].where.box().count == dataset.shape;
}

class Writer {
 public:
  Writer(const Contents& contents, const std::vector<std::string>& parts) : contents_(contents), parts_(parts) {}

  Result<std::string> write() {
    // Schema and format come first: recognises() looks for them at the start of a file.
    append("{\"schema\": ", index_schema);
    append(", \"format\": ", contents_.format);
    append(",\n \"generation\": ", contents_.generation);
    if (!contents_.replaced.empty()) append(",\n \"replaced\": ", contents_.replaced);
    out_ += ",\n \"parts\": [";
    for (size_t i = 0; i < parts_.size(); ++i) {
      out_ += i == 0 ? "\n  " : ",\n  ";
      append_json(out_, parts_[i]);
    }
    out_ += "],\n \"attributes\": {";
    append_attributes();
    out_ += "},\n \"datasets\": [";
    for (size_t i = 0; i < contents_.catalogue.datasets.size(); ++i) {
      out_ += i == 0 ? "\n  " : ",\n  ";
      PENSTOCK_TRY(append_dataset(i));
    }
    out_ += ']';
    if (!contents_.record.empty()) append(",\n \"checksums\": ", hexadecimal(contents_.record));
    if (!contents_.heads.empty()) {
      out_ += ",\n \"heads\": [";
      append_file_sums(contents_.heads);
      out_ += ']';
    }
    if (contents_.parity) append_parity(*contents_.parity);
    const uint64_t sum = crc64(std::as_bytes(std::span(out_)));
    append(index_sum_key, hexadecimal(std::span(&sum, 1)));
    out_ += "}\n";
    return std::move(out_);
  }

 private:
  // TEXT as it is, then VALUE in JSON.
  template <typename T>
  void append(std::string_view text, const T& value) {
    out_ += text;
    append_json(out_, value);
  }

  void append_file_sum(const FileSum& of) {
    append("\"bytes\": ", of.bytes);
    append(", \"crc64\": ", hexadecimal(std::span(&of.sum, 1)));
  }

  void append_file_sums(const std::vector<FileSum>& of) {
    for (size_t i = 0; i < of.size(); ++i) {
      out_ += i == 0 ? "\n  {" : ",\n  {";
      append_file_sum(of[i]);
      out_ += '}';
    }
  }

  void append_parity(const Parity& parity) {
    append(",\n \"parity\": {\"file\": ", file_name_of(parity.path));
    out_ += ", ";
    append_file_sum(parity.file);
    out_ += ", \"parts\": [";
    append_file_sums(parity.parts);
    out_ += "]}";
  }

  void append_attributes() {
    bool first_object = true;
    for (const auto& [object, attributes] : contents_.catalogue.attributes) {
      out_ += first_object ? "\n  " : ",\n  ";
      first_object = false;
      append_key(out_, object);
      out_ += '{';
      bool first = true;
      for (const auto& [name, attribute] : attributes) {
        out_ += first ? "\n   " : ",\n   ";
        first = false;
        append_key(out_, name);
        append_json(out_, attribute);
      }
      out_ += '}';
    }
  }

  Status append_dataset(size_t index) {
    const Dataset& dataset = contents_.catalogue.datasets[index];
    const auto& blocks = contents_.blocks[index];
    if (const auto listed = contents_.listed.find(dataset.name); listed != contents_.listed.end()) {
      append_definition(dataset, false);
      append_chunks(dataset.name, listed->second);
      return {};
    }
    if (index < contents_.foreign.size() && contents_.foreign[index])
      return {Code::unsupported, "dataset '" + dataset.name + "' is stored in a way that an index cannot describe"};
    for (const StoredBlock& block : blocks) {
      if (block.row_stride != 0)
        return {Code::unsupported, "dataset '" + dataset.name + "' lies in rows apart, which an index cannot say"};
      if (block.swapped != blocks[0].swapped)
        return {Code::unsupported, "dataset '" + dataset.name + "' is stored in two byte orders"};
    }
    append_definition(dataset, !blocks.empty() && blocks[0].swapped);
    if (whole_in_one(dataset, blocks)) {
      append(", \"file\": ", parts_[static_cast<size_t>(blocks[0].part)]);
      append(", \"offset\": ", blocks[0].base);
    } else {
      append_blocks(blocks);
    }
    out_ += '}';
    return {};
  }

  void append_definition(const Dataset& dataset, bool swapped) {
    append("{\"name\": ", dataset.name);
    append(", \"type\": ", name(dataset.type));
    append(", \"dtype\": ", dtype_of(dataset.type, swapped));
    append(", \"shape\": ", dataset.shape);
    out_ += dataset.unlimited ? ", \"unlimited\": true" : ", \"unlimited\": false";
  }

  template <typename Numbers>
  void append_numbers(std::string_view text, const Numbers& numbers) {
    out_ += text;
    std::string_view between;
    for (const auto number : numbers) append(std::exchange(between, ","), static_cast<int64_t>(number));
    out_ += ']';
  }

  void append_chunks(const std::string& name, const ListedChunks& listed) {
    append(", \"file\": ", parts_[static_cast<size_t>(listed.part)]);
    append(", \"chunk\": ", contents_.chunks.at(name));
    out_ += ", \"filters\": [";
    std::string_view between;
    for (const Filter& filter : contents_.filters.at(name)) {
      out_ += std::exchange(between, ", ");
      append("{\"id\": ", int64_t{filter.id});
      append_numbers(", \"values\": [", filter.values);
      out_ += '}';
    }
    out_ += "], \"chunks\": [";
    between = "";
    for (const EncodedChunk& chunk : listed.chunks) {
      out_ += std::exchange(between, ",");
      const int64_t numbers[] = {chunk.number, chunk.offset, chunk.bytes, int64_t{chunk.skipped}};
      append_numbers("[", numbers);
    }
    out_ += "]}";
  }

  void append_blocks(const std::vector<StoredBlock>& blocks) {
    out_ += ", \"blocks\": [";
    for (size_t i = 0; i < blocks.size(); ++i) {
      const StoredBlock& block = blocks[i];
      out_ += i == 0 ? "\n   {\"part\": " : ",\n   {\"part\": ";
      append_json(out_, block.part);
      append(", \"offset\": ", block.base);
      if (block.where.is_box()) {
        append(", \"start\": ", block.where.box().start);
        append(", \"count\": ", block.where.box().count);
      } else {
        append_runs(out_, block.where);
      }
      out_ += '}';
    }
    out_ += ']';
  }

  const Contents& contents_;
  const std::vector<std::string>& parts_;
  std::string out_;
};

}  // namespace

Result<std::string> encode_index(const Contents& contents) {
  std::vector<std::string> parts;
  std::set<std::string> seen;
  for (const std::string& part : contents.parts) {
    parts.emplace_back(file_name_of(part));
    if (!seen.insert(parts.back()).second)
      return Status(Code::invalid, "two parts of a set are called '" + parts.back() + "'");
  }
  if (contents.blocks.size() != contents.catalogue.datasets.size())
    return Status(Code::internal, "an index was asked for without blocks for every dataset");
  for (const auto& blocks : contents.blocks)
    for (const StoredBlock& block : blocks)
      if (block.part < 0 || static_cast<size_t>(block.part) >= parts.size())
        return Status(Code::internal, "a block lies in a part that the set does not have");
  return Writer(contents, parts).write();
}

}  // namespace penstock
