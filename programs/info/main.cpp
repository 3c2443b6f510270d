// penstock-info: lists the contents of files without reading their data. The command `penstock info` starts it and
// reads its JSON lines.
#include <sys/stat.h>

#include <complex>
#include <cstdint>
#include <cstring>

#include <fmt/format.h>

#include "core/access/recognise.hpp"
#include "core/access/record.hpp"
#include "core/format/format.hpp"
#include "core/storage/target.hpp"
#include "programs/program.hpp"

namespace {

using namespace penstock;  // NOLINT(google-build-using-namespace): this is a main
using nlohmann::json;

template <typename T>
json number_at(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

json value_at(const ElementType& type, const std::byte* at) {
  switch (type.kind) {
    case Kind::i8: return number_at<int8_t>(at);
    case Kind::u8: return number_at<uint8_t>(at);
    case Kind::i16: return number_at<int16_t>(at);
    case Kind::u16: return number_at<uint16_t>(at);
    case Kind::i32: return number_at<int32_t>(at);
    case Kind::u32: return number_at<uint32_t>(at);
    case Kind::i64: return number_at<int64_t>(at);
    case Kind::u64: return number_at<uint64_t>(at);
    case Kind::f32: return number_at<float>(at);
    case Kind::f64: return number_at<double>(at);
    case Kind::complex64: return {number_at<float>(at), number_at<float>(at + 4)};
    case Kind::complex128: return {number_at<double>(at), number_at<double>(at + 8)};
    case Kind::text: {
      const auto* text = reinterpret_cast<const char*>(at);
      return std::string(text, ::strnlen(text, static_cast<size_t>(type.text_bytes)));
    }
  }
  return nullptr;
}

json as_json(const Attribute& attribute) {
  const int64_t count = elements(attribute.shape), size = bytes(attribute.type);
  json value;
  if (attribute.shape.rank() == 0) {
    value = value_at(attribute.type, attribute.value.data());
  } else {
    value = json::array();
    for (int64_t i = 0; i < count; ++i) value.push_back(value_at(attribute.type, attribute.value.data() + i * size));
  }
  return {{"type", name(attribute.type)},
          {"shape", std::vector<int64_t>(attribute.shape.begin(), attribute.shape.end())},
          {"value", value}};
}

// How the encoded chunks of DATASET are stored, unless that cannot be told.
void add_stored(json& one, const Contents& contents, const Dataset& dataset, const std::string& path) {
  const Format* of = find_format(contents.format);
  if (of == nullptr) return;
  const auto open = of->open_foreign(contents, path, dataset, 0);
  if (!open.ok()) return;
  const Stored stored = (*open)->stored();
  one["filters"] = stored.filters;
  one["stored_bytes"] = stored.bytes;
}

json datasets_of(const Contents& contents, const Record& record, const std::string& path) {
  json list = json::array();
  for (size_t d = 0; d < contents.catalogue.datasets.size(); ++d) {
    const Dataset& dataset = contents.catalogue.datasets[d];
    json one{{"name", dataset.name},
             {"type", name(dataset.type)},
             {"shape", std::vector<int64_t>(dataset.shape.begin(), dataset.shape.end())},
             {"bytes", bytes(dataset)},
             {"unlimited", dataset.unlimited},
             {"plain", !contents.foreign[d]},
             {"checksums", record.find(dataset) != nullptr}};
    if (const auto chunk = contents.chunks.find(dataset.name); chunk != contents.chunks.end()) {
      one["chunk"] = std::vector<int64_t>(chunk->second.begin(), chunk->second.end());
      add_stored(one, contents, dataset, path);
    }
    if (contents.parts.size() == 1 && contents.blocks[d].size() == 1) one["offset"] = contents.blocks[d][0].base;
    list.push_back(std::move(one));
  }
  return list;
}

json files_of(const Contents& contents, const std::string& master) {
  std::vector<std::string> paths = contents.parts;
  if (paths.empty() || paths[0] != master) paths.insert(paths.begin(), master);
  if (contents.parity) paths.push_back(contents.parity->path);
  json list = json::array();
  for (const std::string& path : paths) {
    struct stat info = {};
    const bool there = ::stat(path.c_str(), &info) == 0;
    list.push_back({{"path", path},
                    {"bytes", there ? int64_t{info.st_size} : 0},
                    {"allocated", there ? int64_t{info.st_blocks} * 512 : 0},
                    {"missing", !there}});
  }
  return list;
}

Result<program::Outcome> look(const char* path) {
  const auto storage = posix_storage();
  const std::string resolved = resolve_link(path);
  PENSTOCK_ASSIGN(Contents contents, recognise_and_read(*storage, resolved));
  Record record;
  if (auto loaded = load_record(contents, resolved, storage); loaded.ok()) record = *std::move(loaded);
  json attributes = json::object();
  for (const auto& [object, list] : contents.catalogue.attributes)
    for (const auto& [name, attribute] : list) attributes[object][name] = as_json(attribute);
  json lost = json::array();
  for (const auto& part : contents.lost) lost.push_back(part.why.message());
  const bool set = contents.parts.size() != 1 || contents.parts[0] != resolved;
  json found{{"format", contents.format},
             {"set", set},
             {"files", files_of(contents, resolved)},
             {"parity", contents.parity.has_value()},
             {"committed_at", record.committed_at},
             {"datasets", datasets_of(contents, record, resolved)},
             {"attributes", attributes},
             {"lost", lost},
             {"left_out", contents.left_out},
             {"unread", contents.unread}};
  const bool good = contents.lost.empty();
  return program::Outcome{{{"found", std::move(found)}}, good};
}

}  // namespace

int main(int argc, char** argv) {
  return program::run_alone(
      argc, argv, {"penstock-info", "FILE...", 1, SIZE_MAX},
      [](const Communicator& comm, std::span<char*> files) { return program::for_each_file(comm, files, look); });
}
