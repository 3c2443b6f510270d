// Tests of raw: locations of data, and sidecars that must match their parts.
#include "core/format/index.hpp"
#include "core/format/testing.hpp"

namespace penstock {
const Format& raw_format();
namespace {

using namespace testing;

Catalogue sample() {
  Catalogue catalogue;
  int i = 0;
  for (const ElementType& type : every_type()) {
    catalogue.datasets.push_back({"big/" + name(type), type, Dims{50, 100}, false});
    catalogue.datasets.push_back({"odd" + std::to_string(i++), type, Dims{3}, false});
    catalogue.datasets.push_back({"scalar/" + name(type), type, Dims{}, false});
  }
  catalogue.datasets.push_back({"nothing", {Kind::f64, 0}, Dims{0, 3}, false});
  catalogue.attributes[""]["title"] = text_attribute("title", std::string_view("sample"));
  sort(catalogue);
  return catalogue;
}

// A set of one part, as made by the session.
Contents set_of(const Catalogue& catalogue, const Layout& layout, const std::string& part) {
  Contents contents;
  contents.format = "raw";
  contents.generation = "g1";
  contents.catalogue = catalogue;
  contents.parts = {part};
  for (size_t i = 0; i < catalogue.datasets.size(); ++i) {
    contents.blocks.emplace_back();
    contents.foreign.push_back(false);
    if (bytes(catalogue.datasets[i]) > 0)
      contents.blocks.back().push_back(
          {0, layout.blocks[i].base, false, Selection::whole(catalogue.datasets[i].shape)});
  }
  return contents;
}

TEST(Raw, LargeOnBlocksSmallPacked) {
  const Catalogue catalogue = sample();
  for (const int64_t block : {1, 512, 4096}) {
    const auto layout = raw_format().layout(catalogue, {block});
    ASSERT_TRUE(layout.ok());
    EXPECT_TRUE(layout->metadata.empty());
    expect_apart(catalogue, *layout);
    for (size_t i = 0; i < catalogue.datasets.size(); ++i)
      EXPECT_EQ(layout->blocks[i].base % (bytes(catalogue.datasets[i]) >= block ? block : 8), 0);
  }
}

TEST(Raw, MoreThan63BitsIsAnError) {
  Catalogue catalogue;
  catalogue.datasets = {{"a", {Kind::u8, 0}, Dims{INT64_MAX / 2}, false},
                        {"b", {Kind::u8, 0}, Dims{INT64_MAX / 2}, false},
                        {"c", {Kind::u8, 0}, Dims{INT64_MAX / 2}, false}};
  EXPECT_EQ(raw_format().layout(catalogue, {4096}).status().code(), Code::invalid);
}

TEST(Raw, EncodedDatasetsLieBehindAllOthers) {
  Catalogue catalogue;
  catalogue.datasets = {{"a", {Kind::f64}, Dims{1000}}, {"b", {Kind::f64}, Dims{1000}}, {"c", {Kind::f64}, Dims{1000}}};
  std::vector<Encoding> encodings(3);
  encodings[0] = {Dims{10}, {{1, {4}}}, 5000, {}};
  encodings[2] = {Dims{10}, {{1, {4}}}, 0, {}};
  const auto layout = raw_format().layout(catalogue, {4096, encodings});
  ASSERT_TRUE(layout.ok());
  EXPECT_EQ(layout->blocks[1].base, 0);
  EXPECT_EQ(layout->blocks[0].base, 8192);
  EXPECT_EQ(layout->end, 8192 + 5000);
  const auto behind = raw_format().layout(catalogue, {4096, encodings, {0, 8192, 100'000}});
  ASSERT_TRUE(behind.ok());
  EXPECT_EQ(behind->blocks[1].base, 0);
  EXPECT_EQ(behind->blocks[0].base, 110'592);
  EXPECT_EQ(raw_format().layout(catalogue, {4096, encodings, {0, 4096, 100'000}}).status().code(), Code::internal);
}

TEST(Raw, ReadsBackAndRecognises) {
  const Scratch scratch;
  const Catalogue catalogue = sample();
  const auto layout = raw_format().layout(catalogue, {4096});
  write_layout(scratch.path("part"), *layout, {}, true);
  const auto master = raw_format().master(set_of(catalogue, *layout, scratch.path("part")));
  ASSERT_TRUE(master.ok());
  EXPECT_TRUE(raw_format().recognises(std::span(*master).first(512)));
  EXPECT_FALSE(raw_format().recognises({}));
  EXPECT_FALSE(
      raw_format().recognises(std::as_bytes(std::span("{\"schema\": \"penstock.index/1\", \"format\": \"hdf5\"", 40))));
  write_text(scratch.path("file.raw"), {reinterpret_cast<const char*>(master->data()), master->size()});
  const auto contents = raw_format().read(scratch.path("file.raw"));
  ASSERT_TRUE(contents.ok()) << contents.status().message();
  EXPECT_EQ(contents->parts, std::vector<std::string>{scratch.path("part")});
  EXPECT_EQ(contents->catalogue.datasets, catalogue.datasets);
  EXPECT_EQ(contents->catalogue.attributes, catalogue.attributes);

  ASSERT_EQ(::truncate(scratch.path("part").c_str(), layout->end - 1), 0);
  const auto cut = raw_format().read(scratch.path("file.raw"));
  ASSERT_TRUE(cut.ok() && cut->lost.size() == 1);
  EXPECT_EQ(cut->lost[0].why.code(), Code::damaged);
  ::unlink(scratch.path("part").c_str());
  const auto missing = raw_format().read(scratch.path("file.raw"));
  ASSERT_TRUE(missing.ok() && missing->lost.size() == 1);
  EXPECT_EQ(missing->lost[0].why.code(), Code::not_found);
  EXPECT_NE(missing->lost[0].why.message().find("part"), std::string::npos);
  EXPECT_EQ(raw_format().read(scratch.path("absent")).status().code(), Code::not_found);
  EXPECT_FALSE(raw_format().read(scratch.folder()).ok());
}

TEST(Raw, NumpyMapsIt) {
  const std::string python = python_with("numpy");
  if (python.empty()) GTEST_SKIP() << "no Python with numpy (PENSTOCK_TEST_PYTHON)";
  const Scratch scratch;
  const Catalogue catalogue = sample();
  const auto layout = raw_format().layout(catalogue, {4096});
  std::vector<std::vector<std::byte>> data;
  for (const Dataset& dataset : catalogue.datasets)
    data.emplace_back(static_cast<size_t>(bytes(dataset)), std::byte{1});
  write_layout(scratch.path("part"), *layout, data, true);
  const auto master = raw_format().master(set_of(catalogue, *layout, scratch.path("part")));
  write_text(scratch.path("file.raw"), {reinterpret_cast<const char*>(master->data()), master->size()});
  write_text(scratch.path("check.py"),
             "import json, os, sys, numpy\n"
             "index = json.load(open(sys.argv[1]))\n"
             "for d in index['datasets']:\n"
             "    if 'file' not in d: continue\n"
             "    a = numpy.memmap(os.path.join(os.path.dirname(sys.argv[1]), d['file']), d['dtype'], 'r', "
             "d['offset'], tuple(d['shape']))\n"
             "    assert a.shape == tuple(d['shape']) and set(a.tobytes()) == {1}, d\n"
             "assert len(index['datasets']) == 40\n");
  int status = 0;
  const std::string output = shell(python + " " + scratch.path("check.py") + " " + scratch.path("file.raw"), status);
  EXPECT_EQ(status, 0) << output;
}

}  // namespace
}  // namespace penstock
