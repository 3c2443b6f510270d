// smooth and turbulence: sums of waves that are periodic over their dataset.
//
// Turbulence is Kraichnan's synthetic kind, as in kinematic simulation (Kraichnan, Physics of Fluids 13, 22, 1970,
// doi 10.1063/1.1692799; Fung, Hunt, Malik and Perkins, Journal of Fluid Mechanics 236, 281, 1992, doi
// 10.1017/S0022112092001423): random Fourier modes, of which a shell of wave numbers k has the energy of Kolmogorov's
// spectrum, k^(-5/3) dk.
//
// The modes of a shell share their wave number along the last dimension. A mode is the product of one factor for each
// dimension, so that a row costs one sum over all modes, and an element two multiplications for each shell, with
// cosines and sines from tables. Nothing depends on where a stretch of elements begins, to the last bit.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "bench/data/data.hpp"
#include "bench/data/store.hpp"
#include "bench/workload/scramble.hpp"

namespace penstock::bench {

namespace {

constexpr int64_t shortest_row = 64;         // shorter ones are joined
constexpr int64_t largest_table = 64 << 10;  // entries; the factors of longer dimensions are computed
constexpr int64_t phases = 4096;

// A point of the unit circle. Not std::complex, whose product looks for infinities.
struct Turned {
  double real = 1, imaginary = 0;
  friend Turned operator*(const Turned& a, const Turned& b) {
    return {a.real * b.real - a.imaginary * b.imaginary, a.real * b.imaginary + a.imaginary * b.real};
  }
};

Turned turned(int64_t part, int64_t whole) {
  const double angle = 2 * std::numbers::pi * static_cast<double>(part) / static_cast<double>(whole);
  return {std::cos(angle), std::sin(angle)};
}

// The circle in equal parts.
class Circle {
 public:
  explicit Circle(int64_t parts) : parts_(parts) {
    for (int64_t i = 0; parts <= largest_table && i < parts; ++i) table_.push_back(turned(i, parts));
  }
  // WAVES times around, at PLACE of all parts.
  Turned at(int64_t waves, int64_t place) const {
    const auto part = static_cast<int64_t>(static_cast<__int128>(waves) * place % parts_);
    const int64_t positive = part < 0 ? part + parts_ : part;
    return table_.empty() ? turned(positive, parts_) : table_[static_cast<size_t>(positive)];
  }

 private:
  int64_t parts_;
  std::vector<Turned> table_;
};

struct Line {
  double wave_number;  // in waves for each element
  double amplitude;    // of all modes together
  int modes;
};

struct Spectrum {
  double mean = 0;
  std::vector<Line> lines;
};

struct Shell {
  int64_t along = 0;  // wave number of the last dimension
  double amplitude = 0;
  std::vector<Dims> across;  // of each mode: wave numbers of the other dimensions
  std::vector<double> cosines, sines;
};

Dims with_long_rows(Dims shape) {
  while (shape.rank() > 1 && shape[shape.rank() - 1] < shortest_row) {
    Dims joined = Dims::filled(shape.rank() - 1, 1);
    for (int d = 0; d < shape.rank(); ++d) joined[std::min(d, joined.rank() - 1)] *= shape[d];
    shape = joined;
  }
  return shape.rank() == 0 ? Dims{1} : shape;
}

// Random numbers of the modes' directions, which are the same in each run.
class Draws {
 public:
  double next() { return fraction(scramble(count_++)); }
  double normal() { return next() + next() + next() + next() - 2; }  // nearly, which suffices for directions

 private:
  uint64_t count_ = 0;
};

// The waves in datasets of one shape.
class Waves {
 public:
  Waves(const Dims& shape, Spectrum (*spectrum_of)(const Dims& shape))
      : shape_(with_long_rows(shape)), row_(shape_[shape_.rank() - 1]), piece_(std::min(row_, store_block)) {
    const Spectrum spectrum = spectrum_of(shape_);
    mean_ = spectrum.mean;
    for (const int64_t extent : shape_) circles_.emplace_back(std::max<int64_t>(1, extent));
    Draws draws;
    for (const Line& line : spectrum.lines) shells_.push_back(shell(line, draws));
  }

  void add_up(uint64_t key, int64_t offset, std::span<double> out) const {
    std::fill(out.begin(), out.end(), mean_);
    while (!out.empty()) {
      const int64_t row = offset / row_, at = offset % row_, begin = at / piece_ * piece_;
      const int64_t count = std::min({begin + piece_ - at, row_ - at, static_cast<int64_t>(out.size())});
      add_stretch(key, row, begin, at - begin, out.first(static_cast<size_t>(count)));
      out = out.subspan(static_cast<size_t>(count));
      offset += count;
    }
  }

 private:
  Shell shell(const Line& line, Draws& draws) const {
    const int last = shape_.rank() - 1;
    const auto waves = [](double wave_number, int64_t extent) {
      return std::llround(wave_number * static_cast<double>(extent));
    };
    Shell made;
    made.amplitude = line.amplitude / std::sqrt(line.modes);
    const double slope = last == 0 ? 1 : draws.next();
    made.along = std::max<int64_t>(1, waves(line.wave_number * slope, row_));
    for (int mode = 0; mode < line.modes; ++mode) {
      std::array<double, max_rank> direction{};
      double length = 0;
      for (int d = 0; d < last; ++d) {
        direction[static_cast<size_t>(d)] = draws.normal();
        length += direction[static_cast<size_t>(d)] * direction[static_cast<size_t>(d)];
      }
      Dims across = Dims::filled(last, 0);
      const double rest = line.wave_number * std::sqrt(1 - slope * slope) / std::sqrt(std::max(length, 1e-9));
      for (int d = 0; d < last; ++d) across[d] = waves(rest * direction[static_cast<size_t>(d)], shape_[d]);
      made.across.push_back(across);
    }
    for (int64_t i = 0; i < piece_; ++i) {
      const Turned one = circles_.back().at(made.along, i);
      made.cosines.push_back(one.real);
      made.sines.push_back(one.imaginary);
    }
    return made;
  }

  // The elements of ROW from BEGIN + SKIPPED on; BEGIN is where a piece begins.
  void add_stretch(uint64_t key, int64_t row, int64_t begin, int64_t skipped, std::span<double> out) const {
    const int last = shape_.rank() - 1;
    Dims place = Dims::filled(last, 0);
    for (int d = last - 1; d >= 0; --d) {
      place[d] = row % shape_[d];
      row /= shape_[d];
    }
    uint64_t number = key;
    for (const Shell& shell : shells_) {
      Turned sum{0, 0};
      for (const Dims& across : shell.across) {
        Turned mode = phases_.at(1, static_cast<int64_t>(scramble(++number) % phases));
        for (int d = 0; d < last; ++d) mode = mode * circles_[static_cast<size_t>(d)].at(across[d], place[d]);
        sum = {sum.real + mode.real, sum.imaginary + mode.imaginary};
      }
      sum = sum * circles_.back().at(shell.along, begin);
      const double real = shell.amplitude * sum.real, imaginary = shell.amplitude * sum.imaginary;
      const double *cosines = shell.cosines.data() + skipped, *sines = shell.sines.data() + skipped;
      for (size_t i = 0; i < out.size(); ++i) out[i] += real * cosines[i] - imaginary * sines[i];
    }
  }

  double mean_ = 0;
  Dims shape_;
  int64_t row_, piece_;
  Circle phases_{phases};
  std::vector<Circle> circles_;  // of each dimension
  std::vector<Shell> shells_;
};

class WaveData : public Values {
 public:
  WaveData(const std::vector<Field>& fields, Spectrum (*spectrum)(const Dims& shape)) {
    for (const Field& field : fields) {
      const auto same = std::ranges::find(fields_, field.shape, &Own::shape);
      const std::shared_ptr<const Waves> waves =
          same != fields_.end() ? same->waves : std::make_shared<Waves>(field.shape, spectrum);
      fields_.push_back({field.type.kind, field.shape, waves});
    }
  }

  void fill(uint64_t key, int field, int64_t offset, std::span<std::byte> out) const override {
    const Own& own = fields_[static_cast<size_t>(field)];
    const uint64_t of_field = scramble(key + static_cast<uint64_t>(field));
    store(own.kind, offset, out, [&](int part, int64_t at, std::span<double> values) {
      own.waves->add_up(part == 0 ? of_field : scramble(of_field), at, values);
    });
  }

 private:
  struct Own {
    Kind kind;
    Dims shape;
    std::shared_ptr<const Waves> waves;
  };
  std::vector<Own> fields_;
};

double longest(const Dims& shape) {
  int64_t most = 1;
  for (const int64_t extent : shape) most = std::max(most, extent);
  return static_cast<double>(most);
}

Spectrum smooth(const Dims& shape) {
  Spectrum spectrum{.mean = 1};
  for (const double waves : {1, 2, 3, 4}) spectrum.lines.push_back({waves / longest(shape), 0.1 / (waves * waves), 2});
  spectrum.lines.push_back({1.0 / 16, 1e-3, 2});
  return spectrum;
}

// From one wave in the longest dimension to waves of four elements; the mean square is one.
Spectrum turbulence(const Dims& shape) {
  constexpr int shells = 24, modes = 4;
  const double first = 1 / longest(shape), last = std::max(first, 0.25);
  Spectrum spectrum;
  double energy = 0;
  for (int i = 0; i < shells; ++i) {
    const double wave_number = first * std::pow(last / first, static_cast<double>(i) / (shells - 1));
    const double amplitude = 1 / std::cbrt(wave_number);  // squared: k^(-5/3) dk with dk proportional to k
    spectrum.lines.push_back({wave_number, amplitude, modes});
    energy += amplitude * amplitude / 2;
  }
  for (Line& line : spectrum.lines) line.amplitude /= std::sqrt(energy);
  return spectrum;
}

}  // namespace

MadeData make_smooth(const std::vector<Field>& fields) {
  return std::shared_ptr<const Values>(std::make_shared<WaveData>(fields, smooth));
}

MadeData make_turbulence(const std::vector<Field>& fields) {
  return std::shared_ptr<const Values>(std::make_shared<WaveData>(fields, turbulence));
}

}  // namespace penstock::bench
