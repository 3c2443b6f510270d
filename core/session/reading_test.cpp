// Tests of reading: damage is found, and no other dataset is visited.
#include <fstream>
#include <limits>

#include "core/access/here.hpp"
#include "core/access/recognise.hpp"
#include "core/session/state.hpp"
#include "core/session/testing.hpp"

namespace penstock {
namespace {

using namespace test;

class Reading : public Session {};
INSTANTIATE_TEST_SUITE_P(Methods, Reading, testing::ValuesIn(methods), name_of_method);

TEST_P(Reading, CutFilesAreDamagedNotBelieved) {
  make(5000);
  for (const std::string& name : entries()) {
    const std::string file = folder_ + "/" + name;
    const auto size = static_cast<int64_t>(fs::file_size(file));
    const std::string copy = folder_ + "/saved";
    fs::copy_file(file, copy);
    for (const int64_t length : {int64_t{0}, int64_t{1}, int64_t{100}, size / 2, size - 4096, size - 1}) {
      if (length < 0 || length >= size) continue;
      fs::copy_file(copy, file, fs::copy_options::overwrite_existing);
      fs::resize_file(file, static_cast<uintmax_t>(length));
      std::vector<double> data(5000, -1);
      auto opened = open();
      Status status = opened.status();
      if (opened.ok()) {
        status = opened->get("data", f64, whole({5000}), data.data());
        if (status.ok()) status = opened->close();
      }
      // The end of a file may be padding: then everything exists.
      if (status.ok())
        EXPECT_EQ(data, numbers(5000)) << name << " cut to " << length;
      else
        EXPECT_FALSE(status.message().empty());
    }
    fs::copy_file(copy, file, fs::copy_options::overwrite_existing);
    fs::remove(copy);
  }
}

// A request is found without visiting other datasets, whose number would increase the time. A block in no part reveals
// a visit.
TEST_P(Reading, ReadingLooksAtNoOtherDataset) {
  auto file = create();
  ASSERT_TRUE(file.ok());
  const auto data = numbers(12);
  for (const char* name : {"asked", "other"}) ASSERT_TRUE(file->put(name, f64, whole({12}), data.data()).ok());
  ASSERT_TRUE(file->close().ok());
  const auto storage = posix_storage();
  auto contents = recognise_and_read(*storage, fs::exists(path_) ? path_ : path_ + ".json");
  ASSERT_TRUE(contents.ok()) << contents.status().message();
  contents->blocks[1][0].part = std::numeric_limits<int32_t>::max();
  std::vector<double> read(12);
  const Claim claim{0, Selection::whole(Dims{12}), reinterpret_cast<std::byte*>(read.data())};
  ASSERT_TRUE(read_here(*contents, path_, std::span(&claim, 1), storage).ok());
  EXPECT_EQ(read, data);
}

}  // namespace
}  // namespace penstock
