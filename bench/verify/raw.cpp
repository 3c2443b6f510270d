// Verifies a raw set by its sidecar: plain JSON and plain reads, without penstock's own reader. Only the filters of
// compressed chunks are undone by penstock's codecs.
//
// {"parts": [NAME, ...], "datasets": [{"name", "dtype", "shape", "file": NAME, "offset"} or
//   {"name", "dtype", "shape", "file": NAME, "chunk", "filters": [{"id", "values"}, ...], "chunks": [[number, offset,
//   bytes, skipped], ...]} or
//   {"name", "dtype", "shape", "blocks": [{"part", "offset", "start", "count"} or {"part", "offset", "runs": [[offset,
//   length], ...]}]}]}
#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>
#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "bench/verify/library.hpp"
#include "bench/workload/element.hpp"
#include "core/codec/decode.hpp"

namespace penstock::bench {

namespace {

using Json = nlohmann::json;

Status wrong(const Field& field, const std::string& what) {
  return Status(Code::mismatch, fmt::format("sidecar: '{}': {}", field.name, what));
}

class Part {
 public:
  explicit Part(const std::string& path) : path_(path), fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~Part() {
    if (fd_ >= 0) ::close(fd_);
  }
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;

  Status read(int64_t offset, std::span<std::byte> out) const {
    if (fd_ < 0) return Status(Code::not_found, fmt::format("{} cannot be opened", path_));
    while (!out.empty()) {
      const ssize_t got = ::pread(fd_, out.data(), out.size(), offset);
      if (got <= 0) return Status(Code::damaged, fmt::format("{} ends before byte {}", path_, offset + 1));
      out = out.subspan(static_cast<size_t>(got));
      offset += got;
    }
    return {};
  }

 private:
  std::string path_;
  int fd_;
};

// In numpy's notation.
std::string dtype_of(Kind kind) {
  const int64_t size = bytes(ElementType{kind});
  const std::string_view word = element_word(kind);
  const char letter = word.starts_with("u") ? 'u' : word[0] == 'r' ? 'f' : word[0];
  return size == 1 ? fmt::format("{}1", letter) : fmt::format("<{}{}", letter, size);
}

// One field: its blocks are read run by run, and every element of a block is marked.
class FieldCheck {
 public:
  FieldCheck(const Truth& truth, int index, Faults& faults)
      : truth_(truth),
        index_(index),
        field_(truth.workload->fields()[static_cast<size_t>(index)]),
        faults_(faults),
        seen_(static_cast<size_t>(field_.elements), false) {}

  Status check_definition(const Json& dataset) const {
    const std::string dtype = dtype_of(field_.type.kind);
    if (dataset.at("dtype") != dtype) return wrong(field_, "the type is not " + dtype);
    const auto shape = dataset.at("shape").get<std::vector<int64_t>>();
    if (!std::equal(shape.begin(), shape.end(), field_.shape.begin(), field_.shape.end()))
      return wrong(field_, "another shape");
    return {};
  }

  // LENGTH elements from OFFSET on, at byte AT of PART.
  Status check_run(const Part& part, int64_t at, int64_t offset, int64_t length) {
    if (offset < 0 || length < 0 || offset > field_.elements - length)
      return wrong(field_, "a block outside of the dataset");
    const int64_t size = bytes(field_.type), step = piece_bytes / size;
    for (int64_t done = 0; done < length; done += step) {
      const int64_t count = std::min(step, length - done);
      piece_.resize(static_cast<size_t>(count * size));
      PENSTOCK_TRY(part.read(at + done * size, piece_));
      check(truth_, index_, offset + done, piece_, faults_);
    }
    return mark(offset, length);
  }

  Status check_block(const Part& part, const Json& block) {
    PENSTOCK_ASSIGN(const Decomposition where, decomposition(block));
    int64_t at = block.at("offset").get<int64_t>();
    Status status;
    for_each_run(where, [&](int64_t offset, int64_t length) {
      if (status.ok()) status = check_run(part, at, offset, length);
      at += length * bytes(field_.type);
    });
    return status;
  }

  // The rows of chunk number NUMBER, whose decoded bytes are DATA.
  Status check_chunk(const std::vector<int64_t>& extents, int64_t number, std::span<const std::byte> data) {
    if (field_.elements == 0) return wrong(field_, "a chunk of no elements");
    const int rank = field_.shape.rank();
    Dims start = Dims::filled(rank, 0), count = start;
    for (int d = rank; d-- > 0;) {
      const int64_t extent = extents[static_cast<size_t>(d)], along = (field_.shape[d] + extent - 1) / extent;
      start[d] = number % along * extent;
      count[d] = std::min(extent, field_.shape[d] - start[d]);
      number /= along;
    }
    if (number != 0) return wrong(field_, "a chunk outside of the dataset");
    PENSTOCK_ASSIGN(const Decomposition where, Decomposition::block(field_.shape, start, count));
    const auto size = static_cast<size_t>(bytes(field_.type));
    Status status;
    for_each_run(where, [&](int64_t offset, int64_t length) {  // a row, or several that fill the chunk
      int64_t left = offset, at = 0, step = 1;
      for (int d = rank; d-- > 0;) {
        at += (left % field_.shape[d] - start[d]) * step;
        left /= field_.shape[d];
        step *= extents[static_cast<size_t>(d)];
      }
      check(truth_, index_, offset, data.subspan(static_cast<size_t>(at) * size, static_cast<size_t>(length) * size),
            faults_);
      if (status.ok()) status = mark(offset, length);
    });
    return status;
  }

  Status check_chunks(const Part& part, const Json& dataset) {
    const auto extents = dataset.at("chunk").get<std::vector<int64_t>>();
    if (std::cmp_not_equal(extents.size(), field_.shape.rank()) ||
        std::ranges::any_of(extents, [](int64_t extent) { return extent < 1; }))
      return wrong(field_, "a chunk of another number of dimensions");
    int64_t chunk_bytes = bytes(field_.type);
    for (const int64_t extent : extents) chunk_bytes *= extent;
    std::vector<Filter> filters;
    for (const Json& filter : dataset.at("filters"))
      filters.push_back({filter.at("id").get<int>(), filter.at("values").get<std::vector<unsigned>>()});
    if (!decodes(filters)) return wrong(field_, "this build cannot undo its filters");
    DecodingRoom room;
    for (const Json& chunk : dataset.at("chunks")) {
      std::vector<std::byte> stored(chunk.at(2).get<size_t>());
      PENSTOCK_TRY(part.read(chunk.at(1).get<int64_t>(), stored));
      const auto number = chunk.at(0).get<int64_t>();
      const auto data = decode_chunk(filters, chunk.at(3).get<uint32_t>(), stored, chunk_bytes, room);
      if (!data) return wrong(field_, fmt::format("chunk {}: {}", number, data.status().message()));
      PENSTOCK_TRY(check_chunk(extents, number, *data));
    }
    return check_cover();
  }

  // Elements in no block must be the unwritten ones.
  Status check_cover() {
    for (const Run& hole : truth_.workload->holes(index_)) std::fill_n(seen_.begin() + hole.offset, hole.length, true);
    const auto missing = std::find(seen_.begin(), seen_.end(), false);
    if (missing == seen_.end()) return {};
    return wrong(field_, fmt::format("element number {} is in no block", missing - seen_.begin()));
  }

  int64_t elements() const { return field_.elements; }

 private:
  Status mark(int64_t offset, int64_t length) {
    for (int64_t i = offset; i < offset + length; ++i) {
      if (seen_[static_cast<size_t>(i)]) return wrong(field_, fmt::format("element number {} is in two blocks", i));
      seen_[static_cast<size_t>(i)] = true;
    }
    return {};
  }

  Result<Decomposition> decomposition(const Json& block) const {
    if (block.contains("runs")) {
      std::vector<Run> runs;
      for (const Json& run : block.at("runs")) runs.push_back({run.at(0).get<int64_t>(), run.at(1).get<int64_t>()});
      return Decomposition::runs(field_.shape, runs);
    }
    const auto start = block.at("start").get<std::vector<int64_t>>(),
               count = block.at("count").get<std::vector<int64_t>>();
    if (start.size() > max_rank || count.size() > max_rank) return wrong(field_, "a block of too many dimensions");
    return Decomposition::block(field_.shape, Dims(std::span<const int64_t>(start)),
                                Dims(std::span<const int64_t>(count)));
  }

  const Truth& truth_;
  int index_;
  const Field& field_;
  Faults& faults_;
  std::vector<bool> seen_;
  std::vector<std::byte> piece_;
};

Status check_dataset(const std::string& folder, const Json& index, const Json& dataset, FieldCheck& field) {
  PENSTOCK_TRY(field.check_definition(dataset));
  if (dataset.contains("file")) {
    const Part part(folder + dataset.at("file").get<std::string>());
    if (dataset.contains("chunks")) return field.check_chunks(part, dataset);
    return field.check_run(part, dataset.at("offset").get<int64_t>(), 0, field.elements());
  }
  for (const Json& block : dataset.at("blocks")) {
    const Part part(folder + index.at("parts").at(block.at("part").get<size_t>()).get<std::string>());
    PENSTOCK_TRY(field.check_block(part, block));
  }
  return field.check_cover();
}

Status check_index(const std::string& path, const Json& index, const Truth& truth, Faults& faults) {
  const std::string folder = path.substr(0, path.rfind('/') + 1);
  const std::vector<Field>& fields = truth.workload->fields();
  for (size_t i = 0; i < fields.size(); ++i) {
    const Json& datasets = index.at("datasets");
    const auto found = std::find_if(datasets.begin(), datasets.end(),
                                    [&](const Json& dataset) { return dataset.at("name") == fields[i].name; });
    if (found == datasets.end()) return wrong(fields[i], "not there");
    FieldCheck field(truth, static_cast<int>(i), faults);
    PENSTOCK_TRY(check_dataset(folder, index, *found, field));
  }
  return {};
}

}  // namespace

std::string raw_version() { return "sidecar and plain reads"; }

Status check_raw(const std::string& path, const Truth& truth, Faults& faults) {
  std::ifstream file(path);
  if (!file) return Status(Code::not_found, fmt::format("{} cannot be opened", path));
  try {
    return check_index(path, Json::parse(file), truth, faults);
  } catch (const Json::exception& error) {  // nlohmann's report that the sidecar does not match its format
    return Status(Code::damaged, fmt::format("{}: {}", path, error.what()));
  }
}

}  // namespace penstock::bench
