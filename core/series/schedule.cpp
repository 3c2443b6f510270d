// Schedule: marks that were passed, and parsing of options.
#include "core/series/schedule.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/base/words.hpp"
#include "core/model/settings.hpp"

namespace penstock {
namespace {

constexpr double nearness = 1e-6;  // of an interval

Result<double> positive(std::string_view name, std::string_view text) {
  const auto value = parse_number<double>(text);
  if (value && std::isfinite(*value) && *value > 0) return *value;
  return Status(Code::invalid, fmt::format("{}={}: a number above 0 is needed", name, text));
}

Result<double> share(std::string_view text) {
  const bool percent = text.ends_with('%');
  PENSTOCK_ASSIGN(const double value, positive("io_budget", percent ? text.substr(0, text.size() - 1) : text));
  const double part = percent ? value / 100 : value;
  if (part > 1)
    return Status(Code::invalid, fmt::format("io_budget={}: a share of the run time is needed, as 10% or 0.1", text));
  return part;
}

Result<std::vector<double>> list_of_times(std::string_view text) {
  std::vector<double> times;
  for (const std::string_view word : split(text, ':')) {
    const auto value = parse_number<double>(word);
    if (!value || !std::isfinite(*value))
      return Status(Code::invalid, fmt::format("at={}: numbers with ':' between them are needed, as 0:0.1:0.25", text));
    times.push_back(*value);
  }
  std::ranges::sort(times);
  return times;
}

int64_t floor_divide(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

bool passes_steps(int64_t every, const std::optional<Moment>& before, const Moment& now) {
  if (!before) return now.iteration % every == 0;
  return floor_divide(now.iteration, every) > floor_divide(before->iteration, every);
}

double tolerance(double unit, double time) { return nearness * unit + 1e-14 * std::abs(time); }

bool passes_interval(double every, const std::optional<Moment>& before, const Moment& now) {
  const auto marks = [&](double time) { return std::floor((time + tolerance(every, time)) / every); };
  if (before) return marks(now.time) > marks(before->time);
  return std::abs(now.time - marks(now.time) * every) <= tolerance(every, now.time);
}

bool passes_list(const std::vector<double>& list, const std::optional<Moment>& before, const Moment& now) {
  double unit = 0;
  for (size_t i = 1; i < list.size(); ++i)
    if (list[i] > list[i - 1]) unit = unit == 0 ? list[i] - list[i - 1] : std::min(unit, list[i] - list[i - 1]);
  if (unit == 0) unit = std::abs(list[0]);
  return std::any_of(list.begin(), list.end(), [&](double mark) {
    const double near = tolerance(unit, mark);
    if (before) return mark > before->time + near && mark <= now.time + near;
    return std::abs(mark - now.time) <= near;
  });
}

}  // namespace

const Descriptor& series_descriptor() {
  using Type = Parameter::Type;
  static const Descriptor descriptor{
      "series",
      "one file for each step",
      {{"steps", Type::integer, "0", "0", "due at multiples of this number of iterations; 0: no such rule"},
       {"times", Type::text, "a number", "", "due at multiples of this simulation time"},
       {"at", Type::text, "numbers with ':' between them", "", "due at these times"},
       {"seconds", Type::text, "a number", "", "due this many seconds after the last step began"},
       {"io_budget", Type::text, "a share, 10%", "", "not due if writing would take a larger share of the run time"},
       {"keep_last", Type::integer, "0", "0", "number of newest steps to keep; 0: all"},
       {"keep_every", Type::integer, "0", "0", "additionally keep every Nth step permanently"},
       {"xdmf", Type::boolean, "", "false", "a file for ParaView and VisIt beside the index"}},
      ""};
  return descriptor;
}

Result<Schedule> parse_schedule(std::string_view options) {
  PENSTOCK_ASSIGN(const Settings settings, parse_settings(options, series_descriptor()));
  Schedule schedule;
  schedule.steps = settings.integer("steps");
  schedule.keep_last = settings.integer("keep_last");
  schedule.keep_every = settings.integer("keep_every");
  schedule.xdmf = settings.boolean("xdmf");
  for (const auto& [name, value] : {std::pair{"times", &schedule.interval}, {"seconds", &schedule.seconds}}) {
    if (settings.word(name).empty()) continue;
    PENSTOCK_ASSIGN(*value, positive(name, settings.word(name)));
  }
  if (!settings.word("io_budget").empty()) {
    PENSTOCK_ASSIGN(schedule.io_budget, share(settings.word("io_budget")));
  }
  if (!settings.word("at").empty()) {
    PENSTOCK_ASSIGN(schedule.at, list_of_times(settings.word("at")));
  }
  return schedule;
}

bool reaches_mark(const Schedule& schedule, const std::optional<Moment>& before, const Moment& now) {
  return (schedule.steps > 0 && passes_steps(schedule.steps, before, now)) ||
         (schedule.interval > 0 && passes_interval(schedule.interval, before, now)) ||
         (!schedule.at.empty() && passes_list(schedule.at, before, now));
}

bool clock_says_due(const Schedule& schedule, const Spent& spent) {
  return schedule.seconds > 0 && spent.since_step >= schedule.seconds;
}

bool budget_allows(const Schedule& schedule, const Spent& spent) {
  if (schedule.io_budget == 0) return true;
  return spent.writing + spent.last_write <= schedule.io_budget * (spent.run + spent.last_write);
}

bool is_kept(const Schedule& schedule, int64_t number, int64_t newer) {
  if (!schedule.removes() || newer == 0) return true;
  if (schedule.keep_every > 0 && number % schedule.keep_every == 0) return true;
  return newer < schedule.keep_last;
}

}  // namespace penstock
