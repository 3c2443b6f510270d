// seeds: first inputs of the fuzzers, from the library's own writers: `seeds FOLDER` fills FOLDER/NAME for each fuzzer.
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/format.h>
#include <penstock/file.hpp>
#include <penstock/stream.hpp>

#include "core/codec/codec.hpp"
#include "core/container/header.hpp"
#include "core/model/checksums.hpp"
#include "core/plan/wisdom.hpp"
#include "tests/harness/slice.hpp"

namespace penstock::test {
namespace {

namespace fs = std::filesystem;

void write(const fs::path& path, std::string_view bytes) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

template <typename T>
std::string_view text_of(const T& list) {
  return {reinterpret_cast<const char*>(list.data()), list.size() * sizeof(list[0])};
}

// Small: a fuzzer makes the more of a file the shorter it is.
Status write_file(const std::string& path, const std::string& plan, bool rich) {
  PENSTOCK_ASSIGN(File file, File::create(serial_communicator(), path, plan));
  const auto put = [&](const char* name, const ElementType& type, const Dims& shape) {
    const Slice slice = replicated(shape);
    const auto memory = filled(slice, type, 1);
    return file.put(name, type, slice.part, memory.data());
  };
  PENSTOCK_TRY(put("flow/a", {Kind::f64}, {3, 4}));
  if (rich) {
    PENSTOCK_TRY(put("b", {Kind::complex64}, {5}));
    PENSTOCK_TRY(put("time", {Kind::i16}, {}));
    PENSTOCK_TRY(put("word", {Kind::text, 6}, {2}));
    PENSTOCK_TRY(put("none", {Kind::u8}, {0, 7}));
    PENSTOCK_TRY(file.set_unlimited("b"));
    PENSTOCK_TRY(file.set_attribute("flow/a", text_attribute("units", "m/s")));
    const double pair[2] = {1.5, -2};
    PENSTOCK_TRY(file.set_attribute("", make_attribute("pair", {Kind::f64}, pair, 2)));
    PENSTOCK_TRY(file.set_attribute("flow", make_attribute("c", {Kind::complex128}, pair, -1)));
  }
  return file.close();
}

// A raw set as the fuzzer of files takes it: the sidecar, NUL, the part, which is called "part".
void add_raw(const fs::path& folder, const fs::path& scratch, const std::string& name, bool rich,
             const std::string& parameters = "placement=per_rank") {
  const fs::path path = scratch / (name + ".raw");
  if (!write_file(path, "raw/independent:" + parameters, rich).ok()) return;
  std::string index = read(path.string() + ".json");
  for (const auto& entry : fs::directory_iterator(scratch)) {
    const std::string part = entry.path().filename();
    size_t at = index.find('"' + part + '"');
    if (at == std::string::npos) continue;
    for (; at != std::string::npos; at = index.find('"' + part + '"')) index.replace(at + 1, part.size(), "part");
    write(folder / "index" / name, index);
    write(folder / "file" / (name + "-raw"), index + '\0' + read(entry.path()));
    return;
  }
}

Status add_streams(const fs::path& folder, const fs::path& scratch) {
  const fs::path path = scratch / "streams";
  PENSTOCK_ASSIGN(Stream stream, Stream::create(serial_communicator(), path, "chunk_bytes=4k,durability=none"));
  const std::string words = "what a rank has to say";
  PENSTOCK_TRY(stream.write(std::as_bytes(std::span(words))));
  PENSTOCK_TRY(stream.close());
  const std::string bytes = read(path);
  write(folder / "file" / "streams", bytes);
  write(folder / "container_header" / "streams", bytes.substr(0, container::header_bytes));
  return {};
}

void add_record(const fs::path& folder) {
  Record record;
  record.committed_at = 1;
  record.metadata_bytes = 2048;
  record.datasets = {{1, 100, 32, {1, 2, 3, 4}}, {2, 0, 0, {}}, {3, 5, 5, {7}}};
  write(folder / "record" / "three", text_of(encode(record)));
  write(folder / "record" / "empty", text_of(encode(Record{})));
}

// As tests/fuzz/chunk.cpp takes them, by each codec that has a decoder.
Status add_chunks(const fs::path& folder) {
  std::vector<double> numbers(256);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = 1 + 1e-3 * static_cast<double>(i % 100);
  char number = 0;
  for (const Codec* codec : codecs()) {
    if (codec->decoders().empty()) continue;
    for (const double max_error : {0.0, 1e-6}) {
      const CodecUse use{{Kind::f64}, {4, 8, 8}, 0, max_error};
      const std::vector<unsigned> values = codec->filters(use).back().values;
      PENSTOCK_ASSIGN(const auto encoder, codec->encoder(use));
      std::vector<std::byte> chunk(numbers.size() * sizeof numbers[0]);
      PENSTOCK_ASSIGN(const EncodedSize made, encoder->encode(std::as_bytes(std::span(numbers)), chunk));
      chunk.resize(static_cast<size_t>(made.bytes));
      const std::string head{number, static_cast<char>(values.size())};
      write(folder / "chunk" / fmt::format("{}-{}", codec->describe().name, max_error),
            head + std::string(text_of(values)) + std::string(text_of(chunk)));
    }
    ++number;
  }
  return {};
}

void add_words(const fs::path& folder) {
  int number = 0;
  for (const char* text :
       {"hdf5/two_phase:writers=2,io=direct,memory_bytes=64MiB", "raw/per_process", "phdf5:collective=true",
        R"({"format": "hdf5", "transport": "mpiio", "hint.cb_nodes": "4", "env.A": "b"})",
        "two_phase:hint.cb_config_list=a:1,b:1",
        "files = ['a*']\n[[dataset]]\nname = \"*\"\nbox = { start = [1, 2], count = [8, 4] }\nevery = [2, 3]\nsteps = "
        "3\n",
        "[[dataset]]\nname = 'a'\nmean = 2\ntype = 'f32'\ncompression = \"zstd\"\nlevel = 3\nwrite = true\n",
        "[[plan]]\npattern = \"chk_*.h5\"\nplan = \"hdf5/independent\"\n", "romio_cb_write=enable;cb_nodes=4",
        "IOR_HINT__MPI__cb_nodes=4", "1.5GiB", "text[12]", "flow/velocity",
        ".chk.h5.0123456789abcdef.0123456789ab-12-345.slurm-7.node1.partial",
        "36 35 98:0 /mnt1 /mnt2\\040x rw,noatime master:1 - ext3 /dev/root rw\n",
        R"({"attributes": {"a": {"type": "text[5]", "shape": [2], "joined": true}}, "unlimited": true})"})
    write(folder / "words" / fmt::format("{:02}", number++), text);
  const unsigned char layout[32] = {0xD0, 0x0B, 0xD1, 0x0B, 1, 0, 0, 0, 0,    0,    0, 0, 0, 0, 0, 0,
                                    0,    0,    0,    0,    0, 0, 0, 0, 0x00, 0x00, 1, 0, 4, 0, 0, 0};
  const Problem problem{.format = "hdf5", .placement = "single", .filesystem = "ext4", .mpi = "none"};
  write(folder / "words" / "wisdom", text_of(Wisdom{{{problem, "independent", 0.5, 0.4, {}, "2026-11-20", {}}}}));
  write(folder / "words" / "lustre", std::string_view(reinterpret_cast<const char*>(layout), sizeof layout));
}

// As Fortran writes it.
template <typename T>
void add_values(std::string& out, std::initializer_list<T> values) {
  const auto length = static_cast<int32_t>(values.size() * sizeof(T));
  const std::string_view mark(reinterpret_cast<const char*>(&length), 4);
  out += mark;
  out += {reinterpret_cast<const char*>(values.begin()), static_cast<size_t>(length)};
  out += mark;
}

// An output of RAMSES of one process with one grid of two cells, as the fuzzer takes it: length of the AMR file, the
// AMR file, the hydro file.
std::string ramses_output(int32_t variables) {
  std::string amr, hydro;
  for (const int32_t value : {1, 1}) add_values(amr, {value});  // ncpu, ndim
  add_values(amr, {1, 1, 1});
  for (const int32_t value : {1, 10, 0, 1}) add_values(amr, {value});  // nlevelmax, ngridmax, nboundary, ngrid_current
  add_values(amr, {1.0});
  add_values(amr, {1, 1, 1});
  for (int i = 0; i < 5; ++i) add_values(amr, {0.5});
  add_values(amr, {1, 1});
  for (int i = 0; i < 4; ++i) add_values(amr, {0.5});
  for (const int32_t value : {0, 0, 1, 1}) add_values(amr, {value});  // headl, taill, numbl, numbtot
  add_values(amr, {0, 0, 0, 0, 0});
  add_values(amr, {'h', 'i', 'l', 'b', 'e', 'r', 't', ' '});
  add_values(amr, {0.0, 1.0});
  for (int i = 0; i < 6; ++i) add_values(amr, {1});  // coarse cells; index, next, previous
  add_values(amr, {0.5});
  for (int i = 0; i < 9; ++i) add_values(amr, {i});  // father, 2 neighbours, son, cpu_map, flag1 of 2 cells
  for (const int32_t value : {1, variables, 1, 1, 0}) add_values(hydro, {value});
  add_values(hydro, {1.4});
  for (const int32_t value : {1, 1}) add_values(hydro, {value});
  for (int i = 0; i < 2 * variables; ++i) add_values(hydro, {1.0 * i});
  const auto length = static_cast<uint16_t>(amr.size());
  return std::string(reinterpret_cast<const char*>(&length), 2) + amr + hydro;
}

// A file of a process as tests/fuzz/described.cpp describes it.
std::string described_file() {
  std::string out;
  add_values(out, {2, 3, 1});
  add_values(out, {0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0});
  add_values(out, {1.0F, 2.0F});
  add_values(out, {7, 8, 9});
  return out;
}

Status fill(const fs::path& folder, const fs::path& scratch) {
  for (const bool rich : {false, true}) {
    const std::string name = rich ? "rich" : "plain";
    add_raw(folder, scratch, name, rich);
    const fs::path netcdf = scratch / (name + ".nc"), hdf5 = scratch / (name + ".h5");
    PENSTOCK_TRY(write_file(netcdf, "netcdf/independent", rich));
    PENSTOCK_TRY(write_file(hdf5, "hdf5/independent", rich));
    write(folder / "file" / (name + "-nc"), read(netcdf));
    write(folder / "netcdf_header" / name, read(netcdf));
    write(folder / "hdf5" / name, read(hdf5));
  }
  add_raw(folder, scratch, "chunks", false, "compression=deflate,chunk_bytes=64");
  PENSTOCK_TRY(write_file(scratch / "set.h5", "hdf5/independent:placement=per_rank", false));
  write(folder / "hdf5" / "set", read(scratch / "set.h5"));
  PENSTOCK_TRY(add_streams(folder, scratch));
  add_record(folder);
  PENSTOCK_TRY(add_chunks(folder));
  add_words(folder);
  write(folder / "described" / "file", described_file());
  for (const int32_t variables : {2, 5})
    write(folder / "ramses" / fmt::format("{}-variables", variables), ramses_output(variables));
  return {};
}

}  // namespace
}  // namespace penstock::test

int main(int argc, char** argv) {
  namespace fs = std::filesystem;
  if (argc != 2) return 2;
  const fs::path folder = fs::absolute(argv[1]), scratch = folder / "made";
  fs::create_directories(scratch);
  const penstock::Status status = penstock::test::fill(folder, scratch);
  fs::remove_all(scratch);
  if (status.ok()) return 0;
  fmt::print(stderr, "seeds: {}\n", status.message());
  return 1;
}
