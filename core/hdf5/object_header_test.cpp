// Tests of object headers: what hostile and very old ones hold is seen as libhdf5 sees it.
#include "core/hdf5/object_header.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <string>

namespace penstock::hdf5 {
namespace {

using Text = std::string;

Text little(uint64_t value, size_t count) {
  Text bytes;
  for (size_t i = 0; i < count; ++i, value >>= 8) bytes += static_cast<char>(value & 0xff);
  return bytes;
}

// A message of a header in the new form, without creation order.
Text message(char type, const Text& body, char flags = 0) { return type + little(body.size(), 2) + flags + body; }

Text new_header(const Text& messages) { return "OHDR" + Text("\2\0", 2) + little(messages.size(), 1) + messages; }

class ObjectHeaders : public ::testing::Test {
 protected:
  // The header at ADDRESS of a file of BYTES.
  ObjectHeader read(const Text& bytes, uint64_t address = 0) {
    file_.reset(std::tmpfile());
    EXPECT_EQ(std::fwrite(bytes.data(), 1, bytes.size(), file_.get()), bytes.size());
    EXPECT_EQ(std::fflush(file_.get()), 0);
    stored_ = {fileno(file_.get()), 0, bytes.size(), 8, 8};
    return read_header(stored_, address);
  }
  Status layout(const ObjectHeader& header) {
    GlobalHeap heap(stored_);
    return check_layout(header, heap);
  }

  struct Close {
    void operator()(std::FILE* file) const { (void)std::fclose(file); }
  };
  std::unique_ptr<std::FILE, Close> file_;
  StoredBytes stored_;
};

const Text virtual_data = Text("\4\3", 2) + little(4096, 8) + little(1, 4);

TEST_F(ObjectHeaders, AVirtualLayoutNamesItsMapping) {
  const ObjectHeader header = read(new_header(message(8, virtual_data)));
  ASSERT_EQ(header.mappings.size(), 1u);
  EXPECT_EQ(header.mappings[0].address, 4096u);
  EXPECT_FALSE(layout(header).ok());  // no heap is there
}

TEST_F(ObjectHeaders, FiltersHaveTheirNumbersWhereTheListSays) {
  const Text shuffle = little(2, 2) + little(0, 2) + little(1, 2) + little(8, 4);
  const Text named = little(32015, 2) + little(4, 2) + little(1, 2) + little(1, 2) + "zstd" + little(3, 4);
  const Text unnamed = little(65535, 2) + little(0, 2) + little(1, 2) + little(0, 2);
  const Text bytes = new_header(message(8, virtual_data) + message(11, Text("\2\3", 2) + shuffle + named + unnamed));
  const FilterList list = read("before" + bytes + "sums", 6).filters;
  EXPECT_EQ(list.address, 6u);
  EXPECT_EQ(list.bytes, bytes.size() + 4);
  ASSERT_EQ(list.numbers.size(), 3u);
  EXPECT_EQ(bytes.substr(list.numbers[0], 2), little(2, 2));
  EXPECT_EQ(bytes.substr(list.numbers[1], 2), little(32015, 2));
  EXPECT_EQ(bytes.substr(list.numbers[2], 2), little(65535, 2));
}

TEST_F(ObjectHeaders, ListsOfFiltersThatAreCutHaveNone) {
  const Text list = Text("\2\2", 2) + little(32015, 2) + little(40, 2) + little(1, 2) + little(1, 2) + "zstd";
  for (size_t size = 0; size <= list.size(); ++size)
    EXPECT_TRUE(read(new_header(message(11, list.substr(0, size)))).filters.numbers.empty()) << size;
}

// Their second byte is the number of dimensions, not the kind of layout.
TEST_F(ObjectHeaders, OldContiguousLayoutsOfThreeDimensionsAreNotVirtual) {
  const Text contiguous = Text("\1\3\1\0\0\0\0\0", 8) + little(2048, 8) + little(4, 4) + little(4, 4) + little(4, 4);
  const ObjectHeader header = read(new_header(message(8, contiguous)));
  EXPECT_TRUE(header.mappings.empty());
  EXPECT_TRUE(layout(header).ok());
}

TEST_F(ObjectHeaders, AShortHeaderAtTheEndOfTheFileIsRead) {
  const Text part = "OCHK" + message(8, virtual_data) + little(0, 4);
  const Text last = new_header(message(16, little(0, 8) + little(part.size(), 8)));
  EXPECT_EQ(read(part + last, part.size()).mappings.size(), 1u);
}

TEST_F(ObjectHeaders, HeadersThatTheFileCutsOffHaveNothing) {
  const Text whole = new_header(message(8, virtual_data));
  for (size_t bytes = 0; bytes < whole.size(); ++bytes)
    EXPECT_TRUE(read(whole.substr(0, bytes)).mappings.empty()) << bytes;
}

TEST_F(ObjectHeaders, ACompactDatasetWithoutItsBytesIsRefusedBeforeItIsOpened) {
  for (const bool cut : {false, true}) {
    const Text data(cut ? 7 : 8, 'x');
    const ObjectHeader now = read(new_header(message(8, Text("\3\0", 2) + little(8, 2) + data)));
    EXPECT_EQ(layout(now).ok(), !cut);
    EXPECT_EQ(now.compact_bytes, 8u);
    const Text old = Text("\1\1\0\0\0\0\0\0", 8) + little(8, 4) + little(8, 4) + data;
    EXPECT_EQ(layout(read(new_header(message(8, old)))).ok(), !cut);
  }
}

TEST_F(ObjectHeaders, AFillValueThatLiesElsewhereIsNotTaken) {
  const Text fill = Text("\3\x20", 2) + little(16, 4) + little(0, 16);
  for (const bool shared : {false, true}) {
    const ObjectHeader header = read(new_header(message(5, fill, shared ? '\2' : '\0')));
    GlobalHeap heap(stored_);
    EXPECT_EQ(check_fills(header, heap).ok(), !shared);
  }
}

}  // namespace
}  // namespace penstock::hdf5
