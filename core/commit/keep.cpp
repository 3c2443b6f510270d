// Keep: carries datasets and data of a published file over to the new one.
#include "core/commit/keep.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/access/here.hpp"
#include "core/commit/method.hpp"
#include "core/integrity/files.hpp"

namespace penstock {
namespace {

constexpr size_t max_carried = 4096;  // pieces at once, which also need memory

// Combines the dataset PUT now with the OLD dataset of the same name.
Status join(const Dataset& old, Dataset& put) {
  Dims shape = put.shape;
  if (old.unlimited && shape.rank() == old.shape.rank() && shape.rank() > 0) shape[0] = old.shape[0];
  if (put.type != old.type || !(shape == old.shape))
    return {Code::mismatch,
            fmt::format("'{}' is {} in the file but put as {}{}", old.name, describe(old), describe(put),
                        old.unlimited ? "" : ": only the first extent of an unlimited dataset can change")};
  if (old.unlimited) put.shape[0] = std::max(put.shape[0], old.shape[0]);
  put.unlimited = put.unlimited || old.unlimited;
  return {};
}

// Published data that moves to its place in the new file at once.
struct Load {
  std::vector<Claim> from, to;  // of the same elements, in the published file and in the new one
  std::vector<int64_t> at;      // bytes in the buffer, of each
  int64_t bytes = 0;
};

Status move_load(const Target& target, const Published& file, const Output& output, Load& load,
                 std::vector<std::byte>& buffer) {
  buffer.resize(static_cast<size_t>(load.bytes));
  for (size_t i = 0; i < load.at.size(); ++i) load.from[i].memory = load.to[i].memory = buffer.data() + load.at[i];
  PENSTOCK_TRY(read_here(file.contents, file.path, load.from, target.storage));
  PENSTOCK_TRY(write_here(output.placed.contents, load.to, target.storage));
  load = {};
  return {};
}

}  // namespace

Status add_old(const Catalogue& old, NewContents& contents) {
  std::vector<Dataset>& datasets = contents.catalogue.datasets;
  std::vector<Dataset> put = std::exchange(datasets, {});
  contents.kept.clear();
  auto from = old.datasets.begin();
  const auto keep_below = [&](const std::string* name) {
    for (; from != old.datasets.end() && (name == nullptr || from->name < *name); ++from) {
      datasets.push_back(*from);
      contents.kept.push_back(elements(from->shape));
    }
  };
  for (Dataset& dataset : put) {
    keep_below(&dataset.name);
    const bool there = from != old.datasets.end() && from->name == dataset.name;
    if (there) PENSTOCK_TRY(join(*from, dataset));
    datasets.push_back(std::move(dataset));
    contents.kept.push_back(there ? elements((from++)->shape) : 0);
  }
  keep_below(nullptr);
  for (const auto& [object, list] : old.attributes)
    contents.catalogue.attributes[object].insert(list.begin(), list.end());
  return {};
}

Status carry(const Target& target, const Published& file, std::span<const int64_t> kept, const Output& output,
             int64_t& memory_peak) {
  const int64_t carry_bytes = target.buffer_bytes / 2;
  std::vector<std::byte> buffer;
  Load load;
  for (size_t d = 0; d < kept.size(); ++d) {
    if (kept[d] == 0) continue;
    const Dataset& dataset = output.placed.contents.catalogue.datasets[d];
    const int old = file.contents.catalogue.index_of(dataset.name);
    const auto share = [&](int rank) {
      return static_cast<int64_t>(static_cast<__int128>(kept[d]) * rank / target.comm->size());
    };
    const int64_t size = bytes(dataset.type), most = std::max<int64_t>(1, carry_bytes / size);
    const Dims& shape = file.contents.catalogue.datasets[static_cast<size_t>(old)].shape;
    for (int64_t at = share(target.comm->rank()), end = share(target.comm->rank() + 1); at < end; at += most) {
      const Run run{at, std::min(most, end - at)};
      if (load.bytes + run.length * size > carry_bytes || load.at.size() == max_carried)
        PENSTOCK_TRY(move_load(target, file, output, load, buffer));
      load.from.push_back({old, Selection::of_runs(shape, std::span(&run, 1))});
      load.to.push_back({static_cast<int>(d), Selection::of_runs(dataset.shape, std::span(&run, 1))});
      load.at.push_back(load.bytes);
      load.bytes += run.length * size;
    }
  }
  PENSTOCK_TRY(move_load(target, file, output, load, buffer));
  memory_peak = std::max(memory_peak, static_cast<int64_t>(buffer.capacity()));
  return {};
}

Status check_files(const Opened& file) {
  if (!file.file || file.source) return {};
  const std::vector<std::string>& parts = file.file->contents.parts;
  const bool was_set = parts.size() != 1 || parts[0] != file.target.path;
  if (was_set != file.target.set)
    return {Code::unsupported, was_set ? "a set of files stays one when it is reopened: name parts=M in the plan, or "
                                         "make one file of it with 'penstock convert'"
                                       : "a single file stays one when it is reopened: copy it to make a set of it"};
  return {};
}

Status check_whole(const Target& target, const Published& file) {
  if (!file.contents.parity) return {};
  PENSTOCK_ASSIGN(const auto wrong, find_wrong_files(target, file.contents));
  if (wrong.empty()) return {};
  return {
      Code::damaged,
      fmt::format("'{}' is not as it was committed ({}), and what is kept would be copied from its set: "
                  "'penstock verify --repair {}' first, or 'penstock verify --seal' where it was changed on purpose",
                  path_of(file.contents, wrong[0].file), wrong[0].why, file.path)};
}

}  // namespace penstock
