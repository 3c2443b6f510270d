// particles: clustered positions in the order of a code that sorts by place, with velocities, ids, species and weights.
//
// Consecutive particles share a cluster, and in it a cell: neighbours in the index are neighbours in space. A velocity
// is that of the cluster and a thermal part. What an array is follows from the end of its dataset's name, as in the
// workload particles: other datasets hold positions.
#include <array>

#include "bench/data/data.hpp"
#include "bench/data/store.hpp"
#include "bench/workload/scramble.hpp"

namespace penstock::bench {

namespace {

constexpr uint64_t of_cluster = 4096, of_cell = 64;  // particles
constexpr uint64_t shuffled = 2654435761u;           // odd
constexpr double thermal = 0.3, of_bulk = 1.0;       // speeds

enum class Role : uint8_t { position, velocity, id, species, weight };

Role role_of(std::string_view name) {
  const auto ends = [&](std::initializer_list<std::string_view> words) {
    return std::ranges::any_of(words, [&](std::string_view word) { return name.ends_with(word); });
  };
  if (ends({"_px", "_py", "_pz", "_vx", "_vy", "_vz"}) || name.find("velocity") != std::string_view::npos)
    return Role::velocity;
  if (ends({"_id"})) return Role::id;
  if (ends({"_species"})) return Role::species;
  return ends({"_weight"}) ? Role::weight : Role::position;
}

// A random number, the same for all particles that share NUMBER.
uint64_t draw(uint64_t key, uint64_t number, uint64_t purpose) { return scramble(scramble(key + number) + purpose); }

// From -1 to 1, most near 0: the sum of two.
double around(uint64_t drawn) {
  return (static_cast<double>(drawn >> 32) + static_cast<double>(drawn & 0xffffffffu)) * 0x1p-32 - 1;
}

// About normal, with a variance of one: the sum of four.
double normal(uint64_t key, uint64_t number) {
  return (around(draw(key, number, 1)) + around(draw(key, number, 2))) * 1.7320508075688772;
}

double cubed(double x) { return x * x * x; }

// In [0, 1), periodic. KEY is of this coordinate, SHARED of all.
double position(uint64_t key, uint64_t shared, uint64_t number) {
  const uint64_t cluster = number / of_cluster;
  const double radius = 0.001 + 0.1 * cubed(fraction(draw(shared, cluster, 0)));
  const double cell = around(draw(key, number / of_cell, 1)), inside = around(draw(key, number, 2));
  const double place = fraction(draw(key, cluster, 0)) + radius * (cell + 0.1 * inside);
  return place - std::floor(place);
}

double velocity(uint64_t key, uint64_t number) {
  return of_bulk * around(draw(key, number / of_cluster, 0)) + thermal * normal(key, number);
}

// A permutation of the ids of a cluster.
uint64_t id(uint64_t key, uint64_t number) {
  const uint64_t cluster = number / of_cluster;
  return cluster * of_cluster + (number * shuffled + draw(key, cluster, 0)) % of_cluster;
}

uint64_t species(uint64_t key, uint64_t number) {
  const uint64_t drawn = draw(key, number, 0) % 16;
  return drawn < 13 ? 0 : drawn - 12;
}

double weight(uint64_t key, uint64_t number) {
  return 1 + 0.25 * static_cast<double>(draw(key, number / of_cluster, 0) % 4);
}

template <typename T>
T as(uint64_t count) {
  if constexpr (is_complex_type<T>)
    return T(static_cast<typename T::value_type>(count));
  else
    return static_cast<T>(count);
}

class Clusters : public Values {
 public:
  explicit Clusters(const std::vector<Field>& fields) {
    for (const Field& field : fields) fields_.push_back({field.type.kind, role_of(field.name)});
  }

  void fill(uint64_t key, int field, int64_t offset, std::span<std::byte> out) const override {
    const Own& own = fields_[static_cast<size_t>(field)];
    const uint64_t of_field = scramble(key + static_cast<uint64_t>(field));
    if (own.role == Role::id || own.role == Role::species) {
      fill_counts(own, of_field, offset, out);
      return;
    }
    store(own.kind, offset, out, [&](int part, int64_t at, std::span<double> values) {
      const uint64_t of_part = part == 0 ? of_field : scramble(of_field);
      auto number = static_cast<uint64_t>(at);
      for (double& value : values) value = real(own.role, of_part, key, number++);
    });
  }

 private:
  struct Own {
    Kind kind;
    Role role;
  };

  static double real(Role role, uint64_t key, uint64_t shared, uint64_t number) {
    switch (role) {
      case Role::velocity: return velocity(key, number);
      case Role::weight: return weight(key, number);
      default: return position(key, shared, number);
    }
  }

  // As they are, not scaled.
  static void fill_counts(const Own& own, uint64_t key, int64_t offset, std::span<std::byte> out) {
    auto number = static_cast<uint64_t>(offset);
    with_number(own.kind, [&]<typename T>(T) {
      for (size_t at = 0; at + sizeof(T) <= out.size(); at += sizeof(T), ++number) {
        const uint64_t count = own.role == Role::id ? id(key, number) : species(key, number);
        const T element = as<T>(count);
        std::memcpy(out.data() + at, &element, sizeof(T));
      }
      return 0;
    });
  }

  std::vector<Own> fields_;
};

}  // namespace

MadeData make_clusters(const std::vector<Field>& fields) {
  return std::shared_ptr<const Values>(std::make_shared<Clusters>(fields));
}

}  // namespace penstock::bench
