// Tests of the container: locations of chunks, corrupted headers, and damaged containers.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <penstock/stream.hpp>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>

#include "core/base/crc64.hpp"
#include "core/container/header.hpp"

namespace penstock::container {
namespace {

namespace fs = std::filesystem;

TEST(Shape, EveryStreamIsInOneFile) {
  for (int64_t streams = 1; streams <= 40; ++streams)
    for (int64_t files = 1; files <= streams; ++files) {
      const Shape shape{streams, files, 4096, 4096};
      EXPECT_EQ(shape.first(0), 0);
      EXPECT_EQ(shape.first(files), streams);
      for (int64_t stream = 0; stream < streams; ++stream) {
        const int64_t file = shape.file_of(stream);
        EXPECT_LE(shape.first(file), stream);
        EXPECT_GT(shape.first(file + 1), stream);
      }
    }
}

TEST(Shape, NoTwoStreamsShareAByte) {
  std::mt19937_64 random(7);
  for (int turn = 0; turn < 200; ++turn) {
    const auto streams = static_cast<int64_t>(random() % 9 + 1);
    const auto files = static_cast<int64_t>(random() % static_cast<uint64_t>(streams) + 1);
    const Shape shape{streams, files, static_cast<int64_t>(random() % 5 + 1), 600};
    std::map<std::pair<int64_t, int64_t>, int64_t> owner;  // of (file, byte)
    for (int64_t stream = 0; stream < streams; ++stream) {
      int64_t end = shape.data_offset;
      for (int64_t at = 0; at < 17; ++at) {
        const Shape::Place place = shape.place(stream, at);
        EXPECT_GE(place.offset, shape.data_offset);
        EXPECT_EQ(place.bytes, shape.chunk_bytes - at % shape.chunk_bytes);
        EXPECT_TRUE(owner.emplace(std::pair(shape.file_of(stream), place.offset), stream).second);
        EXPECT_EQ(shape.end(stream, at), end);
        end = place.offset + 1;
      }
    }
  }
}

TEST(Shape, SizesThatOverflowAreSeen) {
  const Shape shape{INT32_MAX, 1, int64_t{1} << 40, 4096};
  EXPECT_EQ(shape.end(0, 0), 4096);
  EXPECT_EQ(shape.end(INT32_MAX - 1, 1), -1);
  EXPECT_EQ((Shape{1, 1, 4096, 4096}.end(0, INT64_MAX)), -1);
  EXPECT_EQ((Shape{1, 1, 4096, 4096}.end(0, int64_t{1} << 50)), 4096 + (int64_t{1} << 50));
}

Header example() {
  Header header;
  header.shape = {1000, 7, 1 << 20, 4096};
  header.generation = 0x0123456789abcdef;
  header.index_offset = int64_t{5} << 33;
  header.index_crc = 42;
  header.total_bytes = int64_t{1} << 40;
  header.stem = "particles.pstream";
  header.previous = 99;
  header.previous_files = 3;
  return header;
}

TEST(Header, ComesBackWhole) {
  const Header header = example();
  const auto back = decode(encode(header));
  ASSERT_TRUE(back.ok()) << back.status().message();
  EXPECT_EQ(encode(*back), encode(header));
  EXPECT_EQ(back->stem, header.stem);
  EXPECT_EQ(back->shape.files, 7);
  EXPECT_EQ(back->previous_files, 3);
}

TEST(Header, EveryFlippedBitIsSeen) {
  const HeaderBytes good = encode(example());
  for (size_t bit = 0; bit < good.size() * 8; ++bit) {
    HeaderBytes bad = good;
    bad[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_EQ(decode(bad).status().code(), Code::damaged) << "bit " << bit;
  }
}

// A forged header has a correct checksum; its numbers may be invalid.
TEST(Header, NumbersThatCannotBeAreRefused) {
  const auto code = [](auto change) {
    Header header = example();
    change(header);
    return decode(encode(header)).status().code();
  };
  EXPECT_EQ(code([](Header&) {}), Code::ok);
  EXPECT_EQ(code([](Header& h) { h.shape.streams = 0; }), Code::damaged);
  EXPECT_EQ(code([](Header& h) { h.shape.streams = INT64_MAX; }), Code::damaged);
  EXPECT_EQ(code([](Header& h) { h.shape.files = 0; }), Code::damaged);
  EXPECT_EQ(code([](Header& h) { h.shape.files = 1001; }), Code::damaged);
  EXPECT_EQ(code([](Header& h) { h.shape.chunk_bytes = 0; }), Code::damaged);
  EXPECT_EQ(code([](Header& h) { h.shape.chunk_bytes = INT64_MAX; }), Code::damaged);
  EXPECT_EQ(code([](Header& h) { h.shape.data_offset = 0; }), Code::damaged);
  EXPECT_EQ(code([](Header& h) { h.index_offset = 17; }), Code::damaged);
  EXPECT_EQ(code([](Header& h) { h.index_offset = INT64_MAX; }), Code::damaged);
  EXPECT_EQ(code([](Header& h) { h.total_bytes = -1; }), Code::damaged);
  EXPECT_EQ(code([](Header& h) { h.file = 7; }), Code::damaged);
  EXPECT_EQ(code([](Header& h) { h.stem = "../../etc/passwd"; }), Code::damaged);
  EXPECT_EQ(code([](Header& h) { h.stem = ""; }), Code::damaged);
  EXPECT_EQ(code([](Header& h) { h.previous_files = -1; }), Code::damaged);
}

// A container of one stream in its own folder.
class OneStream : public testing::Test {
 protected:
  OneStream() {
    std::string name = fs::temp_directory_path() / "penstock-container-XXXXXX";
    folder_ = mkdtemp(name.data());
    path_ = folder_ / "c.pstream";
    std::mt19937_64 random(3);
    for (int i = 0; i < 20000; ++i) data_.push_back(static_cast<std::byte>(random()));
    auto stream = Stream::create(serial_communicator(), path_, "chunk_bytes=4KiB,buffer_bytes=4KiB");
    EXPECT_TRUE(stream.ok()) << stream.status().message();
    for (size_t at = 0, n = 1; at < data_.size(); at += n, n = n * 3 + 1)
      EXPECT_TRUE(stream->write(std::span(data_).subspan(at, std::min(n, data_.size() - at))).ok());
    EXPECT_TRUE(stream->close().ok());
  }
  ~OneStream() override { fs::remove_all(folder_); }

  std::vector<char> file() const {
    std::ifstream in(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void replace(const std::vector<char>& bytes) const {
    std::ofstream(path_, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  // Opens and reads everything in pieces: returns the first failure, or mismatch if the bytes differ.
  Status read(int64_t rank = 0) const {
    PENSTOCK_ASSIGN(auto stream, Stream::open(serial_communicator(), path_));
    PENSTOCK_ASSIGN(const int64_t size, stream.bytes(rank));
    std::vector<std::byte> all, piece(777);
    while (true) {
      PENSTOCK_ASSIGN(const int64_t got, stream.read(rank, static_cast<int64_t>(all.size()), piece));
      if (got == 0) break;
      all.insert(all.end(), piece.begin(), piece.begin() + got);
    }
    if (all != data_ || size != static_cast<int64_t>(data_.size())) return {Code::mismatch, "other bytes"};
    return stream.close();
  }

  fs::path folder_, path_;
  std::vector<std::byte> data_;
};

TEST_F(OneStream, ReadsBack) {
  EXPECT_TRUE(read().ok()) << read().message();
  EXPECT_TRUE(read(-1).ok()) << read(-1).message();
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1);
}

TEST_F(OneStream, OfAnotherJobStaysAndTheLoserIsTold) {
  auto stream = Stream::create(serial_communicator(), path_);
  ASSERT_TRUE(stream.ok()) << stream.status().message();
  EXPECT_TRUE(stream->write(std::span(data_).first(10)).ok());
  const auto good = file();
  fs::remove(path_);
  replace(good);  // another file
  const Status status = stream->close();
  EXPECT_EQ(status.code(), Code::exists) << status.message();
  EXPECT_TRUE(read().ok()) << read().message();
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1);
}

TEST_F(OneStream, PermitsWhatTheUmaskLets) {
  const mode_t before = ::umask(027);
  auto stream = Stream::create(serial_communicator(), path_);
  ASSERT_TRUE(stream.ok()) << stream.status().message();
  EXPECT_TRUE(stream->write(data_).ok());
  EXPECT_TRUE(stream->close().ok());
  ::umask(before);
  EXPECT_EQ(fs::status(path_).permissions(), fs::perms(0640));
  EXPECT_TRUE(read().ok()) << read().message();
}

TEST_F(OneStream, EveryTruncationIsSeen) {
  const auto good = file();
  for (size_t length = 0; length < good.size(); length += length < 600 ? 7 : 131) {
    replace({good.begin(), good.begin() + static_cast<ptrdiff_t>(length)});
    const Status status = read();
    EXPECT_EQ(status.code(), Code::damaged) << length << ": " << status.message();
    EXPECT_NE(status.message().find("c.pstream"), std::string::npos) << status.message();
  }
}

TEST_F(OneStream, EveryFlippedBitOfUseIsSeen) {
  const auto good = file();
  std::mt19937_64 random(11);
  int harmless = 0;
  for (int turn = 0; turn < 600; ++turn) {
    auto bad = good;
    const size_t at = turn < 100   ? random() % header_bytes
                      : turn < 200 ? good.size() - 1 - random() % entry_bytes
                                   : random() % good.size();
    bad[at] = static_cast<char>(bad[at] ^ (1 << random() % 8));
    replace(bad);
    const Status status = read();
    // No data is stored between header and data, or between data and index.
    const bool padding =
        (at >= header_bytes && at < 4096) || (at >= 4096 + data_.size() && at < good.size() - entry_bytes);
    harmless += padding;
    EXPECT_EQ(status.code(), padding ? Code::ok : Code::damaged) << "byte " << at << ": " << status.message();
  }
  EXPECT_LT(harmless, 200);
}

// Correct checksums, but a false index.
TEST_F(OneStream, AnIndexThatLiesIsDamage) {
  const auto good = file();
  HeaderBytes head;
  std::memcpy(head.data(), good.data(), head.size());
  const Header header = *decode(head);
  for (const Entry& lie : {Entry{0, INT64_MAX, 0}, Entry{0, -1, 0}, Entry{-5, 20000, 0}, Entry{INT64_MAX, 2, 0},
                           Entry{0, 20001, 0}, Entry{3, 19000, 0}, Entry{0, 20000, 1}}) {
    std::array<std::byte, entry_bytes> entry{};
    encode(lie, entry);
    Header changed = header;
    changed.index_crc = crc64(entry);
    changed.total_bytes = std::max(header.total_bytes, lie.bytes);
    const HeaderBytes changed_head = encode(changed);
    auto bad = good;
    std::memcpy(bad.data(), changed_head.data(), changed_head.size());
    std::memcpy(bad.data() + header.index_offset, entry.data(), entry.size());
    replace(bad);
    EXPECT_EQ(read().code(), Code::damaged) << lie.start << " " << lie.bytes << ": " << read().message();
    EXPECT_EQ(read(-1).code(), Code::damaged) << lie.start << " " << lie.bytes << ": " << read(-1).message();
  }
}

}  // namespace
}  // namespace penstock::container
