// Types: built from lists, with counts that fit MPI's int.
#include "core/transport/mpiio/types.hpp"

#include <algorithm>
#include <climits>
#include <map>
#include <tuple>

#include "core/comm/mpi/native.hpp"

namespace penstock::mpiio {
namespace {

constexpr int64_t max_in_block = int64_t{1} << 30;  // bytes of one entry, since its length is an int

Result<Datatype> commit(int error, MPI_Datatype type, const char* call) {
  PENSTOCK_TRY(mpi_status(error, call));
  Datatype made = Datatype::made(type);
  PENSTOCK_TRY(mpi_status(MPI_Type_commit(&type), "MPI_Type_commit"));
  return made;
}

// Lengths in units, displacements in bytes.
struct Blocks {
  std::vector<int> lengths;
  std::vector<MPI_Aint> displacements;
  void add(int64_t at, int64_t bytes, int64_t unit) {
    for (; bytes > 0; at += max_in_block, bytes -= max_in_block) {
      lengths.push_back(static_cast<int>(std::min(bytes, max_in_block) / unit));
      displacements.push_back(static_cast<MPI_Aint>(at));
    }
  }
};

Result<Datatype> indexed(const Blocks& blocks, MPI_Datatype unit) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  const int error = MPI_Type_create_hindexed(static_cast<int>(blocks.lengths.size()), blocks.lengths.data(),
                                             blocks.displacements.data(), unit, &type);
  return commit(error, type, "MPI_Type_create_hindexed");
}

// COUNT elements, STRIDE elements apart.
Result<Datatype> strided(const MemoryEntry& entry, int64_t unit) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  const int error =
      MPI_Type_create_hvector(static_cast<int>(entry.count), static_cast<int>(entry.element_bytes / unit),
                              static_cast<MPI_Aint>(entry.stride * entry.element_bytes), unit_type(unit), &type);
  return commit(error, type, "MPI_Type_create_hvector");
}

// Each form of strided entry is created once; flat entries consist of one unit.
Result<Datatype> structure(const std::vector<MemoryEntry>& entries, const std::byte* base, int64_t unit) {
  std::map<std::tuple<int64_t, int64_t, int64_t>, Datatype> shapes;
  Blocks blocks;
  std::vector<MPI_Datatype> types;
  for (const MemoryEntry& entry : entries) {
    if (entry.stride == 1 || entry.count == 1) {
      blocks.add(entry.address - base, entry.count * entry.element_bytes, unit);
      types.resize(blocks.lengths.size(), unit_type(unit));
      continue;
    }
    const auto key = std::tuple(entry.element_bytes, entry.count, entry.stride);
    auto shape = shapes.find(key);
    if (shape == shapes.end()) {
      PENSTOCK_ASSIGN(Datatype made, strided(entry, unit));
      shape = shapes.emplace(key, std::move(made)).first;
    }
    blocks.lengths.push_back(1);
    blocks.displacements.push_back(static_cast<MPI_Aint>(entry.address - base));
    types.push_back(shape->second.get());
  }
  MPI_Datatype type = MPI_DATATYPE_NULL;
  const int error = MPI_Type_create_struct(static_cast<int>(types.size()), blocks.lengths.data(),
                                           blocks.displacements.data(), types.data(), &type);
  return commit(error, type, "MPI_Type_create_struct");
}

// The address of ENTRY's lowest byte; strides may be negative.
std::byte* lowest(const MemoryEntry& entry) {
  return entry.address + std::min<int64_t>(0, (entry.count - 1) * entry.stride * entry.element_bytes);
}

}  // namespace

MPI_Datatype unit_type(int64_t unit) {
  switch (unit) {
    case 2: return MPI_INT16_T;
    case 4: return MPI_INT32_T;
    case 8: return MPI_INT64_T;
    default: return MPI_BYTE;
  }
}

Result<Datatype> file_type(const std::vector<Stretch>& stretches, int64_t unit) {
  Blocks blocks;
  const int64_t base = stretches.front().slice.address;
  int64_t from = base, to = base;
  for (const Stretch& stretch : stretches) {
    if (stretch.slice.address != to) {
      blocks.add(from - base, to - from, unit);
      from = stretch.slice.address;
    }
    to = stretch.slice.address + stretch.slice.bytes;
  }
  if (from == base) return Datatype::basic(unit_type(unit));  // contiguous: the view needs no more
  blocks.add(from - base, to - from, unit);
  return indexed(blocks, unit_type(unit));
}

Result<MemoryType> memory_type(const std::vector<MemoryEntry>& entries, int64_t unit) {
  MemoryType memory;
  if (entries.empty()) return memory;
  const MemoryEntry& first = entries.front();
  const int64_t bytes = first.count * first.element_bytes;
  if (entries.size() == 1 && (first.stride == 1 || first.count == 1) && bytes <= max_in_block) {
    memory.address = first.address;
    memory.count = static_cast<int>(bytes / unit);
    memory.type = Datatype::basic(unit_type(unit));
    return memory;
  }
  memory.address = lowest(first);
  bool flat = true;
  for (const MemoryEntry& entry : entries) {
    memory.address = std::min(memory.address, lowest(entry));
    flat = flat && (entry.stride == 1 || entry.count == 1);
  }
  memory.count = 1;
  if (!flat) {
    PENSTOCK_ASSIGN(memory.type, structure(entries, memory.address, unit));
    return memory;
  }
  Blocks blocks;
  for (const MemoryEntry& entry : entries)
    blocks.add(entry.address - memory.address, entry.count * entry.element_bytes, unit);
  PENSTOCK_ASSIGN(memory.type, indexed(blocks, unit_type(unit)));
  return memory;
}

}  // namespace penstock::mpiio
