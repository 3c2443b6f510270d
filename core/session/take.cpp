// Take: an output profile first, then the type and precision in which elements are stored.
#include "core/session/take.hpp"

#include <utility>

#include <fmt/format.h>

#include "core/base/units.hpp"
#include "core/session/state.hpp"

namespace penstock {
namespace {

// Of the program, but for what the output profile says.
Result<DatasetOptions> options_of(const File::State& state, const std::string& name, const ElementType& type) {
  const auto own = state.dataset_options.find(name);
  const DatasetOptions program = own == state.dataset_options.end() ? DatasetOptions() : own->second;
  const OutputRule* rule = state.profile ? state.profile->rule_for(name) : nullptr;
  if (rule == nullptr || rule->options.empty()) return program;
  auto options = options_of(*rule, type, program.text, state.plan);
  if (!options.ok()) return options.status().in(state.profile->place_of(*rule));
  return options;
}

Precision precision_of(const File::State& state, const ElementType& type, const DatasetOptions& options) {
  Precision precision = options.precision;
  const int bits = default_precision(state.plan, type).keep_bits;
  if (precision.keep_bits > 0 || bits == 0) return precision;
  precision.keep_bits = bits;
  if (!stored_type(precision, type).ok()) precision.keep_bits = 0;
  return precision;
}

// Checks that SIZE bytes of PUT may be copied.
Status check_room(const File::State& state, const Pending& put, int64_t size, std::string_view remedy) {
  if (size <= state.capture_bytes - state.captured_bytes) return {};
  return {Code::memory,
          fmt::format("'{}': copying {} would exceed the limit of {} for captured data, {} of which are taken: {}, "
                      "commit more often, or raise capture_bytes",
                      put.name, format_bytes(size), format_bytes(state.capture_bytes),
                      format_bytes(state.captured_bytes), remedy)};
}

int64_t stored_bytes(const Pending& put) { return put.part.elements() * bytes(put.type); }

// Keeps what is left of PUT: in its own memory, in memory of the program, or for a supplier to fill.
// CAN_WAIT: what is lent may be rounded when it is encoded.
Status keep(File::State& state, Pending put, const Precision& precision, const ElementType& stored, bool copies,
            bool can_wait) {
  if (put.supplier) {
    PENSTOCK_TRY(convert_supplied(put, precision));
  } else if (put.captured) {
    PENSTOCK_TRY(convert_captured(put, precision));
    PENSTOCK_TRY(check_room(state, put, stored_bytes(put), "commit more often"));
    state.captured_bytes += stored_bytes(put);
  } else if (!copies && can_wait) {
    PENSTOCK_TRY(round_later(put, precision));
  } else if (copies || converts(precision, put.type)) {
    const int64_t size = put.part.elements() * bytes(stored);
    PENSTOCK_TRY(check_room(state, put, size, copies ? "use lend" : "store it as it is"));
    PENSTOCK_TRY(capture(put, precision));
    state.captured_bytes += size;
  }
  state.puts.push_back(std::move(put));
  state.took = true;
  return {};
}

// Remembers that RULE takes something from a dataset.
void note_loss(File::State& state, const OutputRule* rule) {
  if (rule != nullptr && rule->files.empty() && state.profile->files.empty())
    state.lessened = state.profile->place_of(*rule);
}

// One row of each rank is a block of a dataset, of which any part may be stored.
Status partition_rows(const File::State& state, Pending& put) {
  if (put.part.form() != Decomposition::Form::per_rank) return {};
  const Dims count = box_shape(put.part);
  Dims shape = count, start = Dims::filled(count.rank(), 0);
  shape[0] = state.target.comm->size();
  start[0] = state.target.comm->rank();
  PENSTOCK_ASSIGN(put.part, Decomposition::block(shape, start, count));
  return {};
}

// Leaves what RULE says of PUT. Blocks of which PUT has only a part are added to CUT.
Result<Pending> thin_by(const File::State& state, Pending put, const OutputRule& rule, const Precision& precision,
                        AllCutBlocks& cut) {
  PENSTOCK_TRY(partition_rows(state, put));
  const bool rows = put.part.form() == Decomposition::Form::ragged;
  PENSTOCK_ASSIGN(const auto subset, subset_of(rule, put.type, whole_shape(put), rows));
  if (!subset) return put;
  if (!subset->mean) return thin(std::move(put), *subset);
  if (put.supplier)
    return Status(Code::unsupported, "means of supplied elements: put or lend them, or store 'every' n-th of them");
  return take_means(std::move(put), *subset, precision, cut);
}

}  // namespace

Status take(File::State& state, Pending put, bool copies) {
  state.took = false;
  const std::string name = put.name;
  const OutputRule* rule = state.profile ? state.profile->rule_for(name) : nullptr;
  if (state.leaves_out(name)) {
    note_loss(state, rule);
    state.left_out.insert(name);
    return {};
  }
  const ElementType given = put.type;
  PENSTOCK_ASSIGN(const DatasetOptions options, options_of(state, name, given));
  const Precision precision = precision_of(state, given, options);
  const auto stored = stored_type(precision, given);
  if (!stored) return stored.status().in(fmt::format("'{}'", name));
  AllCutBlocks cut;
  if (rule != nullptr && rule->thins()) {
    auto left = thin_by(state, std::move(put), *rule, precision, cut);
    if (!left.ok()) return left.status().in(fmt::format("{}: '{}'", state.profile->place_of(*rule), name));
    put = *std::move(left);
  }
  const bool asks = rule != nullptr && !rule->options.empty();
  if (put.subset || (asks && (converts(precision, given) || allows_errors(options)))) note_loss(state, rule);
  const bool can_wait = only_rounds(precision, given) && put.part.form() != Decomposition::Form::replicated &&
                        keeps_bits(state.plan, options.text);  // ranks compare what is replicated
  PENSTOCK_TRY(keep(state, std::move(put), precision, *stored, copies, can_wait));
  add(state.cut, std::move(cut));
  for (Attribute& attribute : attributes_of(precision, given)) {
    const std::string key = attribute.name;
    state.declared.attributes[name].insert_or_assign(key, std::move(attribute));
  }
  if (!options.text.empty() || state.dataset_options.contains(name)) state.declared.options[name] = options.text;
  return {};
}

}  // namespace penstock
