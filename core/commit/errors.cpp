// Errors: the largest value of each dataset decides what is a share of it, and what no float could keep.
#include "core/commit/errors.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace penstock {
namespace {

constexpr int64_t nothing_put = -1;

// The largest finite absolute value of CLAIM. As whole numbers, the bits of positive floats have the same order.
template <typename T>
int64_t largest(const Claim& claim) {
  double most = 0;
  Cursor cursor(claim.selection);
  for (Segment segment; cursor.next(segment);)
    for (int64_t i = 0; i < segment.length; ++i) {
      T value;
      const int64_t at = segment.memory + i * segment.stride;
      std::memcpy(&value, claim.memory + at * static_cast<int64_t>(sizeof value), sizeof value);
      if (std::isfinite(value)) most = std::max(most, std::abs(static_cast<double>(value)));
    }
  return std::bit_cast<int64_t>(most);
}

// Of what was put now.
double allowed_of(const Settings& settings, const ElementType& type, double most) {
  const double digits = type.kind == Kind::f32 ? static_cast<double>(std::numeric_limits<float>::epsilon())
                                               : std::numeric_limits<double>::epsilon();
  const double absolute = settings.real("max_error");
  const double error = absolute > 0 ? absolute : settings.real("max_relative_error") * most;
  return error < most * digits ? 0 : error;  // less than the last digit: a lossy codec could not keep it
}

// Of a dataset that stays in part or whole.
AllowedError allowed_before(const Settings& settings, const Codec& codec, std::span<const Filter> filters,
                            bool is_put) {
  const std::optional<double> before = codec.max_error(filters);
  if (!before) return {};
  const double absolute = settings.real("max_error");  // a share is of the first commit's values
  if (is_put && absolute > 0 && *before > absolute) return {};
  return {*before, {filters.begin(), filters.end()}};
}

double number_of(const Attribute& attribute) {
  double value = 0;
  if (attribute.type == ElementType{Kind::f64} && attribute.value.size() == sizeof value)
    std::memcpy(&value, attribute.value.data(), sizeof value);
  return std::isfinite(value) && value > 0 ? value : 0;
}

}  // namespace

bool allows_errors(const Settings& settings) {
  return settings.real("max_error") > 0 || settings.real("max_relative_error") > 0;
}

Result<std::vector<AllowedError>> allowed_errors(const Communicator& comm, std::span<const EncodingWay> ways,
                                                 const ChunkStore& store, std::span<const Claim> claims) {
  std::vector<AllowedError> errors(ways.size());
  std::vector<int64_t> most(ways.size(), nothing_put);
  const auto may_err = [&](size_t d) {
    return ways[d].codec != nullptr && ways[d].codec->lossy() && allows_errors(ways[d].settings);
  };
  bool any = false;
  for (size_t d = 0; d < ways.size(); ++d) any = any || may_err(d);
  if (!any) return errors;
  for (const Claim& claim : claims) {
    const auto d = static_cast<size_t>(claim.dataset);
    if (!may_err(d) || claim.selection.count() == 0) continue;
    const bool single = store.dataset(claim.dataset).type.kind == Kind::f32;
    most[d] = std::max(most[d], single ? largest<float>(claim) : largest<double>(claim));
  }
  PENSTOCK_TRY(comm->all_reduce_max(most));
  for (size_t d = 0; d < ways.size(); ++d) {
    if (!may_err(d)) continue;
    const bool is_put = most[d] != nothing_put;
    if (store.keeps(static_cast<int>(d)))
      errors[d] = allowed_before(ways[d].settings, *ways[d].codec, store.old_filters(d), is_put);
    else if (is_put)
      errors[d].most =
          allowed_of(ways[d].settings, store.dataset(static_cast<int>(d)).type, std::bit_cast<double>(most[d]));
  }
  return errors;
}

void note_errors(std::span<const AllowedError> errors, bool is_copy, Catalogue& catalogue) {
  for (size_t d = 0; d < errors.size(); ++d) {
    if (errors[d].most == 0 || !errors[d].filters.empty()) continue;
    auto& attributes = catalogue.attributes[catalogue.datasets[d].name];
    const std::string name(error_attribute);
    const auto before = attributes.find(name);
    const double error = errors[d].most + (is_copy && before != attributes.end() ? number_of(before->second) : 0);
    attributes.insert_or_assign(name, make_attribute(name, {Kind::f64}, &error, -1));
  }
}

}  // namespace penstock
