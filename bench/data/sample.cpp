// ramses: the values of one output of the RAMSES code, again and again.
//
// Each time they are changed a little, by a factor below 1 + 1/256 (integers above zero by an addend): a compressor
// would find exact repetitions, which a larger simulation does not have. What is zero or equal stays so.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include <fmt/format.h>

#include "bench/data/data.hpp"
#include "bench/data/store.hpp"
#include "bench/workload/scramble.hpp"

namespace penstock::bench {

namespace {

constexpr const char* sample_name = "ramses/sedov3d_amr_6p";
constexpr int sample_processes = 6, cells_of_oct = 8, axes = 3;
constexpr const char* hydro_names[] = {"density", "velocity_x", "velocity_y", "velocity_z", "pressure"};

// Of each structure of RAMSES, oct after oct, as the workloads ramses-amr and ramses-hydro have them.
struct Sample {
  std::map<std::string, std::vector<double>, std::less<>> reals;
  std::map<std::string, std::vector<int32_t>, std::less<>> integers;
};

// Records of Fortran, unformatted and sequential, little-endian, all in memory.
class SampleFile {
 public:
  static Result<SampleFile> open(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file)
      return Status(Code::not_found, fmt::format("--data ramses: there is no '{}': PENSTOCK_DATA names the folder that "
                                                 "has {}",
                                                 path, sample_name));
    SampleFile made;
    made.path_ = path;
    made.bytes_.assign(std::istreambuf_iterator<char>(file), {});
    return made;
  }

  bool at_end() const { return at_ >= bytes_.size(); }

  Status skip(int records) {
    for (int i = 0; i < records; ++i) PENSTOCK_TRY(next().status());
    return {};
  }

  template <typename T>
  Result<std::vector<T>> numbers() {
    PENSTOCK_ASSIGN(const std::string_view record, next());
    std::vector<T> list(record.size() / sizeof(T));
    std::memcpy(list.data(), record.data(), list.size() * sizeof(T));
    return list;
  }

  Result<int32_t> integer() {
    PENSTOCK_ASSIGN(const std::vector<int32_t> list, numbers<int32_t>());
    return list.empty() ? Result<int32_t>(damaged()) : Result<int32_t>(list[0]);
  }

  Status damaged() const {
    return Status(Code::damaged, fmt::format("--data ramses: '{}' is not as RAMSES writes it, at byte {}", path_, at_));
  }

 private:
  Result<std::string_view> next() {
    uint32_t length = 0;
    if (at_ + sizeof length > bytes_.size()) return damaged();
    std::memcpy(&length, &bytes_[at_], sizeof length);
    if (bytes_.size() - at_ < 2 * sizeof length + length) return damaged();
    const std::string_view record(&bytes_[at_ + sizeof length], length);
    at_ += 2 * sizeof length + length;
    return record;
  }

  std::string path_;
  std::vector<char> bytes_;
  size_t at_ = 0;
};

// WIDTH records of one value for each oct, appended to LIST oct after oct.
template <typename T>
Status add_octs(SampleFile& file, int64_t octs, int width, std::vector<T>& list) {
  const size_t before = list.size();
  list.resize(before + static_cast<size_t>(octs * width));
  for (int w = 0; w < width; ++w) {
    PENSTOCK_ASSIGN(const std::vector<T> values, file.numbers<T>());
    if (std::ssize(values) != octs) return file.damaged();
    for (size_t i = 0; i < values.size(); ++i)
      list[before + i * static_cast<size_t>(width) + static_cast<size_t>(w)] = values[i];
  }
  return {};
}

Status read_hydro(const std::string& path, Sample& sample) {
  PENSTOCK_ASSIGN(SampleFile file, SampleFile::open(path));
  PENSTOCK_TRY(file.skip(6));
  while (!file.at_end()) {
    PENSTOCK_TRY(file.skip(1));
    PENSTOCK_ASSIGN(const int32_t octs, file.integer());
    // All variables of the first cell of each oct, then those of the second.
    std::vector<std::vector<double>> cells(std::size(hydro_names) * cells_of_oct);
    for (size_t i = 0; octs > 0 && i < cells.size(); ++i) {
      PENSTOCK_ASSIGN(cells[i], file.numbers<double>());
      if (std::ssize(cells[i]) != octs) return file.damaged();
    }
    for (size_t v = 0; v < std::size(hydro_names); ++v)
      for (size_t oct = 0; oct < static_cast<size_t>(octs); ++oct)
        for (size_t c = 0; c < cells_of_oct; ++c)
          sample.reals[hydro_names[v]].push_back(cells[c * std::size(hydro_names) + v][oct]);
  }
  return {};
}

Status read_amr(const std::string& path, Sample& sample) {
  PENSTOCK_ASSIGN(SampleFile file, SampleFile::open(path));
  PENSTOCK_TRY(file.skip(21));
  PENSTOCK_ASSIGN(const std::vector<int32_t> counts, file.numbers<int32_t>());  // of octs, by level and process
  PENSTOCK_TRY(file.skip(7));
  for (const int32_t octs : counts) {
    if (octs == 0) continue;
    PENSTOCK_TRY(file.skip(1));
    for (const char* name : {"next", "prev"}) PENSTOCK_TRY(add_octs(file, octs, 1, sample.integers[name]));
    PENSTOCK_TRY(add_octs(file, octs, axes, sample.reals["xg"]));
    PENSTOCK_TRY(add_octs(file, octs, 1, sample.integers["father"]));
    PENSTOCK_TRY(add_octs(file, octs, 2 * axes, sample.integers["nbor"]));
    for (const char* name : {"son", "cpu_map", "flag1"})
      PENSTOCK_TRY(add_octs(file, octs, cells_of_oct, sample.integers[name]));
  }
  return {};
}

std::string sample_folder() {
  if (const char* data = std::getenv("PENSTOCK_DATA")) return fmt::format("{}/{}", data, sample_name);
  const std::string in_the_tree = fmt::format("tests/data/{}", sample_name);
  return std::filesystem::exists(in_the_tree) ? in_the_tree : fmt::format("../shared/data/{}", sample_name);
}

Result<Sample> read_sample() {
  const std::string folder = sample_folder();
  Sample sample;
  for (int process = 1; process <= sample_processes; ++process) {
    PENSTOCK_TRY(read_hydro(fmt::format("{}/hydro_00002.out{:05}", folder, process), sample));
    PENSTOCK_TRY(read_amr(fmt::format("{}/amr_00002.out{:05}", folder, process), sample));
  }
  return sample;
}

bool is_whole(Kind kind) { return kind < Kind::f32; }

class Tiles : public Values {
 public:
  Tiles(const std::vector<Field>& fields, Sample sample) : sample_(std::move(sample)) {
    for (const Field& field : fields) {
      Own own{.kind = field.type.kind};
      if (is_whole(own.kind))
        own.integers = &named(sample_.integers, field.name);
      else
        own.reals = &named(sample_.reals, field.name);
      fields_.push_back(own);
    }
  }

  void fill(uint64_t key, int field, int64_t offset, std::span<std::byte> out) const override {
    const Own& own = fields_[static_cast<size_t>(field)];
    const uint64_t of_field = scramble(key + static_cast<uint64_t>(field));
    if (own.integers != nullptr) {
      fill_integers(own, of_field, offset, out);
      return;
    }
    const std::vector<double>& list = *own.reals;
    store(own.kind, offset, out, [&](int part, int64_t at, std::span<double> values) {
      auto left = values;
      for (auto place = static_cast<size_t>(at); !left.empty();) {
        const size_t tile = place / list.size(), from = place % list.size();
        const size_t count = std::min(left.size(), list.size() - from);
        const double factor = 1 + fraction(scramble(of_field + static_cast<uint64_t>(part) + 2 * tile)) / 256;
        for (size_t i = 0; i < count; ++i) left[i] = list[from + i] * factor;
        left = left.subspan(count);
        place += count;
      }
    });
  }

 private:
  struct Own {
    Kind kind;
    const std::vector<double>* reals = nullptr;
    const std::vector<int32_t>* integers = nullptr;
  };

  // The structure at the end of a dataset's name, or any.
  template <typename Map>
  static const typename Map::mapped_type& named(const Map& all, std::string_view dataset) {
    const auto found = std::ranges::find_if(all, [&](const auto& one) { return dataset.ends_with(one.first); });
    return found != all.end() ? found->second : all.begin()->second;
  }

  static void fill_integers(const Own& own, uint64_t key, int64_t offset, std::span<std::byte> out) {
    const std::vector<int32_t>& list = *own.integers;
    auto place = static_cast<size_t>(offset);
    with_number(own.kind, [&]<typename T>(T) {
      if constexpr (std::is_integral_v<T>)
        for (size_t at = 0; at + sizeof(T) <= out.size(); at += sizeof(T), ++place) {
          const int32_t value = list[place % list.size()];
          const auto addend = static_cast<int32_t>(scramble(key + place / list.size()) % 65536);
          const T element = static_cast<T>(value > 0 ? value + addend : value);
          std::memcpy(out.data() + at, &element, sizeof(T));
        }
      return 0;
    });
  }

  Sample sample_;
  std::vector<Own> fields_;
};

}  // namespace

MadeData make_sample(const std::vector<Field>& fields) {
  PENSTOCK_ASSIGN(Sample sample, read_sample());
  return std::shared_ptr<const Values>(std::make_shared<Tiles>(fields, std::move(sample)));
}

}  // namespace penstock::bench
