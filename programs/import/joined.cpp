// Records: the arrays of all processes become datasets, read on demand while they are written.
#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <penstock/file.hpp>

#include "core/base/crc64.hpp"
#include "core/base/guarded.hpp"
#include "programs/import/records.hpp"

namespace penstock::importing {
namespace {

constexpr int64_t piece_bytes = 4 << 20;

Dims joined(std::initializer_list<int64_t> first, const Dims& rest) {
  Dims all(first);
  for (const int64_t extent : rest) all.push_back(extent);
  return all;
}

std::string describe(const Dims& dims) { return fmt::format("({})", fmt::join(dims.begin(), dims.end(), ", ")); }

// Elements of BLOCK from FIRST on, in C's order, as many as fit in OUT. Whole dimensions without ghosts form one run.
Status read_elements(FortranFile& file, const Block& block, const ElementType& type, int64_t first,
                     std::span<std::byte> out) {
  const int64_t size = bytes(type);
  int last = block.count.rank() - 1;
  int64_t run = last < 0 ? 1 : block.count[last], behind = 1;  // elements per step of dimension `last`
  while (last > 0 && block.count[last] == block.stored[last]) {
    behind *= block.stored[last];
    run *= block.count[--last];
  }
  int64_t each = run;  // of one record
  for (int i = 0; i < last; ++i) each *= block.count[i];
  while (!out.empty()) {
    const Record& record = block.records[static_cast<size_t>(first / each)];
    int64_t row = first % each / run, step = behind, offset = first % run;
    for (int i = last; i >= 0; step *= block.stored[i--]) {
      const int64_t index = i == last ? 0 : row % block.count[i];
      if (i < last) row /= block.count[i];
      offset += (block.first[i] + index) * step;
    }
    const auto part = out.first(static_cast<size_t>(std::min((run - first % run) * size, std::ssize(out))));
    PENSTOCK_TRY(file.read(record, block.at + offset * size, part));
    out = out.subspan(part.size());
    first += std::ssize(part) / size;
  }
  return {};
}

// Elements of all BLOCKS, one after another.
Supplier elements_of(std::vector<Block> blocks, const ElementType& type) {
  return [blocks = std::move(blocks), type](int64_t first, std::span<std::byte> out) -> Status {
    for (const Block& block : blocks) {
      if (out.empty()) break;
      const int64_t all = block.elements();
      if (first >= all) {
        first -= all;
        continue;
      }
      const auto part = out.first(static_cast<size_t>(std::min((all - first) * bytes(type), std::ssize(out))));
      PENSTOCK_ASSIGN(FortranFile file, FortranFile::open(block.path, block.framing));
      PENSTOCK_TRY(read_elements(file, block, type, first, part));
      if (block.framing.swapped) swap_bytes(part, scalar_bytes(type));
      out = out.subspan(part.size());
      first = 0;
    }
    return out.empty() ? Status() : Status(Code::internal, "more elements are asked for than there are");
  };
}

class Joined {
 public:
  Joined(const Communicator& comm, const Set& set) : comm_(comm), set_(set) {
    const int64_t all = std::ssize(set.files), rank = comm->rank(), size = comm->size();
    begin_ = all * rank / size;
    end_ = all * (rank + 1) / size;
    for (const Line& line : set.lines)
      for (const Field& field : line.fields)
        if (field.use != Use::none) fields_.push_back(&field);
  }

  // Local.
  Status read() {
    blocks_.resize(fields_.size());
    for (int64_t p = begin_; p < end_; ++p) {
      PENSTOCK_ASSIGN(std::vector<Block> found, read_blocks(set_, static_cast<size_t>(p)));
      for (size_t f = 0; f < fields_.size(); ++f) blocks_[f].push_back(std::move(found[f]));
      comm_->working(0);
    }
    for (size_t f = 0; f < fields_.size(); ++f) PENSTOCK_TRY(check_alike(f));
    return {};
  }

  // Collective: exchanges what blocks must know about those of other ranks.
  Status meet() {
    for (size_t f = 0; f < fields_.size(); ++f) {
      const Field& field = *fields_[f];
      if (field.use == Use::block && field.whole.empty()) PENSTOCK_TRY(place(f));
      if (field.use == Use::replicated) PENSTOCK_TRY(compare(f));
    }
    return {};
  }

  // Local.
  Status put(File& file) const {
    for (const Attribute& attribute : set_.attributes) PENSTOCK_TRY(file.set_attribute("", attribute));
    for (size_t f = 0; f < fields_.size(); ++f) {
      if (blocks_[f].empty()) continue;
      PENSTOCK_TRY(put(file, *fields_[f], blocks_[f]));
      for (const Attribute& attribute : fields_[f]->attributes)
        PENSTOCK_TRY(file.set_attribute(fields_[f]->name, attribute));
    }
    return {};
  }

 private:
  Status check_alike(size_t f) const {
    const Field& field = *fields_[f];
    if (field.use == Use::block) return {};
    const auto alike = [&](const Block& block) {
      const Dims shape = block.shape();
      return field.use == Use::ragged ? Dims(std::span(shape.begin() + 1, shape.end())) : shape;
    };
    for (const Block& block : blocks_[f])
      if (!(alike(block) == alike(blocks_[f][0])))
        return {Code::damaged, fmt::format("'{}' is {} in '{}', but {} in '{}'", field.name, describe(block.shape()),
                                           block.path, describe(blocks_[f][0].shape()), blocks_[f][0].path)};
    return {};
  }

  // By the process grid: a block starts at the sum of the extents before it.
  Status place(size_t f) {
    const int rank = static_cast<int>(fields_[f]->shape.size());
    const size_t processes = set_.files.size();
    std::vector<int64_t> extents(processes * static_cast<size_t>(rank));
    for (size_t i = 0; i < blocks_[f].size(); ++i)
      for (int d = 0; d < rank; ++d)
        extents[(static_cast<size_t>(begin_) + i) * static_cast<size_t>(rank) + static_cast<size_t>(d)] =
            blocks_[f][i].count[d];
    PENSTOCK_TRY(comm_->all_reduce_sum(extents));
    // In C's order of dimensions, like extents.
    std::vector<int64_t> grid(set_.grid.rbegin(), set_.grid.rend()), step(grid.size(), 1);
    for (int i = 1; i < rank; ++i) {
      const int to = set_.first_fastest ? rank - 1 - i : i;
      const int from = set_.first_fastest ? to + 1 : to - 1;
      step[static_cast<size_t>(to)] = step[static_cast<size_t>(from)] * grid[static_cast<size_t>(from)];
    }
    Dims whole = Dims::filled(rank, 0);
    std::vector<std::vector<int64_t>> starts(static_cast<size_t>(rank));
    for (int d = 0; d < rank; ++d) {
      const auto at = static_cast<size_t>(d);
      for (int64_t c = 0; c < grid[at]; ++c) {
        starts[at].push_back(whole[d]);
        const int64_t extent = extents[static_cast<size_t>(c * step[at]) * static_cast<size_t>(rank) + at];
        if (__builtin_add_overflow(whole[d], extent, &whole[d]))
          return {Code::damaged, fmt::format("'{}' would have more than 2^63 elements", fields_[f]->name)};
      }
    }
    Status status;
    for (size_t p = 0; p < processes && status.ok(); ++p)
      for (int d = 0; d < rank; ++d) {
        const auto at = static_cast<size_t>(d);
        const auto c = static_cast<size_t>(static_cast<int64_t>(p) / step[at] % grid[at]);
        const int64_t end = c + 1 < starts[at].size() ? starts[at][c + 1] : whole[d];
        if (const int64_t extent = extents[p * static_cast<size_t>(rank) + at]; extent != end - starts[at][c])
          status = {Code::damaged,
                    fmt::format("'{}': the block of '{}' has {} elements along dimension {}, those beside it in the "
                                "process_grid {}",
                                fields_[f]->name, set_.files[p], extent, rank - d, end - starts[at][c])};
      }
    PENSTOCK_TRY(status);  // the same on all ranks
    for (size_t i = 0; i < blocks_[f].size(); ++i) {
      Block& block = blocks_[f][i];
      block.whole = whole;
      block.start = Dims::filled(rank, 0);
      for (int d = 0; d < rank; ++d) {
        const auto at = static_cast<size_t>(d);
        const int64_t c = (begin_ + static_cast<int64_t>(i)) / step[at] % grid[at];
        block.start[d] = starts[at][static_cast<size_t>(c)];
      }
    }
    return {};
  }

  Result<uint64_t> sum_of(size_t f, const Block& block) const {
    const ElementType& type = fields_[f]->type;
    const Supplier supply = elements_of({block}, type);
    const int64_t all = block.elements(), most = std::max<int64_t>(1, piece_bytes / bytes(type));
    const Dims shape = block.shape();
    uint64_t sum = crc64(std::as_bytes(std::span(shape.begin(), shape.end())));
    std::vector<std::byte> piece;
    for (int64_t first = 0; first < all; first += most) {
      piece.resize(static_cast<size_t>(std::min(most, all - first) * bytes(type)));
      PENSTOCK_TRY(supply(first, piece));
      sum = crc64(piece, sum);
      comm_->working(0);
    }
    return sum;
  }

  // Checks that all processes have the data of the first.
  Status compare(size_t f) const {
    std::vector<uint64_t> sums;
    const Status read = guarded([&]() -> Status {
      for (const Block& block : blocks_[f]) {
        PENSTOCK_ASSIGN(const uint64_t sum, sum_of(f, block));
        sums.push_back(sum);
      }
      return {};
    });
    PENSTOCK_TRY(agree(comm_, read));
    const bool mine = begin_ == 0 && end_ > 0;
    int64_t first = mine ? static_cast<int64_t>(sums[0]) : 0;
    PENSTOCK_TRY(comm_->all_reduce_xor(std::span(&first, 1)));
    Status status;
    for (size_t i = 0; i < sums.size() && status.ok(); ++i)
      if (sums[i] != static_cast<uint64_t>(first))
        status = {Code::damaged,
                  fmt::format("'{}' is not in '{}' what it is in '{}', though the description says replicated",
                              fields_[f]->name, blocks_[f][i].path, set_.files[0])};
    return agree(comm_, status);
  }

  Status put(File& file, const Field& field, const std::vector<Block>& blocks) const {
    const Dims shape = blocks[0].shape();
    switch (field.use) {
      case Use::none: return {};
      case Use::ragged: {
        int64_t rows = 0;
        for (const Block& block : blocks) rows += block.count[0];
        PENSTOCK_ASSIGN(const auto part, Decomposition::ragged(rows, Dims(std::span(shape.begin() + 1, shape.end()))));
        return file.supply(field.name, field.type, part, elements_of(blocks, field.type));
      }
      case Use::per_process: {
        PENSTOCK_ASSIGN(const auto part, Decomposition::block(joined({std::ssize(set_.files)}, shape),
                                                              joined({begin_}, Dims::filled(shape.rank(), 0)),
                                                              joined({end_ - begin_}, shape)));
        return file.supply(field.name, field.type, part, elements_of(blocks, field.type));
      }
      case Use::replicated: {
        if (begin_ > 0) return {};
        PENSTOCK_ASSIGN(const auto part, Decomposition::block(shape, Dims::filled(shape.rank(), 0), shape));
        return file.supply(field.name, field.type, part, elements_of({blocks[0]}, field.type));
      }
      case Use::block: break;
    }
    for (const Block& block : blocks) {
      Dims whole = block.whole, start = block.start;
      if (block.repeated) {
        whole = joined({std::ssize(block.records)}, whole);
        start = joined({0}, start);
      }
      auto part = Decomposition::block(whole, start, block.shape());
      if (!part) return part.status().in(fmt::format("'{}' of '{}'", field.name, block.path));
      PENSTOCK_TRY(file.supply(field.name, field.type, *part, elements_of({block}, field.type)));
    }
    return {};
  }

  const Communicator& comm_;
  const Set& set_;
  int64_t begin_ = 0, end_ = 0;  // of this rank's processes
  std::vector<const Field*> fields_;
  std::vector<std::vector<Block>> blocks_;  // of each field, of this rank's processes
};

}  // namespace

Status import_records(const Communicator& comm, const std::string& description, const std::string& path,
                      std::string_view plan) {
  Set set;
  PENSTOCK_TRY(agree(comm, guarded([&]() -> Status {
                       PENSTOCK_ASSIGN(set, read_set(description));
                       return {};
                     })));
  Joined joined(comm, set);
  PENSTOCK_TRY(agree(comm, guarded([&] { return joined.read(); })));
  PENSTOCK_TRY(joined.meet());
  PENSTOCK_ASSIGN(File file, File::create(comm, path, plan));
  const Status status = guarded([&] { return joined.put(file); });
  if (!status.ok()) file.remember_failure(status);
  return file.close();
}

}  // namespace penstock::importing
