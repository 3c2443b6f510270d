// Binding: chooses the transport of an open plan.
#include "core/session/bind.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <ctime>
#include <deque>
#include <map>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "core/comm/library.hpp"
#include "core/methods/methods.hpp"
#include "core/methods/predict.hpp"
#include "core/model/catalogue.hpp"
#include "core/session/striping.hpp"
#include "core/transport/transport.hpp"

namespace penstock {
namespace {

// How many pieces BOX is of, in the row-major order of SHAPE.
int64_t pieces(const Dims& shape, const Box& box) {
  int64_t contiguous = 1;
  for (int d = shape.rank() - 1; d >= 0; --d) {
    contiguous *= box.count[d];
    if (box.count[d] != shape[d]) break;
  }
  return contiguous == 0 ? 0 : elements(box.count) / contiguous;
}

int64_t pieces(const Decomposition& part) {
  if (part.form() == Decomposition::Form::runs) return std::ssize(part.run_list());
  if (part.form() != Decomposition::Form::boxes) return 1;
  int64_t sum = 0;
  for (const Box& box : part.box_list()) sum += pieces(part.shape(), box);
  return sum;
}

std::string today() {
  const std::time_t seconds = std::time(nullptr);
  std::tm parts{};
  char text[16];
  return std::string(text, std::strftime(text, sizeof text, "%Y-%m-%d", ::gmtime_r(&seconds, &parts)));
}

std::string type_of(const std::string& filesystem) { return filesystem.substr(0, filesystem.find(',')); }

// The plan of STATE with TRANSPORT, if a program that names none may have it.
Result<Plan> usable(const File::State& state, std::string_view transport, bool write) {
  PENSTOCK_ASSIGN(Plan plan, with_transport(state.plan, transport, vocabulary()));
  PENSTOCK_TRY(check_transport(plan, write ? Direction::write : Direction::read));
  PENSTOCK_TRY(find_transport(plan.transport)->check_choice(state.environment_hints));
  return plan;
}

// Does so.
Status use_transport(File::State& state, std::string_view transport, bool write) {
  PENSTOCK_ASSIGN(state.plan, usable(state, transport, write));
  PENSTOCK_ASSIGN(state.method, make_method(state.plan, write, !write));
  state.target.method = state.method->facts();
  set_hints(state);
  state.bound = transport;
  if (state.stripes != nullptr) *state.stripes = stripes_of(state.plan);
  return {};
}

// What a plan without a transport gets, and why.
struct Choice {
  std::string transport = std::string(default_transport);
  std::string reason = "default";
  double seconds = 0;  // predicted; 0 if unknown
};

// Whether a file of one part is new, and nobody has named its stripes.
bool may_choose_stripes(const File::State& state) {
  return state.stripes != nullptr && *state.stripes == Striping{} && !state.exists() &&
         state.plan.placement == "single";
}

Choice choice_of(const File::State& state, const Wise& wise, const Problem& problem) {
  if (names_stripes(wise.plan) && !may_choose_stripes(state)) return {};
  const double share = static_cast<double>(problem.bytes * problem.ranks) /
                       static_cast<double>(std::max<int64_t>(1, wise.problem.bytes * wise.problem.ranks));
  return {wise.plan, reason_of(wise, problem), wise.seconds * share};
}

Choice estimate_all(const File::State& state, const Problem& problem, const Machine& machine) {
  const std::vector<Prediction> all = predict(state.plan, problem, machine);
  if (all.empty()) return {};
  const Prediction& best = best_of(all);
  std::string reason = fmt::format("estimate: {:.2g} s, most of it {}", best.estimate.seconds(), best.estimate.limit());
  if (best.transport != default_transport) reason += fmt::format("; the default {:.2g} s", all[0].estimate.seconds());
  return {best.transport, std::move(reason), best.estimate.seconds()};
}

// Estimates take as long as a small commit, and programs repeat their commits: the last ones are kept.
Choice estimated(const File::State& state, const Problem& problem, const Machine& machine) {
  struct Known {
    std::string plan, problem;
    Machine machine;
    Choice choice;
  };
  constexpr size_t most = 64;
  static std::mutex lock;
  static std::deque<Known> known;
  Known asked{state.plan.text(vocabulary()), text_of(problem), machine, {}};
  const std::lock_guard guard(lock);
  const auto found = std::ranges::find_if(known, [&](const Known& one) {
    return one.problem == asked.problem && one.plan == asked.plan && one.machine == asked.machine;
  });
  if (found != known.end()) return found->choice;
  asked.choice = estimate_all(state, problem, machine);
  known.push_back(asked);
  if (known.size() > most) known.pop_front();
  return asked.choice;
}

// Sizes of one power of two are one problem: those of particles differ at each step.
Problem rounded(Problem problem) {
  for (int64_t* size : {&problem.bytes, &problem.blocks, &problem.run_bytes})
    *size = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(std::max<int64_t>(0, *size))));
  return problem;
}

// Large files gain by stripes.
bool gains_by_stripes(const File::State& state, const Problem& problem) {
  constexpr int64_t large = 1 << 30;
  return may_choose_stripes(state) && problem.write && rounded(problem).bytes * problem.ranks >= large;
}

// What is learnt about: the plan without its transport, the problem, and whether stripes are tried.
std::string question(const File::State& state, const Problem& problem) {
  const auto plan = with_transport(state.plan, default_transport, vocabulary());
  return fmt::format("{}{}{}", plan.ok() ? plan->text(vocabulary()) : std::string(), text_of(rounded(problem)),
                     gains_by_stripes(state, problem));
}

// Without plans that cannot be used, or should take much longer than the default.
Choice learnt(const File::State& state, const Problem& problem) {
  constexpr double most = 2, most_on_usual_machines = 10;
  std::vector<std::string> plans = plans_to_try(problem.ranks);
  if (gains_by_stripes(state, problem)) {
    const std::vector<std::string> more = stripes_to_try();
    plans.insert(plans.end(), more.begin(), more.end());
  }
  std::erase_if(
      plans, [&](const std::string& plan) { return may_be_refused(plan) || !usable(state, plan, problem.write).ok(); });
  const Machine* probed = state.wisdom.machine(problem);
  const std::vector<Prediction> all = predict(state.plan, problem, probed != nullptr ? *probed : usual_machine());
  const double limit = probed != nullptr ? most : most_on_usual_machines;
  for (const Prediction& one : all)
    if (one.estimate.seconds() > limit * all[0].estimate.seconds()) std::erase(plans, one.transport);
  Learning& learning = state.target.comm->attachments().get<Learning>();
  const double share = static_cast<double>(state.plan.settings.integer("learn")) / 100;
  auto [plan, reason] = learning.learner.next(question(state, problem), plans, share);
  learning.asked = true;
  learning.start = now();
  return {std::move(plan), std::move(reason), 0};
}

Choice choose(const File::State& state, const Problem& problem, bool alone) {
  const Wise* wise = state.wisdom.find(problem);
  if (wise != nullptr && wise->simulated.empty()) return choice_of(state, *wise, problem);
  if (alone && state.plan.settings.integer("learn") > 0) return learnt(state, problem);
  if (wise != nullptr) return choice_of(state, *wise, problem);
  const Machine* machine = state.wisdom.machine(problem);
  return machine == nullptr ? Choice() : estimated(state, problem, *machine);
}

}  // namespace

void set_hints(File::State& state) {
  state.hints.clear();
  if (!state.target.method.hints) return;
  state.hints = state.plan.hints;
  state.hints.insert(state.environment_hints.begin(), state.environment_hints.end());
}

PatternWords pattern_of(std::span<const Pending> pending, int ranks) {
  int64_t bytes = 0, count = 0;
  for (const Pending& p : pending) {
    if (p.part.form() == Decomposition::Form::replicated && ranks > 1) continue;  // one rank moves it
    bytes += p.part.elements() * penstock::bytes(p.type);
    count += pieces(p.part);
  }
  return {bytes, std::ssize(pending), bytes == 0 ? INT64_MIN : -(bytes / std::max<int64_t>(1, count))};
}

Problem make_problem(const ProblemOf& of, bool write, const PatternWords& maxima, bool in_memory) {
  return {.write = write,
          .format = of.plan->format,
          .placement = write ? of.plan->placement : "",
          .durable = write && of.durable,
          .in_memory = !write && in_memory,
          .ranks = of.ranks,
          .ranks_per_node = of.ranks_per_node,
          .bytes = maxima[0],
          .blocks = maxima[1],
          .run_bytes = maxima[2] == INT64_MIN ? 0 : -maxima[2],
          .filesystem = type_of(of.filesystem),
          .mpi = message_library()};
}

std::string reason_of(const Wise& wise, const Problem& problem) {
  const std::string interval = wise.low && wise.high ? fmt::format(" [{:.2f}, {:.2f}]", *wise.low, *wise.high) : "";
  const double d = distance(wise.problem, problem);
  const std::string where = wise.simulated.empty() ? "" : fmt::format(", simulated on {}", wise.simulated);
  return fmt::format("wisdom of {}{}: {:.2f}{} of the default's time{}", wise.measured, where, wise.ratio, interval,
                     d < 0.5 ? "" : " in a similar case");
}

ReadWisdom known_wisdom(const std::string& filesystem, bool write, std::string_view format) {
  static std::mutex lock;
  static std::map<std::vector<std::string>, ReadWisdom> read;
  const std::vector<std::string> files = wisdom_files(process_environment());
  const std::lock_guard guard(lock);
  const auto [at, is_new] = read.try_emplace(files);
  if (is_new) at->second = read_wisdom(files, today());
  ReadWisdom known{{}, at->second.warnings};
  for (const Machine& machine : at->second.wisdom.machines)
    if (machine.mpi == message_library() && machine.filesystem == type_of(filesystem))
      known.wisdom.machines.push_back(machine);
  for (const Wise& wise : at->second.wisdom.entries)
    if (same_library(wise.problem.mpi, message_library()) && wise.problem.filesystem == type_of(filesystem) &&
        (write || !wise.problem.write) && (format.empty() || wise.problem.format == format))
      known.wisdom.entries.push_back(wise);
  return known;
}

void Learning::tell(int64_t most) {
  nanoseconds = 0;
  if (most == failed)
    learner.refuse();
  else if (most > 0)
    learner.took(static_cast<double>(most) * 1e-9);
}

void Learning::end(bool good) {
  if (!std::exchange(asked, false)) return;
  nanoseconds = good ? std::max<int64_t>(1, std::llround((now() - start) * 1e9)) : failed;
}

void bind_plan(File::State& state, const Problem& problem, bool background, bool alone) {
  Report& report = state.report;
  report.problem = text_of(problem);
  report.predicted_seconds = 0;
  if (state.plan.open_transport) {
    const Choice choice = background ? Choice() : choose(state, problem, alone);
    report.reason = choice.reason;
    report.predicted_seconds = choice.seconds;
    const Status status =
        choice.transport == state.bound ? Status() : use_transport(state, choice.transport, problem.write);
    if (!status.ok()) {
      Learning& learning = state.target.comm->attachments().get<Learning>();
      report.warnings.push_back(fmt::format("{} '{}' is not used: {}",
                                            learning.asked ? "the plan to try" : "wisdom's plan", choice.transport,
                                            status.message()));
      report.reason = "default";
      report.predicted_seconds = 0;
      if (std::exchange(learning.asked, false)) learning.learner.refuse();
      if (state.bound != default_transport) (void)use_transport(state, default_transport, problem.write);
    }
  }
  report.plan = state.plan.text(vocabulary());
}

}  // namespace penstock
