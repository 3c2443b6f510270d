// Datatype: the constructors of MPI's types, taken apart.
#include "bindings/mpiio/datatype.hpp"

#include <algorithm>
#include <functional>
#include <mutex>
#include <utility>

namespace penstock::mpiio {
namespace {

// Collects runs; adjacent ones become one.
class Runs {
 public:
  void add(int64_t at, int64_t length) {
    if (length == 0) return;
    if (!list.empty() && list.back().at + list.back().length == at)
      list.back().length += length;
    else
      list.push_back({at, length, 0});
  }
  // COUNT items of TYPE from AT on.
  void add(int64_t at, int64_t count, const Flat& type) {
    if (type.dense()) {
      if (!type.runs.empty()) add(at + type.runs[0].at, count * type.size);
      return;
    }
    for (int64_t i = 0; i < count; ++i)
      for (const Flat::Run& run : type.runs) add(at + i * type.extent + run.at, run.length);
  }
  std::vector<Flat::Run> list;
};

// What made a type.
struct Contents {
  int combiner = 0;
  std::vector<int64_t> integers;
  std::vector<int64_t> addresses;
  std::vector<MPI_Datatype> types;

  explicit Contents(MPI_Datatype type);
  ~Contents() {
    for (MPI_Datatype& type : types)
      if (!is_predefined(type)) MPI_Type_free(&type);
  }
  Contents(const Contents&) = delete;
  Contents& operator=(const Contents&) = delete;

  static bool is_predefined(MPI_Datatype type) {
    const int combiner = sizes_of(type).combiner;
    return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
           combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
  }

 private:
  struct Sizes {
    MPI_Count integers = 0, addresses = 0, counts = 0, types = 0;
    int combiner = 0;
  };
  static Sizes sizes_of(MPI_Datatype type);
};

#if MPI_VERSION >= 4
Contents::Sizes Contents::sizes_of(MPI_Datatype type) {
  Sizes sizes;
  MPI_Type_get_envelope_c(type, &sizes.integers, &sizes.addresses, &sizes.counts, &sizes.types, &sizes.combiner);
  return sizes;
}

// Of a type that was made with counts of 64 bits, all numbers are counts, but an array's rank, order and distributions.
// They are put where the same constructor with int has them.
Contents::Contents(MPI_Datatype type) {
  const Sizes sizes = sizes_of(type);
  combiner = sizes.combiner;
  if (combiner == MPI_COMBINER_NAMED) return;
  std::vector<int> ints(static_cast<size_t>(sizes.integers));
  std::vector<MPI_Aint> places(static_cast<size_t>(sizes.addresses));
  std::vector<MPI_Count> counts(static_cast<size_t>(sizes.counts));
  types.resize(static_cast<size_t>(sizes.types));
  MPI_Type_get_contents_c(type, sizes.integers, sizes.addresses, sizes.counts, sizes.types, ints.data(), places.data(),
                          counts.data(), types.data());
  integers.assign(ints.begin(), ints.end());
  addresses.assign(places.begin(), places.end());
  if (counts.empty()) return;
  const auto n = static_cast<ptrdiff_t>(counts[0]);
  const auto begin = counts.begin(), end = counts.end();
  switch (combiner) {
    case MPI_COMBINER_HVECTOR:
      integers.assign(begin, begin + 2);
      addresses.assign(begin + 2, end);
      break;
    case MPI_COMBINER_HINDEXED:
    case MPI_COMBINER_STRUCT:
      integers.assign(begin, begin + 1 + n);
      addresses.assign(begin + 1 + n, end);
      break;
    case MPI_COMBINER_HINDEXED_BLOCK:
      integers.assign(begin, begin + 2);
      addresses.assign(begin + 2, end);
      break;
    case MPI_COMBINER_RESIZED: addresses.assign(begin, end); break;
    case MPI_COMBINER_SUBARRAY: integers.insert(integers.begin() + 1, begin, end); break;  // rank, order
    case MPI_COMBINER_DARRAY: integers.insert(integers.begin() + 3, begin, end); break;  // size, rank, dimensions, ...
    default: integers.assign(begin, end);
  }
}
#else
Contents::Sizes Contents::sizes_of(MPI_Datatype type) {
  int integers = 0, addresses = 0, types = 0, combiner = 0;
  MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
  return {integers, addresses, 0, types, combiner};
}

Contents::Contents(MPI_Datatype type) {
  const Sizes sizes = sizes_of(type);
  combiner = sizes.combiner;
  if (combiner == MPI_COMBINER_NAMED) return;
  std::vector<int> ints(static_cast<size_t>(sizes.integers));
  std::vector<MPI_Aint> places(static_cast<size_t>(sizes.addresses));
  types.resize(static_cast<size_t>(sizes.types));
  MPI_Type_get_contents(type, static_cast<int>(ints.size()), static_cast<int>(places.size()),
                        static_cast<int>(types.size()), ints.data(), places.data(), types.data());
  integers.assign(ints.begin(), ints.end());
  addresses.assign(places.begin(), places.end());
}
#endif

void add_named(MPI_Datatype type, int64_t size, Runs& runs) {
  const auto pair = [&](int64_t first, int64_t second_at) {
    runs.add(0, first);
    runs.add(second_at, size - first);
  };
  struct Short {
    short value;
    int at;
  };
  struct Long {
    long value;
    int at;
  };
  struct Double {
    double value;
    int at;
  };
  struct LongDouble {
    long double value;
    int at;
  };
  if (type == MPI_SHORT_INT) return pair(sizeof(short), offsetof(Short, at));
  if (type == MPI_LONG_INT) return pair(sizeof(long), offsetof(Long, at));
  if (type == MPI_DOUBLE_INT) return pair(sizeof(double), offsetof(Double, at));
  if (type == MPI_LONG_DOUBLE_INT) return pair(sizeof(long double), offsetof(LongDouble, at));
  runs.add(0, size);
}

// Indices START to START + COUNT of one dimension.
struct Indices {
  int64_t start = 0, count = 0;
};

// Those of process AT of PROCESSES, of an array dimension of GLOBAL elements.
std::vector<Indices> distributed(int64_t distribution, int64_t argument, int64_t global, int64_t processes,
                                 int64_t at) {
  if (distribution == MPI_DISTRIBUTE_NONE) return {{0, global}};
  int64_t block = argument;
  if (argument == MPI_DISTRIBUTE_DFLT_DARG)
    block = distribution == MPI_DISTRIBUTE_BLOCK ? (global + processes - 1) / processes : 1;
  std::vector<Indices> found;
  for (int64_t start = at * block; start < global; start += processes * block) {
    found.push_back({start, std::min(block, global - start)});
    if (distribution == MPI_DISTRIBUTE_BLOCK) break;
  }
  return found;
}

// The elements of an array whose indices are those of OF, slowest dimension first.
void add_array(const std::vector<int64_t>& shape, const std::vector<std::vector<Indices>>& of, const Flat& element,
               Runs& runs) {
  const size_t last = shape.size() - 1;
  const std::function<void(size_t, int64_t)> visit = [&](size_t dimension, int64_t before) {
    for (const Indices& indices : of[dimension]) {
      const int64_t at = before * shape[dimension] + indices.start;
      if (dimension == last)
        runs.add(at * element.extent, indices.count, element);
      else
        for (int64_t i = 0; i < indices.count; ++i) visit(dimension + 1, at + i);
    }
  };
  visit(0, 0);
}

void add_subarray(const Contents& made, const Flat& element, Runs& runs) {
  const auto rank = static_cast<size_t>(made.integers[0]);
  const int64_t* const shape = &made.integers[1];
  const bool fortran = made.integers[1 + 3 * rank] == MPI_ORDER_FORTRAN;
  std::vector<int64_t> extents;
  std::vector<std::vector<Indices>> of;
  for (size_t i = 0; i < rank; ++i) {
    const size_t d = fortran ? rank - 1 - i : i;
    extents.push_back(shape[d]);
    of.push_back({{shape[2 * rank + d], shape[rank + d]}});
  }
  add_array(extents, of, element, runs);
}

void add_darray(const Contents& made, const Flat& element, Runs& runs) {
  const int64_t process = made.integers[1];
  const auto rank = static_cast<size_t>(made.integers[2]);
  const int64_t* const shape = &made.integers[3];
  const int64_t *const distributions = shape + rank, *const arguments = shape + 2 * rank,
                       *const grid = shape + 3 * rank;
  const bool fortran = shape[4 * rank] == MPI_ORDER_FORTRAN;
  std::vector<int64_t> at(rank);  // in the grid of processes, which is in row-major order
  for (size_t d = rank, left = static_cast<size_t>(process); d-- > 0; left /= static_cast<size_t>(grid[d]))
    at[d] = static_cast<int64_t>(left % static_cast<size_t>(grid[d]));
  std::vector<int64_t> extents;
  std::vector<std::vector<Indices>> of;
  for (size_t i = 0; i < rank; ++i) {
    const size_t d = fortran ? rank - 1 - i : i;
    extents.push_back(shape[d]);
    of.push_back(distributed(distributions[d], arguments[d], shape[d], grid[d], at[d]));
  }
  add_array(extents, of, element, runs);
}

void add_type(MPI_Datatype type, Runs& runs) {
  const Contents made(type);
  int64_t size = 0;
  {
    MPI_Count bytes = 0;
    MPI_Type_size_x(type, &bytes);
    size = bytes;
  }
  if (size == 0) return;
  const auto& ints = made.integers;
  const auto& aints = made.addresses;
  const auto count = [&](size_t at) { return ints[at]; };
  const auto inner = [&](size_t at = 0) { return flat(made.types[at]); };
  switch (made.combiner) {
    case MPI_COMBINER_NAMED: return add_named(type, size, runs);
    case MPI_COMBINER_F90_REAL:
    case MPI_COMBINER_F90_COMPLEX:
    case MPI_COMBINER_F90_INTEGER: return runs.add(0, size);
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED: return runs.add(0, 1, *inner());
    case MPI_COMBINER_CONTIGUOUS: return runs.add(0, count(0), *inner());
    case MPI_COMBINER_VECTOR:
    case MPI_COMBINER_HVECTOR: {
      const auto old = inner();
      const int64_t stride = made.combiner == MPI_COMBINER_VECTOR ? count(2) * old->extent : aints[0];
      for (int64_t i = 0; i < count(0); ++i) runs.add(i * stride, count(1), *old);
      return;
    }
    case MPI_COMBINER_INDEXED: {
      const auto old = inner();
      const auto n = static_cast<size_t>(ints[0]);
      for (size_t i = 0; i < n; ++i) runs.add(count(1 + n + i) * old->extent, count(1 + i), *old);
      return;
    }
    case MPI_COMBINER_HINDEXED: {
      const auto old = inner();
      const auto n = static_cast<size_t>(ints[0]);
      for (size_t i = 0; i < n; ++i) runs.add(aints[i], count(1 + i), *old);
      return;
    }
    case MPI_COMBINER_INDEXED_BLOCK: {
      const auto old = inner();
      for (size_t i = 0; i < static_cast<size_t>(ints[0]); ++i) runs.add(count(2 + i) * old->extent, count(1), *old);
      return;
    }
    case MPI_COMBINER_HINDEXED_BLOCK: {
      const auto old = inner();
      for (size_t i = 0; i < static_cast<size_t>(ints[0]); ++i) runs.add(aints[i], count(1), *old);
      return;
    }
    case MPI_COMBINER_STRUCT: {
      for (size_t i = 0; i < static_cast<size_t>(ints[0]); ++i) runs.add(aints[i], count(1 + i), *inner(i));
      return;
    }
    case MPI_COMBINER_SUBARRAY: return add_subarray(made, *inner(), runs);
    case MPI_COMBINER_DARRAY: return add_darray(made, *inner(), runs);
    default: return;
  }
}

std::shared_ptr<const Flat> flatten(MPI_Datatype type) {
  auto flat = std::make_shared<Flat>();
  Runs runs;
  add_type(type, runs);
  flat->runs = std::move(runs.list);
  for (Flat::Run& run : flat->runs) {
    run.before = flat->size;
    flat->size += run.length;
  }
  MPI_Count lower = 0, extent = 0, size = 0;
  MPI_Type_get_extent_x(type, &lower, &extent);
  MPI_Type_size_x(type, &size);
  flat->extent = extent;
  flat->known = flat->size == size;
  return flat;
}

using Entry = std::shared_ptr<const Flat>;

int drop(MPI_Datatype, int, void* value, void*) {
  delete static_cast<Entry*>(value);
  return MPI_SUCCESS;
}

int key() {
  static const int made = [] {
    int key = MPI_KEYVAL_INVALID;
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, drop, &key, nullptr);
    return key;
  }();
  return made;
}

}  // namespace

std::shared_ptr<const Flat> flat(MPI_Datatype type) {
  if (Contents::is_predefined(type)) return flatten(type);
  static std::recursive_mutex mutex;  // a type's parts are looked at meanwhile
  const std::lock_guard lock(mutex);
  void* value = nullptr;
  int found = 0;
  MPI_Type_get_attr(type, key(), static_cast<void*>(&value), &found);
  if (found) return *static_cast<Entry*>(value);
  auto made = std::make_unique<Entry>(flatten(type));
  Entry result = *made;
  if (MPI_Type_set_attr(type, key(), made.get()) == MPI_SUCCESS) (void)made.release();
  return result;
}

Type::Type(MPI_Datatype type) : type_(type), owned_(!Contents::is_predefined(type)) {
  if (owned_) MPI_Type_dup(type, &type_);
}

Type::~Type() {
  if (owned_) MPI_Type_free(&type_);
}

Type::Type(Type&& other) noexcept : type_(other.type_), owned_(std::exchange(other.owned_, false)) {}

Type& Type::operator=(Type&& other) noexcept {
  std::swap(type_, other.type_);
  std::swap(owned_, other.owned_);
  return *this;
}

MPI_Datatype Type::copy() const {
  if (!owned_) return type_;
  MPI_Datatype copied = MPI_DATATYPE_NULL;
  MPI_Type_dup(type_, &copied);
  return copied;
}

}  // namespace penstock::mpiio
