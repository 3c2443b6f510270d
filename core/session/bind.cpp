// Binding: chooses the transport of an open plan.
#include "core/session/bind.hpp"

#include <algorithm>
#include <ctime>
#include <map>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "core/comm/library.hpp"
#include "core/methods/methods.hpp"
#include "core/model/catalogue.hpp"
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

std::string reason_of(const Wise& wise, const Problem& problem) {
  const std::string interval = wise.low && wise.high ? fmt::format(" [{:.2f}, {:.2f}]", *wise.low, *wise.high) : "";
  const double d = distance(wise.problem, problem);
  return fmt::format("wisdom of {}: {:.2f}{} of the default's time{}", wise.measured, wise.ratio, interval,
                     d < 0.5 ? "" : " in a similar case");
}

// Whether STATE's plan can use TRANSPORT for WRITE; then it does.
Status bind(File::State& state, std::string_view transport, bool write) {
  PENSTOCK_ASSIGN(Plan plan, with_transport(state.plan, transport, vocabulary()));
  PENSTOCK_TRY(check_transport(plan, write ? Direction::write : Direction::read));
  PENSTOCK_TRY(find_transport(plan.transport)->check_choice(state.environment_hints));
  state.plan = std::move(plan);
  PENSTOCK_ASSIGN(state.method, make_method(state.plan, write, !write));
  state.target.method = state.method->facts();
  set_hints(state);
  state.bound = transport;
  return {};
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

Problem make_problem(const File::State& state, bool write, const PatternWords& maxima, int64_t ranks_per_node,
                     bool in_memory) {
  return {.write = write,
          .format = state.plan.format,
          .placement = write ? state.plan.placement : "",
          .durable = write && state.target.durable,
          .in_memory = !write && in_memory,
          .ranks = state.target.comm->size(),
          .ranks_per_node = ranks_per_node,
          .bytes = maxima[0],
          .blocks = maxima[1],
          .run_bytes = maxima[2] == INT64_MIN ? 0 : -maxima[2],
          .filesystem = type_of(state.filesystem),
          .mpi = message_library()};
}

ReadWisdom known_wisdom(const std::string& filesystem, bool write, std::string_view format) {
  static std::mutex lock;
  static std::map<std::vector<std::string>, ReadWisdom> read;
  const std::vector<std::string> files = wisdom_files(process_environment());
  const std::lock_guard guard(lock);
  const auto [at, is_new] = read.try_emplace(files);
  if (is_new) at->second = read_wisdom(files, today());
  ReadWisdom known{{}, at->second.warnings};
  for (const Wise& wise : at->second.wisdom.entries)
    if (wise.problem.mpi == message_library() && wise.problem.filesystem == type_of(filesystem) &&
        (write || !wise.problem.write) && (format.empty() || wise.problem.format == format))
      known.wisdom.entries.push_back(wise);
  return known;
}

void bind_plan(File::State& state, const Problem& problem, bool background) {
  state.report.problem = text_of(problem);
  if (state.plan.open_transport) {
    const Wise* wise = background ? nullptr : state.wisdom.find(problem);
    const std::string_view transport = wise == nullptr ? default_transport : std::string_view(wise->plan);
    state.report.reason = wise == nullptr ? "default" : reason_of(*wise, problem);
    const Status status = transport == state.bound ? Status() : bind(state, transport, problem.write);
    if (!status.ok()) {
      state.report.warnings.push_back(fmt::format("wisdom's plan '{}' is not used: {}", transport, status.message()));
      state.report.reason = "default";
      if (state.bound != default_transport) (void)bind(state, default_transport, problem.write);
    }
  }
  state.report.plan = state.plan.text(vocabulary());
}

}  // namespace penstock
