// Against: a line of JSON for each dataset; infinite errors are "inf" there.
#include "programs/diff/against.hpp"

#include <cmath>

#include <fmt/format.h>
#include <penstock/file.hpp>

#include "core/model/catalogue.hpp"
#include "programs/diff/values.hpp"
#include "programs/diff/windows.hpp"
#include "programs/program.hpp"

namespace penstock::program {
namespace {

using nlohmann::json;

// The first number of attribute NAME of DATASET.
std::optional<double> number_of(const File& file, const std::string& dataset, const char* name) {
  const auto attribute = file.attribute(dataset, name);
  if (!attribute.ok() || attribute->type.kind == Kind::text || elements(attribute->shape) < 1) return std::nullopt;
  return static_cast<double>(load(attribute->type.kind, attribute->value.data()).real);
}

Packing packing_of(const File& file, const DatasetInfo& dataset) {
  const auto scale = number_of(file, dataset.name, "scale_factor"),
             offset = number_of(file, dataset.name, "add_offset");
  const Kind kind = dataset.type.kind;
  if ((!scale && !offset) || kind == Kind::text || kind == Kind::complex64 || kind == Kind::complex128) return {};
  return {true, scale.value_or(1), offset.value_or(0), number_of(file, dataset.name, "_FillValue")};
}

json number_or_inf(double value) { return std::isfinite(value) ? json(value) : json("inf"); }

void add_largest(json& line, const char* name, const Largest& largest, const Dims& shape) {
  if (largest.at < 0) return;
  line[name] = number_or_inf(largest.error);
  line[fmt::format("{}_at", name)] = index_of(shape, largest.at);
}

void add_count(json& line, const char* name, int64_t count, int64_t first, const Dims& shape) {
  line[name] = count;
  if (count > 0) line[fmt::format("first_{}", name)] = index_of(shape, first);
}

class Against {
 public:
  Against(const Options& options, File ours, File reference)
      : options_(options), comm_(ours.communicator()), ours_(std::move(ours)), reference_(std::move(reference)) {}

  Result<bool> run() {
    PENSTOCK_TRY(check_only(options_, ours_, reference_));
    const bool whole = tell_unread(options_, ours_, reference_);
    for (const DatasetInfo& dataset : ours_.datasets()) {
      if (!is_wanted(options_, dataset.name)) continue;
      const auto other = reference_.dataset(dataset.name);
      if (other.ok())
        PENSTOCK_TRY(compare_dataset(dataset, *other).in(fmt::format("comparing '{}'", dataset.name)));
      else
        tell({{"dataset", dataset.name}, {"only_in", "a"}}, false);
    }
    for (const DatasetInfo& dataset : reference_.datasets())
      if (is_wanted(options_, dataset.name) && !ours_.dataset(dataset.name).ok())
        tell({{"dataset", dataset.name}, {"only_in", "b"}}, false);
    PENSTOCK_TRY(ours_.close());
    PENSTOCK_TRY(reference_.close());
    if (good_ && !whole)
      return Status(Code::unsupported,
                    "everything that can be read is near enough in both files, but some objects cannot be read");
    return good_;
  }

 private:
  void tell(const json& line, bool good) {
    good_ = good_ && good;
    if (comm_->rank() == 0) print(line);
  }

  Status compare_dataset(const DatasetInfo& ours, const DatasetInfo& reference) {
    json line{{"dataset", ours.name}};
    if (!(ours.type == reference.type)) line["types"] = {name(ours.type), name(reference.type)};
    if (!(ours.shape == reference.shape) || !comparable(ours.type, reference.type)) {
      line["shapes"] = {describe(ours.shape), describe(reference.shape)};
      tell(line, false);
      return {};
    }
    const Packing packing[] = {packing_of(ours_, ours), packing_of(reference_, reference)};
    if (packing[0].packed || packing[1].packed) line["packed"] = {packing[0].packed, packing[1].packed};
    Errors mine;
    PENSTOCK_TRY(for_each_window(
        ours_, ours, reference_, reference, [&](const std::byte* a, const std::byte* b, int64_t count, int64_t at) {
          mine.add(errors_of({ours.type, packing[0], a}, {reference.type, packing[1], b}, count, at, options_.limits));
        }));
    PENSTOCK_ASSIGN(const Errors found, add_up(comm_, mine));
    line["elements"] = elements(ours.shape);
    line["bit_equal"] = found.bits == 0 && ours.type == reference.type && packing[0] == packing[1];
    add_count(line, "differing", found.differing, found.first, ours.shape);
    add_count(line, "beyond", found.beyond, found.first_beyond, ours.shape);
    add_count(line, "one_nan", found.one_nan, found.first_one_nan, ours.shape);
    add_largest(line, "largest", found.absolute, ours.shape);
    add_largest(line, "largest_relative", found.relative, ours.shape);
    tell(line, found.beyond == 0);
    return {};
  }

  const Options& options_;
  Communicator comm_;
  File ours_, reference_;
  bool good_ = true;
};

}  // namespace

Result<bool> compare_against(const Communicator& comm, const Options& options) {
  PENSTOCK_ASSIGN(File ours, File::open(comm, options.a));
  PENSTOCK_ASSIGN(File reference, File::open(comm, options.b));
  return Against(options, std::move(ours), std::move(reference)).run();
}

}  // namespace penstock::program
