// Tests of what is written ahead: memory that runs out between collective steps is an error, which the ranks share.
#include "core/commit/ahead.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <new>

#include <penstock/communicator.hpp>

namespace penstock {
namespace {

enum class Fails : uint8_t { nothing, open, write, close, encode };

// Memory runs out where WHEN says.
class PoorFile final : public StorageFile {
 public:
  explicit PoorFile(Fails when) : when_(when) {}
  Status write(int64_t, std::span<const std::byte>) override { return fail(Fails::write); }
  Status read(int64_t, std::span<std::byte>) override { return {}; }
  Status sync() override { return {}; }
  Status close() override { return fail(Fails::close); }

 private:
  Status fail(Fails here) const {
    if (when_ == here) throw std::bad_alloc();
    return {};
  }
  const Fails when_;
};

class PoorFiles final : public Files {
 public:
  explicit PoorFiles(Fails when) : when_(when) {}
  Result<StorageFilePtr> open(const std::string&, IoMode, bool) override {
    if (when_ == Fails::open) throw std::bad_alloc();
    return StorageFilePtr(std::make_unique<PoorFile>(when_));
  }
  Result<FileStat> stat(const std::string&) override { return FileStat(); }

 private:
  const Fails when_;
};

Status written(Fails when) {
  NewContents contents;
  contents.catalogue.datasets = {{"a", {Kind::u8}, Dims{100}}};
  ChunkStore store(contents, nullptr, nullptr, 1);
  PoorFiles files(when);
  AheadFile file{"f", Io::buffered, 0, 0};
  PhaseTimes phases;
  const Codec* codec = find_codec("deflate");
  const Dims chunk{10};
  const CodecUse use{{Kind::u8}, chunk};
  store.cut(0, Tiles(contents.catalogue.datasets[0], chunk, 0));
  PENSTOCK_TRY(store.encode_by(0, *codec, use, codec->filters(use)));
  const std::vector<std::byte> tile(10, std::byte{7});
  Batches batches;
  batches.rounds = 3;
  batches.bytes = 100;
  batches.encode = [&](int64_t round) -> Status {
    if (when == Fails::encode && round == 1) throw std::bad_alloc();
    return store.add({0, round}, tile);
  };
  return write_ahead(serial_communicator(), files, IoMode(Io::buffered, 1), store, batches, file, phases).status();
}

TEST(Ahead, MemoryThatRunsOutIsAnError) {
  if (!find_codec("deflate")->describe().missing.empty()) GTEST_SKIP() << "no deflate";
  EXPECT_TRUE(written(Fails::nothing).ok()) << written(Fails::nothing).message();
  for (const Fails when : {Fails::open, Fails::write, Fails::close, Fails::encode})
    EXPECT_EQ(written(when).code(), Code::memory) << static_cast<int>(when);
}

}  // namespace
}  // namespace penstock
