// Writer: each rank appends to its own chunks; close creates the index and publishes.
#include <algorithm>
#include <cstring>
#include <optional>

#include <fmt/format.h>

#include "core/base/crc64.hpp"
#include "core/base/guarded.hpp"
#include "core/base/units.hpp"
#include "core/comm/calling.hpp"
#include "core/comm/share.hpp"
#include "core/container/header.hpp"
#include "core/container/state.hpp"
#include "core/model/settings.hpp"
#include "core/status/status_page.hpp"
#include "core/storage/aligned.hpp"
#include "core/storage/owner.hpp"
#include "core/storage/target.hpp"

namespace penstock::container {
namespace {

constexpr int64_t max_chunk = int64_t{1} << 40;

const Descriptor options{
    "a container of streams",
    "opaque bytes of each rank, in a few files",
    {{"files", Parameter::Type::integer, "0", "0", "how many files; 0, or node: as many as there are nodes"},
     {"chunk_bytes", Parameter::Type::bytes, "1", "1MiB", "what a rank gets at a time; rounded up to whole blocks"},
     {"buffer_bytes", Parameter::Type::bytes, "0", "1MiB", "memory in which small writes are collected"},
     {"io", Parameter::Type::choice, "buffered|direct", "buffered", "direct bypasses the page cache"},
     {"durability", Parameter::Type::choice, "full|none", "full", "none leaves out the syncs and nothing else"}},
    ""};

Result<Settings> parse_options(std::string_view text) {
  static constexpr std::string_view word = "files=node";
  std::string plain = fmt::format(",{},", text);
  if (const size_t at = plain.find(fmt::format(",{},", word)); at != std::string::npos)
    plain.replace(at + 1, word.size(), "files=0");
  PENSTOCK_ASSIGN(Settings settings, parse_settings(std::string_view(plain).substr(1, plain.size() - 2), options));
  for (const char* name : {"chunk_bytes", "buffer_bytes"})
    if (settings.integer(name) > max_chunk)
      return Status(Code::invalid, fmt::format("{}={}: at most 1 TiB can be had", name, settings.integer(name)));
  return settings;
}

// Collective. Each rank contributes its share of a node.
Result<int64_t> count_nodes(const Communicator& comm) {
  constexpr int64_t one = int64_t{1} << 31;
  int64_t share = one / std::max(1, comm->node_size());
  PENSTOCK_TRY(comm->all_reduce_sum(std::span(&share, 1)));
  return std::max<int64_t>(1, (share + one / 2) / one);
}

class Writer : public Stream::State {
 public:
  Writer(Communicator comm, Settings settings)
      : comm_(std::move(comm)), storage_(posix_storage()), settings_(std::move(settings)) {}
  ~Writer() override { drop(); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  Status begin(const std::string& path);

  Status write(std::span<const std::byte> bytes) override;
  Result<int64_t> read(int64_t, int64_t, std::span<std::byte>) override {
    return Status(Code::invalid, fmt::format("'{}' is being written: close it, then open it to read", path_));
  }
  int64_t count() const override { return header_.shape.streams; }
  Result<int64_t> bytes(int64_t rank) override;
  Status close() override;
  void remember_failure(const Status& status) override {
    if (!status.ok() && failure_.ok()) failure_ = status;
  }

 private:
  Status prepare(std::string path);  // rank 0
  Status create_file();
  Status append(std::span<const std::byte> bytes);
  Status store(std::span<const std::byte> bytes);
  std::string partial_path() const { return folder_of(path_) + partial_name(header_.stem, header_.generation, owner_); }
  Status flush();
  Status finish();
  Status publish(const std::vector<std::vector<std::byte>>& entries);  // rank 0
  Status write_index(const std::vector<std::vector<std::byte>>& entries);
  void drop();

  Io io() const { return settings_.word("io") == "direct" ? Io::direct : Io::buffered; }
  bool durable() const { return settings_.word("durability") == "full"; }

  Communicator comm_;
  std::shared_ptr<Storage> storage_;
  Settings settings_;
  Header header_;
  int64_t stream_ = 0;                      // this rank's
  std::string path_;                        // the path to publish
  std::optional<FileStat> file_at_create_;  // rank 0: the file there at create
  std::string owner_;                       // of the partial file: rank 0's process
  std::string file_path_;                   // of the file with this rank's stream
  bool created_ = false;                    // by this rank, not yet published
  StorageFilePtr file_;                     // opened at the first write
  AlignedMemory buffer_;
  size_t buffer_bytes_ = 0, filled_ = 0;
  int64_t stored_ = 0;   // bytes of the stream in the file
  int64_t written_ = 0;  // and those in the buffer
  uint64_t crc_ = 0;
  Status failure_;  // the first; close fails with it
  bool closed_ = false;
  ShownStep shown_;
};

Status Writer::prepare(std::string path) {
  path_ = resolve_link(std::move(path));
  header_.generation = random_token();
  header_.stem = path_.substr(folder_of(path_).size());
  PENSTOCK_ASSIGN(file_at_create_, check_target(*storage_, path_));
  owner_ = text(this_process());
  file_path_ = partial_path();
  PENSTOCK_TRY(create_file());
  PENSTOCK_ASSIGN(const FileStat made, storage_->stat(file_path_));
  header_.shape.data_offset = std::clamp(round_up(made.block_bytes, direct_alignment), direct_alignment, max_chunk);
  return {};
}

Status Writer::create_file() {
  PENSTOCK_ASSIGN(file_, storage_->create(file_path_, 0, io(), false));
  created_ = true;
  return {};
}

Status Writer::begin(const std::string& path) {
  int64_t files = settings_.integer("files");
  if (files == 0) {
    PENSTOCK_ASSIGN(files, count_nodes(comm_));
  }
  const auto bytes = from_rank_0(comm_, [&](Encoder& out) -> Status {
    PENSTOCK_TRY(by_its_name(guarded([&] { return prepare(path); }), file_path_, path_));
    out.text(path_);
    out.text(header_.stem);
    out.value(header_.generation);
    out.text(owner_);
    out.value(header_.shape.data_offset);
    return {};
  });
  PENSTOCK_TRY(bytes.status());
  Decoder in(*bytes);
  path_ = in.text();
  header_.stem = in.text();
  header_.generation = in.value<uint64_t>();
  owner_ = in.text();
  const auto block = in.value<int64_t>();

  Shape& shape = header_.shape;
  shape.streams = comm_->size();
  shape.files = std::min(files, shape.streams);
  shape.data_offset = block;
  shape.chunk_bytes = round_up(settings_.integer("chunk_bytes"), block);
  buffer_bytes_ = static_cast<size_t>(std::max(
      direct_alignment, round_up(std::min(settings_.integer("buffer_bytes"), shape.chunk_bytes), direct_alignment)));
  stream_ = comm_->rank();
  header_.file = shape.file_of(stream_);
  file_path_ =
      header_.file == 0 ? partial_path() : folder_of(path_) + file_name(header_.stem, header_.generation, header_.file);
  Status status;
  if (header_.file > 0 && shape.first(header_.file) == stream_)
    status = guarded([&]() -> Status {
      PENSTOCK_TRY(create_file());
      return file_->write(0, encode(header_));
    });
  shown_.begin({true, path_, "container", header_.generation, comm_->rank(), comm_->size(), 0, 0});
  return agree(comm_, status);
}

Status Writer::write(std::span<const std::byte> bytes) {
  if (closed_) return {Code::invalid, fmt::format("'{}' is closed", path_)};
  if (failure_.ok()) remember_failure(guarded([&] { return append(bytes); }));
  return by_its_name(failure_, partial_path(), path_).in(fmt::format("'{}'", path_));
}

Status Writer::append(std::span<const std::byte> bytes) {
  const auto size = static_cast<int64_t>(bytes.size());
  if (size > INT64_MAX - written_ || header_.shape.end(stream_, written_ + size) < 0)
    return {Code::invalid, fmt::format("{} bytes more would make its file longer than 4 EiB: use more files or smaller "
                                       "chunks",
                                       size)};
  if (bytes.empty()) return {};
  if (!buffer_) {
    buffer_ = aligned_memory(static_cast<int64_t>(buffer_bytes_));
    if (!buffer_) return {Code::memory, fmt::format("no memory for buffer_bytes={}", buffer_bytes_)};
  }
  crc_ = crc64(bytes, crc_);
  written_ += size;
  while (!bytes.empty()) {
    const bool past = filled_ == 0 && bytes.size() >= buffer_bytes_;  // a large write needs no copy
    const size_t n =
        past ? bytes.size() / buffer_bytes_ * buffer_bytes_ : std::min(bytes.size(), buffer_bytes_ - filled_);
    if (past) {
      PENSTOCK_TRY(store(bytes.first(n)));
    } else {
      std::memcpy(buffer_.get() + filled_, bytes.data(), n);
      filled_ += n;
      if (filled_ == buffer_bytes_) PENSTOCK_TRY(flush());
    }
    bytes = bytes.subspan(n);
  }
  return {};
}

Status Writer::store(std::span<const std::byte> bytes) {
  if (!file_) {
    PENSTOCK_ASSIGN(file_, storage_->open(file_path_, io(), true));
  }
  while (!bytes.empty()) {
    const Shape::Place place = header_.shape.place(stream_, stored_);
    const size_t n = std::min(bytes.size(), static_cast<size_t>(place.bytes));
    PENSTOCK_TRY(file_->write(place.offset, bytes.first(n)));
    stored_ += static_cast<int64_t>(n);
    bytes = bytes.subspan(n);
  }
  return {};
}

Status Writer::flush() {
  const size_t n = std::exchange(filled_, 0);
  return store(std::span(buffer_.get(), n));
}

Status Writer::finish() {
  if (filled_ > 0) PENSTOCK_TRY(flush());
  if (!file_) return {};
  if (durable()) PENSTOCK_TRY(file_->sync());
  return file_->close();
}

Result<int64_t> Writer::bytes(int64_t rank) {
  if (rank == stream_) return written_;
  return Status(Code::invalid,
                fmt::format("'{}' is being written: rank {} knows the length of its own stream only", path_, stream_));
}

Status Writer::close() {
  if (closed_) return {Code::invalid, fmt::format("'{}' is closed already", path_)};
  closed_ = true;
  const Calling calling(comm_, "close", path_);
  Status status = failure_;
  if (status.ok()) status = guarded([&] { return finish(); });
  file_.reset();
  buffer_.reset();
  status = agree(comm_, by_its_name(status, partial_path(), path_).in(fmt::format("'{}'", path_)));
  if (status.ok()) {
    std::array<std::byte, entry_bytes> mine{};
    encode(Entry{0, written_, crc_}, mine);
    const Doubt doubt(comm_, comm_->rank() > 0);  // rank 0 may receive all entries and publish
    const auto entries = comm_->gather(mine, 0);
    status = entries.status();
    if (status.ok())
      status = publish_together(
          comm_, [&] { return by_its_name(publish(*entries), partial_path(), path_).in(fmt::format("'{}'", path_)); });
  }
  if (status.ok() || status.code() == Code::in_doubt) created_ = false;
  drop();
  if (!status.ok()) all_cleaned(comm_, status);
  return status;
}

// The index is after the data of the first file, like SIONlib's second metablock. A container of one file is then only
// that file, and one method serves any number of files.
Status Writer::write_index(const std::vector<std::vector<std::byte>>& entries) {
  std::vector<std::byte> index;
  int64_t end = header_.shape.data_offset;
  for (size_t i = 0; i < entries.size(); ++i) {
    Entry entry = decode(std::span(entries[i]).first<entry_bytes>());
    entry.start = header_.total_bytes;
    header_.total_bytes += entry.bytes;
    const auto stream = static_cast<int64_t>(i);
    if (header_.shape.file_of(stream) == 0) end = std::max(end, header_.shape.end(stream, entry.bytes));
    std::array<std::byte, entry_bytes> bytes{};
    encode(entry, bytes);
    index.insert(index.end(), bytes.begin(), bytes.end());
  }
  header_.index_offset = round_up(end, header_.shape.data_offset);
  header_.index_crc = crc64(index);
  PENSTOCK_ASSIGN(auto file, storage_->open(file_path_, Io::buffered, true));
  PENSTOCK_TRY(file->write(header_.index_offset, index));
  PENSTOCK_TRY(file->write(0, encode(header_)));
  if (durable()) PENSTOCK_TRY(file->sync());
  return file->close();
}

// The header of the container at PATH, if its files have names like ours.
Result<Header> read_published(Storage& storage, const std::string& path, const std::string& stem) {
  PENSTOCK_ASSIGN(const FileStat there, storage.stat(path));
  if (!there.regular || there.bytes < header_bytes) return Status(Code::not_found, "no container");
  HeaderBytes bytes;
  PENSTOCK_ASSIGN(auto file, storage.open(path, Io::buffered, false));
  PENSTOCK_TRY(file->read(0, bytes));
  PENSTOCK_ASSIGN(Header header, decode(bytes));
  if (header.stem != stem) return Status(Code::not_found, "a container of another name");
  return header;
}

Status Writer::publish(const std::vector<std::vector<std::byte>>& entries) {
  const auto old = read_published(*storage_, path_, header_.stem);
  if (old.ok()) {
    header_.previous = old->generation;
    header_.previous_files = old->shape.files;
  }
  PENSTOCK_TRY(write_index(entries));
  if (durable() && header_.shape.files > 1) PENSTOCK_TRY(storage_->sync_directory(path_));  // names of the others
  PENSTOCK_TRY(penstock::publish(*storage_, file_path_, path_, file_at_create_, durable()));
  // The generation before the last has had no name since the last was published. No other files are removed: a name
  // pattern could match files of a renamed container.
  if (old.ok())
    for (int64_t file = 1; file < old->previous_files; ++file) {
      const std::string name = folder_of(path_) + file_name(header_.stem, old->previous, file);
      if (!storage_->stat(name).ok()) break;
      (void)storage_->remove(name);  // leftovers are not an error: the commit is complete
    }
  return {};
}

void Writer::drop() {
  shown_.end();
  file_.reset();
  if (std::exchange(created_, false)) (void)storage_->remove(file_path_);  // the first error counts
}

}  // namespace

Result<std::unique_ptr<Stream::State>> make_writer(const Communicator& comm, const std::string& path,
                                                   std::string_view text) {
  const Calling calling(comm, "stream_create", path, false);
  PENSTOCK_TRY(same_arguments(comm, path, text));
  auto settings = parse_options(text);
  if (!settings.ok()) return settings.status().in(fmt::format("options of '{}'", path));
  auto writer = std::make_unique<Writer>(comm, *std::move(settings));
  if (const Status begun = writer->begin(path); !begun.ok()) {
    writer.reset();  // removes what it has created
    all_cleaned(comm, begun);
    return begun;
  }
  return std::unique_ptr<Stream::State>(std::move(writer));
}

}  // namespace penstock::container
