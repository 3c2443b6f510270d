// Data: the table of kinds, and random bits.
#include "bench/data/data.hpp"

#include <algorithm>
#include <cstring>

#include "bench/workload/scramble.hpp"

namespace penstock::bench {

namespace {

MadeData make_numbers(const std::vector<Field>&) { return std::shared_ptr<const Values>(); }

constexpr DataKind kinds[] = {
    {"numbers", "values that say where each element belongs", make_numbers},
    {"smooth", "low wave numbers, and a high one of a thousandth: a variable of a flow solver", make_smooth},
    {"turbulence", "random Fourier modes whose energy falls with the wave number to the power -5/3", make_turbulence},
    {"particles", "positions in clusters, velocities with a thermal part, ids, species and weights, by dataset name",
     make_clusters},
    {"ramses", "the values of a RAMSES output ($PENSTOCK_DATA/ramses), again and again, each time changed a little",
     make_sample},
    {"random", "random bits, which nothing makes smaller", make_random},
};

// Exponents of reals stay far from infinities and subnormal numbers, as in workload/numbering.hpp.
uint64_t without_extremes(uint64_t bits, bool wide) {
  if (wide) return (bits & ~(uint64_t{0x7ff} << 52)) | ((512 + (bits >> 52 & 1023)) << 52);
  const auto narrow = [](uint64_t word) {
    return (word & ~(uint64_t{0xff} << 23) & 0xffffffffu) | ((64 + (word >> 23 & 127)) << 23);
  };
  return narrow(bits & 0xffffffffu) | narrow(bits >> 32) << 32;
}

class RandomBits : public Values {
 public:
  explicit RandomBits(const std::vector<Field>& fields) : fields_(fields) {}

  void fill(uint64_t key, int field, int64_t offset, std::span<std::byte> out) const override {
    const ElementType& type = fields_[static_cast<size_t>(field)].type;
    const bool wide = type.kind == Kind::f64 || type.kind == Kind::complex128;
    const bool real = wide || type.kind == Kind::f32 || type.kind == Kind::complex64;
    const int64_t size = bytes(type);
    const uint64_t own = scramble(key + static_cast<uint64_t>(field));
    for (int64_t at = offset * size, end = at + static_cast<int64_t>(out.size()); at < end;) {
      uint64_t word = scramble(own + static_cast<uint64_t>(at / 8));
      if (real) word = without_extremes(word, wide);
      const int64_t from = at % 8, count = std::min(8 - from, end - at);
      std::memcpy(out.data() + out.size() - (end - at), reinterpret_cast<const std::byte*>(&word) + from,
                  static_cast<size_t>(count));
      at += count;
    }
  }

 private:
  std::vector<Field> fields_;
};

}  // namespace

uint64_t data_key(uint64_t seed, int repetition) {
  return scramble(scramble(seed) + static_cast<uint64_t>(repetition));
}

std::span<const DataKind> data_kinds() { return kinds; }

const DataKind* find_data(std::string_view name) {
  const auto* found = std::ranges::find(kinds, name, &DataKind::name);
  return found == std::end(kinds) ? nullptr : found;
}

MadeData make_random(const std::vector<Field>& fields) {
  return std::shared_ptr<const Values>(std::make_shared<RandomBits>(fields));
}

}  // namespace penstock::bench
