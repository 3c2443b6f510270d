// Report: counts as JSON and as a table.
#include <fmt/format.h>

#include "bench/count/count.hpp"
#include "core/base/units.hpp"

namespace penstock::bench {

namespace {

using Json = nlohmann::json;

Json per_rank(const PerRank& of) { return {{"mean", of.mean}, {"max", of.most}}; }

Json calls_json(const MetadataCalls& calls) {
  return {{"create", calls.create}, {"allocate", calls.allocate}, {"open", calls.open},
          {"sync", calls.sync},     {"close", calls.close},       {"set_time", calls.set_time},
          {"stat", calls.stat},     {"rename", calls.rename},     {"sync_directory", calls.sync_directory},
          {"total", calls.total()}};
}

Json costs_json(const Costs& costs) {
  return {{"writers", costs.writers},
          {"messages", per_rank(costs.messages)},
          {"plan_messages", per_rank(costs.plan_messages)},
          {"data_messages", per_rank(costs.data_messages)},
          {"far_messages", per_rank(costs.far_messages)},
          {"plan_bytes", per_rank(costs.plan_bytes)},
          {"plan_received", costs.plan_received},
          {"bytes", costs.bytes},
          {"moved_per_byte", costs.moved_per_byte()},
          {"copied_per_byte", costs.copied_per_byte()},
          {"stripe_conflicts", costs.stripe_conflicts},
          {"block_conflicts", costs.block_conflicts},
          {"metadata_calls", calls_json(costs.metadata)}};
}

std::string line(int ranks, const char* way, const Costs& costs) {
  return fmt::format("{:<6} {:<9} {:>7} {:>10.1f} {:>8} {:>8.1f} {:>8.1f} {:>12} {:>12} {:>7.2f} {:>9} {:>9}\n", ranks,
                     way, costs.writers, costs.messages.mean, costs.messages.most, costs.plan_messages.mean,
                     costs.data_messages.mean, format_bytes(static_cast<int64_t>(costs.plan_bytes.mean)),
                     format_bytes(costs.plan_received), costs.moved_per_byte(), costs.stripe_conflicts,
                     costs.metadata.total());
}

}  // namespace

Json counts_json(const CountRequest& request, std::span<const CountRow> rows) {
  Json list = Json::array();
  for (const CountRow& row : rows)
    list.push_back({{"np", row.ranks}, {"ours", costs_json(row.ours)}, {"textbook", costs_json(row.textbook)}});
  return {{"schema", "penstock.counts/1"},
          {"workload", request.what.workload_name},
          {"method", request.what.methods[0].label},
          {"regime", name(request.what.regime)},
          {"tasks_per_node", request.ranks_per_node},
          {"stripe_bytes", request.stripe},
          {"counts", std::move(list)}};
}

std::string counts_table(const CountRequest& request, std::span<const CountRow> rows) {
  std::string text = fmt::format("{}, {}, {} ranks on a node, stripes of {}\n", request.what.workload_name,
                                 request.what.methods[0].label, request.ranks_per_node, format_bytes(request.stripe));
  text += fmt::format("{:<6} {:<9} {:>7} {:>10} {:>8} {:>8} {:>8} {:>12} {:>12} {:>7} {:>9} {:>9}\n", "ranks", "",
                      "writers", "msgs/rank", "most", "plan", "data", "plan/rank", "at a writer", "moved", "conflicts",
                      "metadata");
  for (const CountRow& row : rows) {
    text += line(row.ranks, "ours", row.ours);
    text += line(row.ranks, "textbook", row.textbook);
  }
  return text;
}

}  // namespace penstock::bench
