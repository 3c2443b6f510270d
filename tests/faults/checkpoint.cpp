// The two versions of a checkpoint: a field, a list and a time; the second is larger and has one field more.
#include "tests/faults/checkpoint.hpp"

#include <cstring>
#include <vector>

#include <fmt/format.h>
#include <penstock/file.hpp>
#include <penstock/stream.hpp>

#include "tests/harness/slice.hpp"
#include "tests/harness/values.hpp"

namespace penstock::test {

namespace {

constexpr std::string_view stream_word = "stream:";
constexpr std::string_view stream_extension = ".pstream";
const ElementType f64{Kind::f64}, i32{Kind::i32}, i64{Kind::i64};

struct Field {
  std::string name;
  ElementType type;
  Dims shape;
};

std::vector<Field> fields(int64_t version, int64_t scale) {
  std::vector<Field> list{
      {"density", f64, {(88 + 8 * version) * scale, 128}}, {"id", i32, {300 + 200 * version}}, {"time", f64, {1}}};
  if (version == 2) list.push_back({"velocity", f64, {40, 64}});
  return list;
}

uint64_t seed(int64_t version, size_t field) { return static_cast<uint64_t>(version) * 16 + field; }

Status write_file(const Communicator& comm, const std::string& path, const std::string& plan, int64_t version,
                  int64_t scale) {
  PENSTOCK_ASSIGN(File file, File::create(comm, path, plan));
  const auto list = fields(version, scale);
  for (size_t i = 0; i < list.size(); ++i) {
    const Dims& shape = list[i].shape;
    const Slice slice = list[i].name == "time"
                            ? replicated(shape)
                            : grid(shape, process_grid(comm->size(), shape.rank(), true), comm->rank());
    const auto memory = filled(slice, list[i].type, seed(version, i));
    (void)file.put(list[i].name, list[i].type, slice.part, memory.data());  // a failure is close's
  }
  (void)file.set_attribute("/", make_attribute("version", i64, &version, -1));
  return file.close();
}

Finding damaged(std::string why) { return {"damaged", std::move(why)}; }
Finding lost(const Status& status) { return {"lost", status.message()}; }
Finding found(int64_t version) { return {version == 1 ? "old" : "new", ""}; }

Finding find_file(const std::string& path) {
  auto file = File::open(serial_communicator(), path, "independent:verify=always");
  if (!file) return lost(file.status());
  const auto attribute = file->attribute("/", "version");
  if (!attribute) return lost(attribute.status());
  int64_t version = 0;
  if (attribute->value.size() != sizeof version) return damaged("the attribute 'version' has another size");
  std::memcpy(&version, attribute->value.data(), sizeof version);
  if (version != 1 && version != 2) return damaged(fmt::format("the attribute 'version' is {}", version));
  const auto density = file->dataset("density");
  if (!density) return lost(density.status());
  const int64_t scale = density->shape.rank() == 2 ? density->shape[0] / (88 + 8 * version) : 0;
  const auto list = fields(version, scale);
  if (file->datasets().size() != list.size())
    return damaged(fmt::format("{} datasets of {}", file->datasets().size(), list.size()));
  std::vector<std::vector<std::byte>> memory;
  for (const Field& field : list) {
    const auto there = file->dataset(field.name);
    if (!there) return lost(there.status());
    if (there->type != field.type || !(there->shape == field.shape))
      return damaged(fmt::format("'{}' has another type or shape", field.name));
    const Slice slice = replicated(field.shape);
    memory.push_back(blank(slice, field.type));
    (void)file->get(field.name, field.type, slice.part, memory.back().data());
  }
  if (const Status closed = file->close(); !closed.ok()) return lost(closed);
  for (size_t i = 0; i < list.size(); ++i) {
    int64_t wrong = 0;
    const int64_t count = differences(replicated(list[i].shape), list[i].type, seed(version, i), memory[i], wrong);
    if (count > 0)
      return damaged(fmt::format("{} elements of '{}' are wrong, the first is {}", count, list[i].name, wrong));
  }
  return found(version);
}

int64_t stream_bytes(int64_t version, int64_t rank) { return 40000 * version + 1000 * rank; }

std::vector<std::byte> stream_content(int64_t version, int64_t rank) {
  std::vector<std::byte> bytes(static_cast<size_t>(stream_bytes(version, rank)));
  for (size_t i = 0; i + 8 <= bytes.size(); i += 8) {
    const uint64_t value = mix(static_cast<uint64_t>(version * 1000 + rank), i);
    std::memcpy(&bytes[i], &value, 8);
  }
  return bytes;
}

Status write_stream(const Communicator& comm, const std::string& path, std::string_view options, int64_t version) {
  PENSTOCK_ASSIGN(Stream stream, Stream::create(comm, path, options));
  const auto bytes = stream_content(version, comm->rank());
  constexpr size_t piece = 9000;
  for (size_t at = 0; at < bytes.size(); at += piece)
    (void)stream.write(std::span(bytes).subspan(at, std::min(piece, bytes.size() - at)));  // a failure is close's
  return stream.close();
}

Finding find_stream(const std::string& path) {
  auto stream = Stream::open(serial_communicator(), path);
  if (!stream) return lost(stream.status());
  int64_t version = 0;
  for (int64_t rank = 0; rank < stream->count(); ++rank) {
    const auto length = stream->bytes(rank);
    if (!length) return lost(length.status());
    if (rank == 0) version = *length / stream_bytes(1, 0);
    if ((version != 1 && version != 2) || *length != stream_bytes(version, rank))
      return damaged(fmt::format("stream {} has {} bytes", rank, *length));
    std::vector<std::byte> bytes(static_cast<size_t>(*length));
    const auto got = stream->read(rank, 0, bytes);
    if (!got) return lost(got.status());
    if (*got != *length || bytes != stream_content(version, rank))
      return damaged(fmt::format("stream {} has other bytes", rank));
  }
  if (const Status closed = stream->close(); !closed.ok()) return lost(closed);
  return found(version);
}

}  // namespace

Status write_checkpoint(const Communicator& comm, const std::string& path, const std::string& plan, int version,
                        int64_t scale) {
  if (plan.starts_with(stream_word)) return write_stream(comm, path, plan.substr(stream_word.size()), version);
  return write_file(comm, path, plan, version, scale);
}

Finding find_checkpoint(const std::string& path) {
  return path.ends_with(stream_extension) ? find_stream(path) : find_file(path);
}

}  // namespace penstock::test
