// Reader: reads any stream on any rank. It loads index pages on demand, so that no rank holds the whole index.
#include <algorithm>

#include <fmt/format.h>

#include "core/base/crc64.hpp"
#include "core/base/guarded.hpp"
#include "core/base/link.hpp"
#include "core/comm/calling.hpp"
#include "core/comm/share.hpp"
#include "core/container/header.hpp"
#include "core/container/state.hpp"
#include "core/storage/target.hpp"

namespace penstock::container {
namespace {

constexpr int64_t page_entries = 4096;

class Reader : public Stream::State {
 public:
  explicit Reader(Communicator comm) : comm_(std::move(comm)), storage_(posix_storage()) {}

  Status begin(const std::string& path);

  Status write(std::span<const std::byte>) override {
    return {Code::invalid, fmt::format("'{}' was opened to read: its streams cannot be changed", path_)};
  }
  Result<int64_t> read(int64_t rank, int64_t offset, std::span<std::byte> into) override;
  int64_t count() const override { return header_.shape.streams; }
  Result<int64_t> bytes(int64_t rank) override;
  Status close() override;
  void remember_failure(const Status&) override {}  // reading publishes nothing

 private:
  Result<HeaderBytes> look(const std::string& path);  // rank 0
  Status check_index();
  Status check_files();
  Status check_file(int64_t file);
  Result<Entry> entry(int64_t stream);
  Status load(int64_t stream);
  Result<StorageFile*> file_of(int64_t stream);
  Status check_stream(int64_t rank) const;
  Result<int64_t> read_stream(int64_t rank, int64_t offset, std::span<std::byte> into);
  Result<int64_t> read_all(int64_t offset, std::span<std::byte> into);
  Status follow(int64_t rank, const Entry& entry, int64_t offset, std::span<const std::byte> bytes);
  std::string name_of(int64_t file) const {
    return file == 0 ? path_ : folder_of(path_) + file_name(header_.stem, header_.generation, file);
  }

  Communicator comm_;
  std::shared_ptr<Storage> storage_;
  std::string path_;
  Header header_;
  StorageFilePtr main_;   // kept open, so that a container published in the meantime has no effect here
  StorageFilePtr other_;  // the other file read last
  int64_t other_number_ = 0;
  std::vector<std::byte> page_;
  int64_t page_first_ = -1;  // the first stream in the page
  // The stream being read from its beginning, and its checksum so far.
  int64_t followed_ = -1, followed_bytes_ = 0;
  uint64_t followed_crc_ = 0;
  bool closed_ = false;
};

Result<Header> read_header(StorageFile& file, const std::string& path, int64_t bytes) {
  HeaderBytes head{};
  if (bytes >= header_bytes) PENSTOCK_TRY(file.read(0, head));  // a shorter file is not a container
  auto header = decode(head);
  if (!header.ok()) return Status(header.status().code(), fmt::format("'{}': {}", path, header.status().message()));
  return header;
}

Result<HeaderBytes> Reader::look(const std::string& path) {
  if (path.empty()) return Status(Code::invalid, "the path is empty");
  path_ = resolve_link(path);  // the other files are beside the file, not beside the link
  PENSTOCK_ASSIGN(const FileStat there, storage_->stat(path_));
  if (there.directory) return Status(Code::invalid, fmt::format("'{}' is a folder, not a file", path_));
  if (!there.regular) return Status(Code::invalid, fmt::format("'{}' is no regular file", path_));
  PENSTOCK_ASSIGN(main_, storage_->open(path_, Io::buffered, false));
  PENSTOCK_ASSIGN(header_, read_header(*main_, path_, there.bytes));
  if (header_.file != 0)
    return Status(Code::invalid, fmt::format("'{}' is file {} of a container: open the one that has its name, '{}'",
                                             path_, header_.file, header_.stem));
  const int64_t wanted = header_.shape.streams * entry_bytes;
  if (there.bytes < wanted || header_.index_offset > there.bytes - wanted)
    return Status(Code::damaged, fmt::format("'{}' is cut off: it has {} bytes, with its index it had {}", path_,
                                             there.bytes, header_.index_offset + wanted));
  PENSTOCK_TRY(check_index());
  return encode(header_);
}

Status Reader::check_index() {
  uint64_t crc = 0;
  for (int64_t first = 0; first < header_.shape.streams; first += page_entries) {
    PENSTOCK_TRY(load(first));
    crc = crc64(page_, crc);
  }
  if (crc == header_.index_crc) return {};
  return {Code::damaged, fmt::format("'{}': its index is damaged: the checksum is another", path_)};
}

Status Reader::begin(const std::string& path) {
  PENSTOCK_TRY(same_arguments(comm_, path, {}));
  const auto bytes = from_rank_0(comm_, [&](Encoder& out) -> Status {
    PENSTOCK_ASSIGN(const HeaderBytes head, look(path));
    out.text(path_);
    out.value(head);
    return {};
  });
  PENSTOCK_TRY(bytes.status());
  Decoder in(*bytes);
  path_ = in.text();
  const auto head = in.value<HeaderBytes>();
  const Status mine = guarded([&]() -> Status {
    PENSTOCK_ASSIGN(header_, decode(head));
    if (!main_) {
      PENSTOCK_ASSIGN(main_, storage_->open(path_, Io::buffered, false));
      HeaderBytes here{};
      PENSTOCK_TRY(main_->read(0, here));
      if (here != head)
        return {Code::mismatch, fmt::format("'{}' was replaced while it was opened: open it again", path_)};
    }
    return check_files();
  });
  return agree(comm_, mine);
}

// Each rank checks some of the files, so that missing or truncated files are reported at once.
Status Reader::check_files() {
  for (int64_t file = comm_->rank(); file < header_.shape.files; file += comm_->size()) PENSTOCK_TRY(check_file(file));
  return {};
}

Status Reader::check_file(int64_t file) {
  const Shape& shape = header_.shape;
  const std::string name = name_of(file);
  PENSTOCK_TRY(file_of(shape.first(file)).status());
  int64_t end = 0;
  for (int64_t stream = shape.first(file); stream < shape.first(file + 1); ++stream) {
    PENSTOCK_ASSIGN(const Entry one, entry(stream));
    if (one.bytes > 0) end = std::max(end, shape.end(stream, one.bytes));
    int64_t next = header_.total_bytes;
    if (stream + 1 < shape.streams) {
      PENSTOCK_ASSIGN(const Entry following, entry(stream + 1));
      next = following.start;
    }
    if (one.start + one.bytes != next || (stream == 0 && one.start != 0))
      return {Code::damaged,
              fmt::format("'{}': in its index, stream {} does not end where the next one begins", path_, stream)};
  }
  if (file == 0 && end > header_.index_offset)
    return {Code::damaged, fmt::format("'{}': its index overlaps the data of a stream", name)};
  PENSTOCK_ASSIGN(const FileStat there, storage_->stat(name));
  if (file > 0 && there.bytes < end)
    return {Code::damaged,
            fmt::format("'{}' is cut off: it has {} bytes, its streams need {}", name, there.bytes, end)};
  return {};
}

Status Reader::load(int64_t stream) {
  const int64_t first = stream / page_entries * page_entries;
  if (first == page_first_) return {};
  page_first_ = -1;
  page_.resize(static_cast<size_t>(std::min(page_entries, header_.shape.streams - first) * entry_bytes));
  PENSTOCK_TRY(main_->read(header_.index_offset + first * entry_bytes, page_));
  page_first_ = first;
  return {};
}

Result<Entry> Reader::entry(int64_t stream) {
  PENSTOCK_TRY(load(stream));
  const auto at = static_cast<size_t>((stream - page_first_) * entry_bytes);
  const Entry one = decode(std::span(page_).subspan(at).first<entry_bytes>());
  if (one.bytes >= 0 && one.start >= 0 && one.bytes <= header_.total_bytes &&
      one.start <= header_.total_bytes - one.bytes && header_.shape.end(stream, one.bytes) >= 0)
    return one;
  return Status(Code::damaged, fmt::format("'{}': its index has a length of stream {} that cannot be", path_, stream));
}

Result<StorageFile*> Reader::file_of(int64_t stream) {
  const int64_t number = header_.shape.file_of(stream);
  if (number == 0) return main_.get();
  if (number == other_number_) return other_.get();
  other_number_ = 0;
  const std::string name = name_of(number);
  PENSTOCK_TRY(check_link(name));
  const auto there = storage_->stat(name);
  if (!there.ok())
    return there.status().in(fmt::format("'{}' has streams {} to {} in a file of its own, which is missing", path_,
                                         header_.shape.first(number), header_.shape.first(number + 1) - 1));
  if (!there->regular) return Status(Code::damaged, fmt::format("'{}' is no regular file", name));
  PENSTOCK_ASSIGN(other_, storage_->open(name, Io::buffered, false));
  PENSTOCK_ASSIGN(const Header header, read_header(*other_, name, there->bytes));
  const Shape &a = header.shape, &b = header_.shape;
  if (header.generation != header_.generation || header.file != number || a.streams != b.streams ||
      a.files != b.files || a.chunk_bytes != b.chunk_bytes || a.data_offset != b.data_offset)
    return Status(Code::damaged, fmt::format("'{}' is not the file that belongs to '{}'", name, path_));
  other_number_ = number;
  return other_.get();
}

Status Reader::check_stream(int64_t rank) const {
  if (closed_) return {Code::invalid, fmt::format("'{}' is closed", path_)};
  if (rank >= -1 && rank < header_.shape.streams) return {};
  return {Code::invalid, fmt::format("there is no stream {} in '{}': it has 0 to {}, and -1 is all of them", rank,
                                     path_, header_.shape.streams - 1)};
}

Result<int64_t> Reader::bytes(int64_t rank) {
  PENSTOCK_TRY(check_stream(rank));
  if (rank == -1) return header_.total_bytes;
  PENSTOCK_ASSIGN(const Entry one, entry(rank));
  return one.bytes;
}

Result<int64_t> Reader::read(int64_t rank, int64_t offset, std::span<std::byte> into) {
  PENSTOCK_TRY(check_stream(rank));
  if (offset < 0)
    return Status(Code::invalid, fmt::format("stream {} of '{}': offset {} is negative", rank, path_, offset));
  return rank == -1 ? read_all(offset, into) : read_stream(rank, offset, into);
}

Result<int64_t> Reader::read_stream(int64_t rank, int64_t offset, std::span<std::byte> into) {
  PENSTOCK_ASSIGN(const Entry one, entry(rank));
  const int64_t wanted = std::min(static_cast<int64_t>(into.size()), std::max<int64_t>(0, one.bytes - offset));
  if (wanted == 0) return wanted;
  PENSTOCK_ASSIGN(StorageFile* const file, file_of(rank));
  for (int64_t done = 0; done < wanted;) {
    const Shape::Place place = header_.shape.place(rank, offset + done);
    const int64_t n = std::min(place.bytes, wanted - done);
    PENSTOCK_TRY(file->read(place.offset, into.subspan(static_cast<size_t>(done), static_cast<size_t>(n))));
    done += n;
  }
  PENSTOCK_TRY(follow(rank, one, offset, into.first(static_cast<size_t>(wanted))));
  return wanted;
}

Status Reader::follow(int64_t rank, const Entry& entry, int64_t offset, std::span<const std::byte> bytes) {
  if (offset == 0) {
    followed_ = rank;
    followed_bytes_ = 0;
    followed_crc_ = 0;
  }
  if (followed_ != rank || followed_bytes_ != offset) return {};
  followed_crc_ = crc64(bytes, followed_crc_);
  followed_bytes_ += static_cast<int64_t>(bytes.size());
  if (followed_bytes_ < entry.bytes || followed_crc_ == entry.crc) return {};
  const int64_t file = header_.shape.file_of(rank);
  return {Code::damaged,
          fmt::format("stream {} of '{}' is damaged: its {} bytes{} have another checksum than when they were written",
                      rank, path_, entry.bytes, file == 0 ? "" : fmt::format(" in '{}'", name_of(file)))};
}

Result<int64_t> Reader::read_all(int64_t offset, std::span<std::byte> into) {
  // The first stream that ends after OFFSET.
  int64_t low = 0, high = header_.shape.streams;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    PENSTOCK_ASSIGN(const Entry one, entry(middle));
    if (one.start + one.bytes > offset)
      high = middle;
    else
      low = middle + 1;
  }
  int64_t done = 0;
  for (int64_t rank = low; rank < header_.shape.streams && done < static_cast<int64_t>(into.size()); ++rank) {
    PENSTOCK_ASSIGN(const Entry one, entry(rank));
    PENSTOCK_ASSIGN(const int64_t got,
                    read_stream(rank, offset + done - one.start, into.subspan(static_cast<size_t>(done))));
    done += got;
  }
  return done;
}

Status Reader::close() {
  if (closed_) return {Code::invalid, fmt::format("'{}' is closed already", path_)};
  closed_ = true;
  main_.reset();
  other_.reset();
  const Calling calling(comm_, "close", path_);
  return comm_->barrier();
}

}  // namespace

Result<std::unique_ptr<Stream::State>> make_reader(const Communicator& comm, const std::string& path) {
  const Calling calling(comm, "stream_open", path, false);
  auto reader = std::make_unique<Reader>(comm);
  PENSTOCK_TRY(reader->begin(path));
  return std::unique_ptr<Stream::State>(std::move(reader));
}

}  // namespace penstock::container
