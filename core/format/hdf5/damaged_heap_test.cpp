// Tests of files with a damaged global heap: each is refused or read right, and nothing hangs or crashes.
#include <set>

#include "core/format/testing.hpp"
#include "core/hdf5/handles.hpp"

namespace penstock {
const Format& hdf5_format();
namespace {

using namespace testing;

hdf5::Space list_of(hsize_t count) { return hdf5::Space(H5Screate_simple(1, &count, nullptr)); }

hdf5::Type string_type() {
  hdf5::Type type(H5Tcopy(H5T_C_S1));
  H5Tset_size(type, H5T_VARIABLE);
  return type;
}

constexpr int count = 5;
// Each of another length, so that none is taken for another.
const char* const words[count] = {"a", "", "three", "and seven", "of eleven b"};

// Strings, plain, packed, virtual and in an attribute, a ragged list, numbers of another file, and a dimension scale.
void write_file(const std::string& path, const std::string& source, H5F_libver_t oldest) {
  const hdf5::Properties access(H5Pcreate(H5P_FILE_ACCESS));
  ASSERT_GE(H5Pset_libver_bounds(access, oldest, H5F_LIBVER_V110), 0);
  const hdf5::File other(H5Fcreate(source.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
  const hdf5::File file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access));
  const hdf5::Type strings = string_type();
  const hdf5::Space five = list_of(count), three = list_of(3), one = list_of(1);
  const int numbers[count] = {2, 3, 5, 7, 11};
  const auto add = [&](hid_t in, const char* name, hid_t type, hid_t creation, const void* values) {
    hdf5::DatasetHandle made(H5Dcreate2(in, name, type, five, H5P_DEFAULT, creation, H5P_DEFAULT));
    EXPECT_TRUE(values == nullptr || H5Dwrite(made, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0) << name;
    return made;
  };
  add(other, "numbers", H5T_NATIVE_INT, H5P_DEFAULT, numbers);
  add(other, "strings", strings, H5P_DEFAULT, words);

  const auto x = add(file, "x", H5T_NATIVE_INT, H5P_DEFAULT, numbers);
  const auto plain = add(file, "plain", strings, H5P_DEFAULT, words);
  const hdf5::AttributeHandle said(H5Acreate2(plain, "said", strings, three, H5P_DEFAULT, H5P_DEFAULT));
  ASSERT_GE(H5Awrite(said, strings, words + 2), 0);
  const hdf5::Properties packed(H5Pcreate(H5P_DATASET_CREATE));
  const hsize_t chunk = 2;
  H5Pset_chunk(packed, 1, &chunk);
  H5Pset_deflate(packed, 1);
  add(file, "packed", strings, packed, words);
  for (const auto& [name, type] : {std::pair{"numbers", H5T_NATIVE_INT}, {"strings", hid_t{strings}}}) {
    const hdf5::Properties mapped(H5Pcreate(H5P_DATASET_CREATE));
    ASSERT_GE(H5Pset_virtual(mapped, five, "source.h5", name, five), 0);
    add(file, name, type, mapped, nullptr);
  }
  const hdf5::Type lists(H5Tvlen_create(H5T_NATIVE_INT));
  const hvl_t ragged[count] = {
      {1, (void*)numbers}, {0, nullptr}, {5, (void*)numbers}, {2, (void*)numbers}, {3, (void*)numbers}};
  add(file, "ragged", lists, H5P_DEFAULT, ragged);
  hobj_ref_t scale;
  ASSERT_GE(H5Rcreate(&scale, file, "/x", H5R_OBJECT, -1), 0);
  const hdf5::Type references(H5Tvlen_create(H5T_STD_REF_OBJ));
  const hdf5::AttributeHandle named(H5Acreate2(plain, "DIMENSION_LIST", references, one, H5P_DEFAULT, H5P_DEFAULT));
  const hvl_t scales{1, &scale};
  ASSERT_GE(H5Awrite(named, references, &scales), 0);
  const hdf5::Type text(H5Tcopy(H5T_C_S1));
  H5Tset_size(text, 16);
  const hdf5::Space scalar(H5Screate(H5S_SCALAR));
  const hdf5::AttributeHandle kind(H5Acreate2(x, "CLASS", text, scalar, H5P_DEFAULT, H5P_DEFAULT));
  ASSERT_GE(H5Awrite(kind, text, "DIMENSION_SCALE"), 0);
}

uint64_t number(const std::string& file, size_t at, size_t width) {
  uint64_t value = 0;
  std::memcpy(&value, file.data() + at, width);
  return value;
}

// The bytes of FILE that make its heap what it is: heads of collections and of objects, the mappings, and what refers
// to a collection. Not the text of strings, whose damage only a checksum would find.
std::vector<size_t> structure(const std::string& file) {
  std::set<size_t> found;
  const auto add = [&](size_t at, size_t bytes) {
    for (size_t i = 0; i < bytes; ++i) found.insert(at + i);
  };
  for (size_t at = file.find("GCOL"); at != std::string::npos; at = file.find("GCOL", at + 1)) {
    add(at, 16);
    const size_t end = at + number(file, at + 8, 8);
    for (size_t object = at + 16; object + 16 <= end;) {
      add(object, 16);
      const size_t index = number(file, object, 2), bytes = number(file, object + 8, 8);
      if (index == 0) break;
      if (bytes > 60) add(object + 16, bytes);
      object += 16 + (bytes + 7) / 8 * 8;
    }
    const std::string address(reinterpret_cast<const char*>(&at), 8);
    for (size_t there = file.find(address); there != std::string::npos; there = file.find(address, there + 1))
      if (file.compare(there - 2, 2, "\4\3") == 0)
        add(there, 12);  // in a layout: of another kind, it would be right
      else
        add(there - 4, 16);
  }
  return {found.begin(), found.end()};
}

std::string text_of(const std::vector<std::byte>& bytes, const Dataset& dataset) {
  if (dataset.type.kind != Kind::text) return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  std::string all;
  for (size_t i = 0; i < count; ++i) {
    const auto* begin = reinterpret_cast<const char*>(bytes.data()) + i * static_cast<size_t>(dataset.type.text_bytes);
    all += std::string(begin, ::strnlen(begin, static_cast<size_t>(dataset.type.text_bytes))) + "|";
  }
  return all;
}

struct Seen {
  std::map<std::string, std::string> values;
  Contents contents;
};

Result<Seen> look(const std::string& path) {
  PENSTOCK_ASSIGN(const Contents contents, hdf5_format().read(path));
  Seen seen;
  seen.contents = contents;
  for (size_t i = 0; i < contents.catalogue.datasets.size(); ++i) {
    const Dataset& dataset = contents.catalogue.datasets[i];
    std::vector<std::byte> out(static_cast<size_t>(bytes(dataset)));
    if (!contents.foreign[i]) continue;
    PENSTOCK_TRY(testing::read_foreign(hdf5_format(), path, dataset, {Dims{0}, dataset.shape}, out));
    seen.values[dataset.name] = text_of(out, dataset);
  }
  for (const auto& [object, attributes] : contents.catalogue.attributes)
    for (const auto& [name, attribute] : attributes)
      seen.values[object + "@" + name] = {reinterpret_cast<const char*>(attribute.value.data()),
                                          attribute.value.size()};
  return seen;
}

// Whether CONTENTS says why NAME, or the dataset that has it, was not read.
bool is_named(const Contents& contents, const std::string& name) {
  return !contents.why_unread(name).empty() || !contents.why_unread(name.substr(0, name.find('@'))).empty();
}

class DamagedHeap : public ::testing::TestWithParam<H5F_libver_t> {};

TEST_P(DamagedHeap, IsRefusedOrReadRight) {
  const Scratch scratch;
  const std::string path = scratch.path("bad.h5");
  write_file(path, scratch.path("source.h5"), GetParam());
  const std::string good = read_text(path);
  const auto healthy = look(path);
  ASSERT_TRUE(healthy.ok()) << healthy.status().message();
  const std::string all = "a||three|and seven|of eleven b|";
  for (const char* name : {"plain", "packed", "strings"}) EXPECT_EQ(healthy->values.at(name), all) << name;
  EXPECT_EQ(healthy->values.at("plain@dimensions"), "x");
  EXPECT_EQ(healthy->contents.left_out,
            "'ragged' is a dataset of lists of variable length, which penstock does not have");

  const std::vector<size_t> places = structure(good);
  ASSERT_GT(places.size(), 400u);
  int spared = 0, unhurt = 0;
#ifdef __SANITIZE_ADDRESS__
  constexpr int usual = 1;  // 14 s each
#else
  constexpr int usual = 2;
#endif
  const int rounds = std::getenv("PENSTOCK_FUZZ") != nullptr ? 80 : usual;
  std::mt19937 random(1);
  const unsigned char values[] = {0, 1, 2, 0x10, 0x7f, 0x80, 0xff};
  for (int round = 0; round < rounds; ++round)
    for (const size_t at : places) {
      std::string bad = good;
      const size_t way = (at + static_cast<size_t>(round)) % 4;
      for (size_t i = at; i < at + (way == 3 ? 8 : 1) && std::ranges::binary_search(places, i); ++i)
        bad[i] = static_cast<char>(way == 0 ? random() : way == 3 ? 0 : values[random() % std::size(values)]);
      write_text(path, bad);
      const auto seen = look(path);
      if (!seen.ok()) {
        ASSERT_EQ(seen.status().code(), Code::damaged) << at << ": " << seen.status().message();
        ASSERT_NE(seen.status().message().find("bad.h5"), std::string::npos) << seen.status().message();
        continue;
      }
      ++(seen->values == healthy->values ? unhurt : spared);
      for (const auto& [name, value] : healthy->values) {
        const auto found = seen->values.find(name);
        if (found != seen->values.end()) {
          ASSERT_EQ(found->second, value) << at << " " << name;
        } else if (name != "plain@dimensions") {
          ASSERT_TRUE(is_named(seen->contents, name)) << at << " " << name;
        }
      }
    }
  EXPECT_GT(spared, 150 * rounds);
  EXPECT_GT(unhurt, 5 * rounds);
}

INSTANTIATE_TEST_SUITE_P(Versions, DamagedHeap, ::testing::Values(H5F_LIBVER_EARLIEST, H5F_LIBVER_V110));

}  // namespace
}  // namespace penstock
