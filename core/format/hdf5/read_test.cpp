// Tests of reading HDF5 files of other tools, and files that are damaged, truncated, or refer to other files.
#include <algorithm>
#include <array>

#include "core/format/testing.hpp"
#include "core/hdf5/handles.hpp"
#include "core/hdf5/types.hpp"

namespace penstock {
const Format& hdf5_format();
namespace {

using namespace testing;

// Writes test files with libhdf5 and its defaults, like ordinary files of other tools.
class Author {
 public:
  explicit Author(const std::string& path) : file_(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT)) {}
  hid_t file() const { return file_; }

  hdf5::DatasetHandle add(const char* name, hid_t type, std::vector<hsize_t> shape, hid_t creation = H5P_DEFAULT,
                          bool unlimited = false) {
    std::vector<hsize_t> most = shape;
    if (unlimited) most[0] = H5S_UNLIMITED;
    const hdf5::Space space(shape.empty()
                                ? H5Screate(H5S_SCALAR)
                                : H5Screate_simple(static_cast<int>(shape.size()), shape.data(), most.data()));
    const hdf5::Properties links(H5Pcreate(H5P_LINK_CREATE));
    H5Pset_create_intermediate_group(links, 1);
    return hdf5::DatasetHandle(H5Dcreate2(file_, name, type, space, links, creation, H5P_DEFAULT));
  }

  void add_numbers(const char* name, hid_t type, std::vector<hsize_t> shape, hid_t creation = H5P_DEFAULT,
                   bool unlimited = false) {
    const auto handle = add(name, type, shape, creation, unlimited);
    hsize_t count = 1;
    for (const hsize_t n : shape) count *= n;
    std::vector<int> values(count);
    for (hsize_t i = 0; i < count; ++i) values[i] = static_cast<int>(i % 100);
    ASSERT_GE(H5Dwrite(handle, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0) << name;
  }

  hdf5::Properties chunked(std::vector<hsize_t> chunk, bool deflate) {
    hdf5::Properties creation(H5Pcreate(H5P_DATASET_CREATE));
    H5Pset_chunk(creation, static_cast<int>(chunk.size()), chunk.data());
    if (deflate) H5Pset_deflate(creation, 6);
    return creation;
  }

 private:
  hdf5::File file_;
};

template <typename T>
std::vector<T> read_all(const std::string& path, const Contents& contents, const std::string& name) {
  const int index = contents.catalogue.index_of(name);
  EXPECT_GE(index, 0) << name;
  if (index < 0) return {};
  const Dataset& dataset = contents.catalogue.datasets[static_cast<size_t>(index)];
  std::vector<T> values(static_cast<size_t>(elements(dataset.shape)));
  EXPECT_EQ(static_cast<int64_t>(sizeof(T)), bytes(dataset.type)) << name;
  const auto out = std::as_writable_bytes(std::span(values));
  if (contents.foreign[static_cast<size_t>(index)]) {
    const Status status = testing::read_foreign(hdf5_format(), path, dataset,
                                                {Dims::filled(dataset.shape.rank(), 0), dataset.shape}, out);
    EXPECT_TRUE(status.ok()) << status.message();
    return values;
  }
  const std::string file = read_text(path);
  for (const StoredBlock& block : contents.blocks[static_cast<size_t>(index)]) {
    const int64_t begin = block.where.first() * static_cast<int64_t>(sizeof(T));
    std::memcpy(out.data() + begin, file.data() + block.base, static_cast<size_t>(block.where.count()) * sizeof(T));
    if (block.swapped)
      for (int64_t i = 0; i < block.where.count(); ++i)
        std::reverse(out.data() + begin + i * static_cast<int64_t>(sizeof(T)),
                     out.data() + begin + (i + 1) * static_cast<int64_t>(sizeof(T)));
  }
  return values;
}

bool is_foreign(const Contents& contents, const char* name) {
  return contents.foreign[static_cast<size_t>(contents.catalogue.index_of(name))];
}

template <typename T>
void expect_numbers(const std::vector<T>& values) {
  for (size_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], static_cast<T>(i % 100)) << i;
}

TEST(Hdf5Read, WhatOthersStore) {
  const Scratch scratch;
  const std::string path = scratch.path("others.h5");
  {
    Author author(path);
    author.add_numbers("plain", H5T_STD_I32LE, {6, 50});
    author.add_numbers("big_endian", H5T_IEEE_F64BE, {300});
    author.add_numbers("deflated", H5T_NATIVE_DOUBLE, {30, 40}, author.chunked({7, 9}, true));
    author.add_numbers("chunks", H5T_NATIVE_DOUBLE, {30, 40}, author.chunked({7, 9}, false));
    author.add_numbers("rows", H5T_STD_I16BE, {30, 40}, author.chunked({7, 40}, false), true);
    author.add_numbers("group/half/short", H5T_STD_I8LE, {}, H5P_DEFAULT);
    hdf5::Properties compact(H5Pcreate(H5P_DATASET_CREATE));
    H5Pset_layout(compact, H5D_COMPACT);
    author.add_numbers("compact", H5T_NATIVE_INT, {20}, compact);
    const hdf5::Type odd(H5Tcopy(H5T_NATIVE_INT));
    H5Tset_precision(odd, 20);
    author.add_numbers("odd_bits", odd, {100});
    author.add("never_written", H5T_NATIVE_FLOAT, {10});
    author.add("empty", H5T_NATIVE_FLOAT, {0, 5});
    author.add("null", H5T_STD_REF_OBJ, {3});
    const hdf5::Type variable(H5Tcopy(H5T_C_S1));
    H5Tset_size(variable, H5T_VARIABLE);
    const auto strings = author.add("variable_strings", variable, {3});
    const char* three[] = {"a", "", "four"};
    ASSERT_GE(H5Dwrite(strings, variable, H5S_ALL, H5S_ALL, H5P_DEFAULT, three), 0);
    author.add("unwritten_strings", variable, {2, 2});
    author.add("one_string", variable, {});
    const hdf5::Type compound(H5Tcreate(H5T_COMPOUND, 8));
    H5Tinsert(compound, "number", 0, H5T_NATIVE_INT);
    H5Tinsert(compound, "other", 4, H5T_NATIVE_INT);
    author.add("table", compound, {3});
    const hdf5::Type padded(H5Tcopy(H5T_FORTRAN_S1));
    H5Tset_size(padded, 4);
    const auto words = author.add("fortran_words", padded, {2});
    ASSERT_GE(H5Dwrite(words, padded, H5S_ALL, H5S_ALL, H5P_DEFAULT, "ab  abcd"), 0);
    const hdf5::Type ended(H5Tcopy(H5T_C_S1));
    H5Tset_size(ended, 6);
    const auto c_words = author.add("c_words", ended, {2});
    ASSERT_GE(H5Dwrite(c_words, ended, H5S_ALL, H5S_ALL, H5P_DEFAULT, "ab\0xy\0abcde"), 0);
    H5Lcreate_soft("/plain", author.file(), "soft", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_soft("/nowhere", author.file(), "dangling", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_external("/etc/passwd", "/x", author.file(), "external", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_hard(author.file(), "/", author.file(), "group/cycle", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_hard(author.file(), "plain", author.file(), "twice", H5P_DEFAULT, H5P_DEFAULT);
  }
  const auto contents = hdf5_format().read(path);
  ASSERT_TRUE(contents.ok()) << contents.status().message();
  std::vector<std::string> names;
  for (const Dataset& dataset : contents->catalogue.datasets) names.push_back(dataset.name);
  EXPECT_EQ(names,
            (std::vector<std::string>{"big_endian", "c_words", "chunks", "compact", "deflated", "empty",
                                      "fortran_words", "group/half/short", "never_written", "odd_bits", "one_string",
                                      "plain", "rows", "twice", "unwritten_strings", "variable_strings"}));
  const auto texts = read_all<std::array<char, 4>>(path, *contents, "variable_strings");
  ASSERT_EQ(texts.size(), 3u);
  EXPECT_EQ(std::string(texts[0].data(), 4), std::string("a\0\0\0", 4));
  EXPECT_EQ(std::string(texts[1].data(), 4), std::string(4, '\0'));
  EXPECT_EQ(std::string(texts[2].data(), 4), "four");
  EXPECT_EQ(read_all<char>(path, *contents, "unwritten_strings"), std::vector<char>(4, '\0'));
  EXPECT_EQ(contents->catalogue.find("one_string")->type, (ElementType{Kind::text, 1}));
  // Unsupported objects are listed, with the reason.
  for (const char* said : {"'null' is a dataset of references", "'table' is a dataset of a compound type", "'soft'",
                           "'dangling'", "'group/cycle'"})
    EXPECT_TRUE(std::ranges::any_of(contents->unread, [&](const std::string& what) { return what.starts_with(said); }))
        << said << " of " << contents->unread.size();
  for (const char* name : {"deflated", "chunks", "compact", "odd_bits", "never_written", "fortran_words", "c_words"})
    EXPECT_TRUE(is_foreign(*contents, name)) << name;
  for (const char* name : {"plain", "twice", "big_endian", "rows", "empty"})
    EXPECT_FALSE(is_foreign(*contents, name)) << name;
  EXPECT_TRUE(contents->catalogue.find("rows")->unlimited);
  expect_numbers(read_all<int32_t>(path, *contents, "plain"));
  expect_numbers(read_all<double>(path, *contents, "big_endian"));
  expect_numbers(read_all<double>(path, *contents, "deflated"));
  expect_numbers(read_all<double>(path, *contents, "chunks"));
  expect_numbers(read_all<int16_t>(path, *contents, "rows"));
  expect_numbers(read_all<int32_t>(path, *contents, "compact"));
  expect_numbers(read_all<int32_t>(path, *contents, "odd_bits"));
  EXPECT_EQ(read_all<float>(path, *contents, "never_written"), std::vector<float>(10, 0.0f));
  const auto words = read_all<std::array<char, 4>>(path, *contents, "fortran_words");
  EXPECT_EQ(std::string(words[0].data(), 4), std::string("ab\0\0", 4));
  const auto c_words = read_all<std::array<char, 6>>(path, *contents, "c_words");
  EXPECT_EQ(std::string(c_words[0].data(), 6), std::string("ab\0\0\0\0", 6)) << "nothing behind the NUL is text";
  EXPECT_EQ(std::string(c_words[1].data(), 6), std::string("abcde\0", 6));

  double part[6] = {};
  const Dataset& deflated = *contents->catalogue.find("deflated");
  ASSERT_TRUE(testing::read_foreign(hdf5_format(), path, deflated, {Dims{2, 3}, Dims{2, 3}},
                                    std::as_writable_bytes(std::span(part)))
                  .ok());
  for (int i = 0; i < 6; ++i) EXPECT_EQ(part[i], ((2 + i / 3) * 40 + 3 + i % 3) % 100);
  EXPECT_EQ(testing::read_foreign(hdf5_format(), path, deflated, {Dims{29, 39}, Dims{2, 3}},
                                  std::as_writable_bytes(std::span(part)))
                .code(),
            Code::mismatch);
}

TEST(Hdf5Read, AttributesOfOthers) {
  const Scratch scratch;
  const std::string path = scratch.path("attributes.h5");
  const std::string python = python_with("h5py");
  if (python.empty()) GTEST_SKIP() << "no Python with h5py (PENSTOCK_TEST_PYTHON)";
  write_text(scratch.path("write.py"),
             "import h5py, numpy, sys\n"
             "f = h5py.File(sys.argv[1], 'w')\n"
             "f.attrs['text'] = 'h\\u00e9'\n"
             "f.attrs['texts'] = ['one', 'three']\n"
             "f.attrs['empty'] = h5py.Empty('S1')\n"
             "f.attrs['none'] = h5py.Empty('f8')\n"
             "f.attrs['flag'] = True\n"
             "f.attrs['big'] = numpy.arange(3, dtype='>i8')\n"
             "f.attrs['complex'] = 1+2j\n"
             "f.attrs['matrix'] = numpy.arange(6.).reshape(2, 3)\n"
             "d = f.create_dataset('z', data=numpy.array([1+2j, 3-4j]))\n"
             "f.create_dataset('b', data=numpy.array([True, False, True]))\n"
             "f.create_dataset('h', data=numpy.array([1.5, 2.5], dtype='f2'))\n"
             "f.create_dataset('s', data=numpy.array([b'ab', b'c'], dtype='S3'))\n"
             "d.attrs['ref'] = f.ref\n"
             "f.close()\n");
  int status = 0;
  const std::string output = shell(python + " " + scratch.path("write.py") + " " + path, status);
  ASSERT_EQ(status, 0) << output;
  const auto contents = hdf5_format().read(path);
  ASSERT_TRUE(contents.ok()) << contents.status().message();
  const auto& file = contents->catalogue.attributes.at("");
  EXPECT_EQ(text(file.at("text")), "h\xc3\xa9");
  EXPECT_EQ(file.at("texts"), text_attribute("texts", std::vector<std::string>{"one", "three"}));
  EXPECT_EQ(file.at("empty"), text_attribute("empty", std::string_view()));
  EXPECT_EQ(file.at("none").shape, Dims{0});
  EXPECT_EQ(file.at("flag").type.kind, Kind::i8);
  const int64_t numbers[] = {0, 1, 2};
  EXPECT_EQ(file.at("big"), make_attribute("big", {Kind::i64, 0}, numbers, 3));
  const double one_two[] = {1, 2};
  EXPECT_EQ(file.at("complex"), make_attribute("complex", {Kind::complex128, 0}, one_two, -1));
  EXPECT_EQ(file.at("matrix").shape, (Dims{2, 3}));
  EXPECT_EQ(contents->catalogue.attributes.count("z"), 0u);
  EXPECT_EQ(read_all<int8_t>(path, *contents, "b"), (std::vector<int8_t>{1, 0, 1}));
  EXPECT_EQ(read_all<float>(path, *contents, "h"), (std::vector<float>{1.5, 2.5}));
  EXPECT_FALSE(is_foreign(*contents, "z"));
  EXPECT_FALSE(is_foreign(*contents, "s"));
}

// As in ESIO's files: layout 0 has no note; components are an array type; chunked if requested.
constexpr const char* esio_author =
    "import h5py, numpy, sys\n"
    "f = h5py.File(sys.argv[1], 'w')\n"
    "def field(name, layout, n, **how):\n"
    "    c, b, a = 4, 3, 5\n"
    "    v = numpy.arange(c * b * a * n) % 100\n"
    "    shape = (c * b, a) if layout == 2 else (c, b, a)\n"
    "    if 'chunks' in how and layout == 2: how['chunks'] = (how['chunks'][0] * how['chunks'][1], how['chunks'][2])\n"
    "    t = numpy.dtype('f8') if n == 1 else numpy.dtype(('f8', (n,)))\n"
    "    d = f.create_dataset(name, shape, t, **how)\n"
    "    v = v.reshape(shape + ((n,) if n > 1 else ())).astype('f8')\n"
    "    d.id.write(h5py.h5s.ALL, h5py.h5s.ALL, v, mtype=h5py.h5t.py_create(t))\n"
    "    if layout: d.attrs.create('esio_field_metadata', [0, 2, 0, layout, c, b, a, n], dtype='i4')\n"
    "    h5py.h5o.set_comment(f.id, b'of ' + name.encode(), obj_name=name.encode())\n"
    "for layout in 0, 1, 2:\n"
    "    for n in 1, 2, 3:\n"
    "        field(f'plain{layout}{n}', layout, n)\n"
    "        field(f'chunks{layout}{n}', layout, n, chunks=(2, 2, 3))\n"
    "f['plain21'].attrs['units'] = 'm'\n"
    "f['plain22'].attrs['comment'] = 'its own'\n"
    "t = numpy.dtype(('i4', (2,)))\n"
    "for name, shape in ('line', (6,)), ('plane', (3, 2)):\n"
    "    d = f.create_dataset(name, shape, t)\n"
    "    v = numpy.arange(12, dtype='i4').reshape(shape + (2,))\n"
    "    d.id.write(h5py.h5s.ALL, h5py.h5s.ALL, v, mtype=h5py.h5t.py_create(t))\n"
    "d = f.create_dataset('lies', (12, 5), 'f8')\n"
    "d.attrs.create('esio_field_metadata', [0, 2, 0, 2, 5, 3, 5, 1], dtype='i4')\n"
    "f.create_dataset('deep', (1,) * 7, numpy.dtype(('f8', (2, 2))))\n"
    "h5py.h5o.set_comment(f.id, b'a restart file')\n"
    "f.close()\n";

TEST(Hdf5Read, FieldsOfEsioInEveryLayout) {
  const Scratch scratch;
  const std::string path = scratch.path("esio.h5");
  const std::string python = python_with("h5py");
  if (python.empty()) GTEST_SKIP() << "no Python with h5py (PENSTOCK_TEST_PYTHON)";
  write_text(scratch.path("write.py"), esio_author);
  int status = 0;
  const std::string output = shell(python + " " + scratch.path("write.py") + " " + path, status);
  ASSERT_EQ(status, 0) << output;
  const auto contents = hdf5_format().read(path);
  ASSERT_TRUE(contents.ok()) << contents.status().message();
  for (int layout = 0; layout < 3; ++layout)
    for (int n = 1; n <= 3; ++n)
      for (const std::string kind : {"plain", "chunks"}) {
        const std::string name = kind + std::to_string(layout) + std::to_string(n);
        const Dataset* found = contents->catalogue.find(name);
        ASSERT_NE(found, nullptr) << name;
        EXPECT_EQ(found->shape, n == 1 ? (Dims{4, 3, 5}) : (Dims{4, 3, 5, n})) << name;
        EXPECT_EQ(is_foreign(*contents, name.c_str()), kind == "chunks") << name;
        expect_numbers(read_all<double>(path, *contents, name));
        const auto& attributes = contents->catalogue.attributes.at(name);
        EXPECT_EQ(text(attributes.at("comment")), name == "plain22" ? "its own" : "of " + name);
        EXPECT_EQ(attributes.contains("esio_field_metadata"), layout == 1) << name;
      }
  EXPECT_EQ(text(contents->catalogue.attributes.at("plain21").at("units")), "m");
  EXPECT_EQ(text(contents->catalogue.attributes.at("").at("comment")), "a restart file");
  EXPECT_EQ(contents->catalogue.find("line")->shape, (Dims{6, 2}));
  EXPECT_EQ(contents->catalogue.find("plane")->shape, (Dims{3, 2, 2}));
  expect_numbers(read_all<int32_t>(path, *contents, "line"));
  expect_numbers(read_all<int32_t>(path, *contents, "plane"));
  EXPECT_EQ(contents->catalogue.find("lies")->shape, (Dims{12, 5}));
  EXPECT_EQ(contents->catalogue.find("deep"), nullptr);
  EXPECT_NE(contents->left_out.find("deep"), std::string::npos) << contents->left_out;
  EXPECT_NE(contents->converted, "");

  // Every box, also of some of the components.
  for (const char* name : {"chunks23", "chunks02", "chunks21"}) {
    const Dataset& field = *contents->catalogue.find(name);
    std::mt19937 random(7);
    for (int i = 0; i < 100; ++i) {
      Box box = {Dims::filled(field.shape.rank(), 0), field.shape};
      for (int d = 0; d < field.shape.rank(); ++d) {
        box.start[d] = static_cast<int64_t>(random() % static_cast<unsigned>(field.shape[d]));
        box.count[d] = 1 + static_cast<int64_t>(random() % static_cast<unsigned>(field.shape[d] - box.start[d]));
      }
      std::vector<double> part(static_cast<size_t>(elements(box.count)), -1);
      ASSERT_TRUE(testing::read_foreign(hdf5_format(), path, field, box, std::as_writable_bytes(std::span(part))).ok());
      Dims at = Dims::filled(field.shape.rank(), 0);
      for (const double value : part) {
        int64_t linear = 0;
        for (int d = 0; d < at.rank(); ++d) linear = linear * field.shape[d] + box.start[d] + at[d];
        ASSERT_EQ(value, static_cast<double>(linear % 100)) << name;
        for (int d = at.rank() - 1; d >= 0 && ++at[d] == box.count[d]; --d) at[d] = 0;
      }
    }
    std::vector<double> beyond(1);
    Box outside{Dims::filled(field.shape.rank(), 0), Dims::filled(field.shape.rank(), 1)};
    outside.start[1] = field.shape[1];
    EXPECT_EQ(
        testing::read_foreign(hdf5_format(), path, field, outside, std::as_writable_bytes(std::span(beyond))).code(),
        Code::mismatch);
  }
}

TEST(Hdf5Read, NeverLeavesItsFolder) {
  const Scratch scratch;
  const std::string path = scratch.path("outside.h5");
  {
    Author author(path);
    const hdf5::Properties external(H5Pcreate(H5P_DATASET_CREATE));
    H5Pset_external(external, "/etc/passwd", 0, 100);
    author.add("external", H5T_STD_U8LE, {100}, external);
    hdf5::Properties mapped(H5Pcreate(H5P_DATASET_CREATE));
    const hsize_t size = 4;
    const hdf5::Space space(H5Screate_simple(1, &size, nullptr));
    H5Pset_virtual(mapped, space, "../other.h5", "x", space);
    author.add("virtual", H5T_NATIVE_INT, {4}, mapped);
    for (const char* name : {"pipe", "link"}) {
      const hdf5::Properties plain(H5Pcreate(H5P_DATASET_CREATE));
      H5Pset_external(plain, name, 0, 100);
      author.add(name, H5T_STD_U8LE, {100}, plain);
    }
  }
  ASSERT_EQ(::mkfifo(scratch.path("pipe").c_str(), 0600), 0);
  std::filesystem::create_symlink("/etc/passwd", scratch.path("link"));
  const auto contents = hdf5_format().read(path);
  ASSERT_TRUE(contents.ok()) << contents.status().message();
  for (const Dataset& dataset : contents->catalogue.datasets) {
    std::vector<std::byte> out(static_cast<size_t>(bytes(dataset)));
    EXPECT_EQ(testing::read_foreign(hdf5_format(), path, dataset, {Dims{0}, dataset.shape}, out).code(),
              Code::unsupported)
        << dataset.name;
  }
}

// A filter that changes nothing, with the number of one that is not installed.
constexpr H5Z_filter_t zstandard = 32015;
size_t as_it_is(unsigned, size_t, const unsigned*, size_t bytes, size_t*, void**) { return bytes; }
constexpr H5Z_class2_t filter_class{H5Z_CLASS_T_VERS, zstandard, 1, 1, "", nullptr, nullptr, &as_it_is};

Status read_status(const std::string& path, const char* name, std::vector<std::byte>& out) {
  const auto contents = hdf5_format().read(path);
  if (!contents.ok()) return contents.status();
  const Dataset& dataset = *contents->catalogue.find(name);
  out.resize(static_cast<size_t>(bytes(dataset)));
  return testing::read_foreign(hdf5_format(), path, dataset, {Dims{0}, dataset.shape}, out);
}

void expect_missing(const std::string& path, const char* name, std::initializer_list<const char*> words) {
  std::vector<std::byte> out;
  const Status status = read_status(path, name, out);
  EXPECT_EQ(status.code(), Code::unsupported) << status.message();
  for (const char* word : words) EXPECT_NE(status.message().find(word), std::string::npos) << status.message();
}

TEST(Hdf5Read, AMissingFilterIsNamed) {
  const Scratch scratch;
  const std::string path = scratch.path("packed.h5");
  ASSERT_GE(H5Zregister(&filter_class), 0);
  {
    Author author(path);
    const auto creation = author.chunked({10}, false);
    ASSERT_GE(H5Pset_filter(creation, zstandard, H5Z_FLAG_OPTIONAL, 0, nullptr), 0);
    author.add_numbers("packed", H5T_NATIVE_INT, {50}, creation);
  }
  std::vector<std::byte> out;
  EXPECT_TRUE(read_status(path, "packed", out).ok());
  ASSERT_GE(H5Zunregister(zstandard), 0);
  expect_missing(path, "packed", {"packed.h5", "'packed'", "32015 (Zstandard)", "HDF5_PLUGIN_PATH"});
}

TEST(Hdf5Read, AMissingExternalFileIsNamed) {
  const Scratch scratch;
  const std::string path = scratch.path("external.h5");
  {
    Author author(path);
    const hdf5::Properties creation(H5Pcreate(H5P_DATASET_CREATE));
    H5Pset_external(creation, "values.bin", 0, 8);
    author.add("external", H5T_STD_U8LE, {8}, creation);
  }
  expect_missing(path, "external", {"external.h5", "'external'", "'values.bin'", "beside"});
  std::vector<std::byte> out;
  write_text(scratch.path("values.bin"), "12345678");
  EXPECT_TRUE(read_status(path, "external", out).ok());
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(out.data()), out.size()), "12345678");
}

TEST(Hdf5Read, AMissingVirtualSourceIsNamed) {
  const Scratch scratch;
  const std::string path = scratch.path("virtual.h5");
  const hsize_t size = 4;
  const hdf5::Space space(H5Screate_simple(1, &size, nullptr));
  {
    Author author(path);
    const hdf5::Properties mapped(H5Pcreate(H5P_DATASET_CREATE));
    H5Pset_virtual(mapped, space, "source.h5", "x", space);
    author.add("virtual", H5T_NATIVE_INT, {4}, mapped);
  }
  expect_missing(path, "virtual", {"virtual.h5", "'virtual'", "'source.h5'"});
  std::vector<std::byte> out;
  Author(scratch.path("source.h5")).add_numbers("x", H5T_NATIVE_INT, {4});
  EXPECT_TRUE(read_status(path, "virtual", out).ok());
}

TEST(Hdf5Read, ACompactDatasetWithoutAllItsBytesIsNamed) {
  const Scratch scratch;
  const std::string path = scratch.path("compact.h5");
  {
    Author author(path);
    hdf5::Properties compact(H5Pcreate(H5P_DATASET_CREATE));
    H5Pset_layout(compact, H5D_COMPACT);
    author.add_numbers("compact", H5T_NATIVE_INT, {5000}, compact);
  }
  std::string file = read_text(path);
  const size_t layout = file.find(std::string("\3\0\x20\x4e", 4));  // version, class, 20000 bytes
  ASSERT_NE(layout, std::string::npos);
  file.replace(layout + 2, 2, std::string("\4\0", 2));
  write_text(path, file);
  const auto contents = hdf5_format().read(path);
  ASSERT_TRUE(contents.ok()) << contents.status().message();
  EXPECT_TRUE(contents->catalogue.datasets.empty());
  EXPECT_NE(contents->left_out.find("'compact' is a dataset that cannot be read"), std::string::npos);
}

std::string our_file(const Scratch& scratch) {
  Catalogue catalogue;
  for (int i = 0; i < 20; ++i)
    catalogue.datasets.push_back({"g/d" + std::to_string(10 + i), {Kind::f64, 0}, Dims{i, 3}, i % 5 == 0});
  catalogue.attributes["g/d12"]["units"] = text_attribute("units", std::string_view("m"));
  const auto layout = hdf5_format().layout(catalogue, {512});
  EXPECT_TRUE(layout.ok());
  write_layout(scratch.path("good.h5"), *layout, {}, false);
  return read_text(scratch.path("good.h5"));
}

TEST(Hdf5Read, WrongFilesAreNamed) {
  const Scratch scratch;
  EXPECT_EQ(hdf5_format().read(scratch.path("absent")).status().code(), Code::not_found);
  EXPECT_FALSE(hdf5_format().read(scratch.folder()).ok());
  for (const std::string& text :
       {std::string(), std::string("short"), std::string(5000, 'x'), std::string("\x89HDF\r\n\x1a\n", 8),
        std::string("\x89HDF\r\n\x1a\n", 8) + std::string(4000, '\xff')}) {
    write_text(scratch.path("bad.h5"), text);
    const auto contents = hdf5_format().read(scratch.path("bad.h5"));
    EXPECT_EQ(contents.status().code(), Code::damaged);
    EXPECT_NE(contents.status().message().find("bad.h5"), std::string::npos);
  }
  if (::geteuid() != 0) {
    ::chmod(scratch.path("bad.h5").c_str(), 0);
    EXPECT_EQ(hdf5_format().read(scratch.path("bad.h5")).status().code(), Code::denied);
  }
}

TEST(Hdf5Read, SurvivesEveryCutAndFlip) {
  const Scratch scratch;
  const std::string good = our_file(scratch);
  for (size_t cut = 0; cut < good.size(); cut += 97) {
    write_text(scratch.path("bad.h5"), good.substr(0, cut));
    EXPECT_EQ(hdf5_format().read(scratch.path("bad.h5")).status().code(), Code::damaged) << cut;
  }
  int refused = 0;
  std::mt19937 random(1);
  const int stride = std::getenv("PENSTOCK_FUZZ") != nullptr ? 1 : 13;
  for (size_t at = 0; at < std::min<size_t>(good.size(), 12000); at += static_cast<size_t>(stride)) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ static_cast<char>(1 + random() % 255));
    write_text(scratch.path("bad.h5"), bad);
    const auto contents = hdf5_format().read(scratch.path("bad.h5"));
    if (!contents.ok()) {
      EXPECT_EQ(contents.status().code(), Code::damaged) << contents.status().message();
      ++refused;
    }
  }
  EXPECT_GT(refused, 10);
}

}  // namespace
}  // namespace penstock
