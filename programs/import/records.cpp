// Records: parses the description, and reads one file along it from beginning to end.
#include "programs/import/records.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include "core/base/guarded.hpp"
#include "programs/import/expression.hpp"

namespace penstock::importing {
namespace {

using Json = nlohmann::json;
using Words = std::vector<std::string>;

std::vector<Attribute> attributes_of(const Json& json) {
  std::vector<Attribute> attributes;
  for (const auto& [name, value] : json.items()) {
    if (value.is_string()) {
      attributes.push_back(text_attribute(name, value.get<std::string>()));
    } else if (value.is_number_integer()) {
      const auto number = value.get<int64_t>();
      attributes.push_back(make_attribute(name, {Kind::i64}, &number, -1));
    } else {
      const auto number = value.get<double>();
      attributes.push_back(make_attribute(name, {Kind::f64}, &number, -1));
    }
  }
  return attributes;
}

Use use_of(const std::string& word) {
  constexpr std::string_view words[] = {"none", "block", "ragged", "per_process", "replicated"};
  return static_cast<Use>(std::ranges::find(words, word) - std::begin(words));
}

Result<Field> field_of(const Json& json) {
  Field field;
  field.name = json.value("name", "");
  if (field.name.empty()) field.name = "a field without a name";
  PENSTOCK_ASSIGN(field.type, parse_type(json.at("type").get<std::string>()));
  field.shape = json.value("shape", Words());
  field.use = use_of(json.value("dataset", "none"));
  field.whole = json.value("whole", Words());
  field.start = json.value("start", Words());
  field.first_index = json.value("first_index", int64_t{1});
  field.ghosts = json.value("ghosts", Words());
  field.attributes = attributes_of(json.value("attributes", Json::object()));
  return field;
}

Status fill(const Json& json, Set& set) {
  set.files = json.at("files").get<Words>();
  if (const std::string endian = json.value("endian", "auto"); endian != "auto") set.big_endian = endian == "big";
  set.marker = json.value("marker", 0);
  set.ignore_rest = json.value("rest", "error") == "ignore";
  set.grid = json.value("process_grid", std::vector<int64_t>());
  set.first_fastest = json.value("process_order", "first") == "first";
  set.attributes = attributes_of(json.value("attributes", Json::object()));
  for (const Json& each : json.at("records")) {
    Line line{each.value("skip", ""), each.value("repeat", ""), {}};
    for (const Json& field : each.value("fields", Json::array())) {
      PENSTOCK_ASSIGN(Field made, field_of(field));
      line.fields.push_back(std::move(made));
    }
    set.lines.push_back(std::move(line));
  }
  return {};
}

// Reads one file along the description.
class Walk {
 public:
  Walk(const Set& set, size_t process, FortranFile& file) : set_(set), file_(file) {
    values_["process"] = static_cast<int64_t>(process);
    values_["processes"] = std::ssize(set.files);
  }

  Status run(std::vector<Block>& blocks) {
    for (const Line& line : set_.lines) {
      if (!line.skip.empty()) {
        PENSTOCK_ASSIGN(const int64_t records, number(line.skip, "skip", file_.record()));
        PENSTOCK_TRY(file_.skip(records));
        continue;
      }
      PENSTOCK_TRY(read(line, blocks));
    }
    if (set_.ignore_rest || file_.at_end()) return {};
    return {Code::damaged,
            fmt::format("'{}': the description ends with record {}, at byte {}, but the file goes on (rest = "
                        "\"ignore\" says that this is meant)",
                        file_.path(), file_.record() - 1, file_.position())};
  }

 private:
  // RECORD is for errors: the described record.
  Result<int64_t> number(const std::string& text, std::string_view what, int64_t record) {
    const std::string context = fmt::format("'{}', record {}, {}", file_.path(), record, what);
    auto value = evaluate(text, values_);
    if (!value.ok()) return value.status().in(context);
    if (*value < 0) return Status(Code::damaged, fmt::format("{}: '{}' is {}, below 0", context, text, *value));
    return value;
  }

  // The words in Fortran's order, as Dims in C's.
  Result<Dims> numbers(const Words& words, std::string_view what) {
    Dims dims;
    for (auto word = words.rbegin(); word != words.rend(); ++word) {
      PENSTOCK_ASSIGN(const int64_t value, number(*word, what, file_.record() - 1));
      dims.push_back(value);
    }
    return dims;
  }

  Result<Block> block_of(const Field& field, bool repeated, int64_t at) {
    const std::string what = fmt::format("the shape of '{}'", field.name);
    Block block;
    block.path = file_.path();
    block.framing = file_.framing();
    block.repeated = repeated;
    block.at = at;
    PENSTOCK_ASSIGN(block.stored, numbers(field.shape, what));
    block.count = block.stored;
    block.first = Dims::filled(block.stored.rank(), 0);
    if (!field.ghosts.empty()) {
      PENSTOCK_ASSIGN(block.first, numbers(field.ghosts, fmt::format("the ghosts of '{}'", field.name)));
      for (int i = 0; i < block.count.rank(); ++i) {
        // Not twice the ghosts, which may exceed the range of numbers.
        if (block.first[i] > block.stored[i] / 2)
          return Status(Code::damaged,
                        fmt::format("'{}', record {}: '{}' has {} elements along a dimension, fewer than "
                                    "{} ghosts on either side",
                                    file_.path(), file_.record() - 1, field.name, block.stored[i], block.first[i]));
        block.count[i] -= 2 * block.first[i];
      }
    }
    if (field.use != Use::block || field.whole.empty()) return block;
    PENSTOCK_ASSIGN(block.whole, numbers(field.whole, fmt::format("'whole' of '{}'", field.name)));
    PENSTOCK_ASSIGN(block.start, numbers(field.start, fmt::format("'start' of '{}'", field.name)));
    for (int i = 0; i < block.start.rank(); ++i) block.start[i] -= field.first_index;
    return block;
  }

  Status read(const Line& line, std::vector<Block>& blocks) {
    int64_t times = 1;
    if (!line.repeat.empty()) {
      PENSTOCK_ASSIGN(times, number(line.repeat, "repeat", file_.record()));
    }
    std::vector<Block> found;
    for (int64_t time = 0; time < times; ++time) {
      PENSTOCK_ASSIGN(const Record record, file_.next());
      if (time == 0) {
        PENSTOCK_TRY(take_apart(line, record, found));
      } else if (record.bytes != expected_) {
        return file_.wrong(
            fmt::format("{} bytes, where the first of the {} repeated records has {}", record.bytes, times, expected_));
      }
      for (Block& block : found) block.records.push_back(record);
    }
    // Without records the arrays are empty, but their shapes are known.
    if (times == 0) PENSTOCK_TRY(take_apart(line, std::nullopt, found));
    size_t i = 0;
    for (const Field& field : line.fields) {
      if (field.use != Use::none) blocks.push_back(std::move(found[i]));
      ++i;
    }
    return {};
  }

  // Fields are contiguous in a record and fill it. Each may use the values before it.
  Status take_apart(const Line& line, const std::optional<Record>& record, std::vector<Block>& found) {
    int64_t at = 0;
    for (const Field& field : line.fields) {
      PENSTOCK_ASSIGN(Block block, block_of(field, !line.repeat.empty(), at));
      int64_t size = bytes(field.type);
      for (const int64_t extent : block.stored)
        if (__builtin_mul_overflow(size, extent, &size)) return too_large(field);
      if (__builtin_add_overflow(at, size, &at)) return too_large(field);
      if (record && at > record->bytes)
        return file_.wrong(
            fmt::format("'{}' would end at byte {} of the record, which has {}", field.name, at, record->bytes));
      if (record && block.stored.rank() == 0 && line.repeat.empty()) PENSTOCK_TRY(keep_value(field, *record, block.at));
      found.push_back(std::move(block));
    }
    if (record && at != record->bytes)
      return file_.wrong(fmt::format("its fields have {} bytes, the record {}", at, record->bytes));
    expected_ = at;
    return {};
  }

  Status too_large(const Field& field) const {
    return {Code::damaged, fmt::format("'{}', record {}: '{}' would be larger than any file", file_.path(),
                                       file_.record() - 1, field.name)};
  }

  Status keep_value(const Field& field, const Record& record, int64_t at) {
    const Kind kind = field.type.kind;
    const auto keep = [&](auto value) -> Status {
      const std::span<std::byte> raw = std::as_writable_bytes(std::span(&value, 1));
      PENSTOCK_TRY(file_.read(record, at, raw));
      if (file_.framing().swapped) std::ranges::reverse(raw);
      if constexpr (std::is_same_v<decltype(value), uint64_t>)
        if (value > INT64_MAX) return file_.wrong(fmt::format("'{}' is beyond 64 bits", field.name));
      values_[field.name] = static_cast<int64_t>(value);
      return {};
    };
    switch (kind) {
      case Kind::i8: return keep(int8_t{});
      case Kind::i16: return keep(int16_t{});
      case Kind::i32: return keep(int32_t{});
      case Kind::i64: return keep(int64_t{});
      case Kind::u8: return keep(uint8_t{});
      case Kind::u16: return keep(uint16_t{});
      case Kind::u32: return keep(uint32_t{});
      case Kind::u64: return keep(uint64_t{});
      default: return {};
    }
  }

  const Set& set_;
  FortranFile& file_;
  Values values_;
  int64_t expected_ = 0;
};

}  // namespace

int64_t Block::elements() const {
  int64_t product = 1;
  for (const int64_t extent : shape()) product *= extent;
  return product;
}

Dims Block::shape() const {
  if (!repeated) return count;
  Dims all{std::ssize(records)};
  for (const int64_t extent : count) all.push_back(extent);
  return all;
}

Result<Set> read_set(const std::string& path) {
  std::ifstream file(path);
  if (!file) return Status(Code::not_found, fmt::format("'{}' cannot be read", path));
  const Json json = Json::parse(file, nullptr, false);
  if (json.is_discarded()) return Status(Code::invalid, fmt::format("'{}' is no JSON", path));
  Set set;
  try {
    PENSTOCK_TRY(fill(json, set).in(path));
  } catch (const Json::exception& error) {
    return Status(Code::invalid, fmt::format("'{}': {}", path, error.what()));
  }
  return set;
}

Result<std::vector<Block>> read_blocks(const Set& set, size_t process) {
  std::optional<Framing> framing;
  if (set.big_endian && set.marker != 0)
    framing = Framing{*set.big_endian != (std::endian::native == std::endian::big), set.marker};
  PENSTOCK_ASSIGN(FortranFile file,
                  framing ? FortranFile::open(set.files[process], *framing) : FortranFile::open(set.files[process]));
  const bool big = file.framing().swapped != (std::endian::native == std::endian::big);
  if (set.big_endian && big != *set.big_endian)
    return Status(Code::damaged, fmt::format("'{}' is {}-endian, its description says {}", file.path(),
                                             big ? "big" : "little", big ? "little" : "big"));
  if (set.marker != 0 && file.framing().marker != set.marker)
    return Status(Code::damaged, fmt::format("'{}' has lengths of {} bytes, its description says {}", file.path(),
                                             file.framing().marker, set.marker));
  std::vector<Block> blocks;
  PENSTOCK_TRY(Walk(set, process, file).run(blocks));
  return blocks;
}

}  // namespace penstock::importing
