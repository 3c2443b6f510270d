// Report: statistics, and what rank 0 writes of those of all ranks.
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <penstock/phase.hpp>

#include "bindings/mpiio/file.hpp"
#include "bindings/mpiio/settings.hpp"
#include "bindings/mpiio/statistics.hpp"
#include "core/comm/library.hpp"
#include "core/comm/mpi/native.hpp"
#include "core/session/bind.hpp"

namespace penstock::mpiio {
namespace {

using Json = nlohmann::ordered_json;

struct All {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<Statistics>> files;
  double started = 0, start = 0;
};

All& all() {
  static All& one = *new All;
  return one;
}

double unix_seconds() {
  timespec at{};
  clock_gettime(CLOCK_REALTIME, &at);
  return static_cast<double>(at.tv_sec) + 1e-9 * static_cast<double>(at.tv_nsec);
}

std::string program() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)), {});
  while (text.ends_with('\0')) text.pop_back();
  std::ranges::replace(text, '\0', ' ');
  return text;
}

Json to_json(const std::string& path, const Statistics& of) {
  Json calls = Json::object(), passed = Json::object();
  double seconds = 0;
  for (const auto& [name, call] : of.calls) {
    calls[name] = {{"count", call.count}, {"bytes", call.bytes}, {"seconds", call.seconds}};
    seconds += call.seconds;
  }
  Json phases = Json::object();
  for (const Phase phase : {Phase::pack, Phase::exchange, Phase::write, Phase::read})
    if (of.phases[phase] > 0) phases[std::string(name(phase))] = of.phases[phase];
  for (const auto& [name, pass] : of.passed) passed[name] = {{"count", pass.first}, {"why", pass.second}};
  const StorageCounts counts = of.storage->counts();
  return {{"path", path},
          {"ranks", of.ranks},
          {"opened", of.opened},
          {"plan", of.plan},
          {"reason", of.reason},
          {"calls", calls},
          {"written", of.written},
          {"read", of.read},
          {"storage",
           {{"writes", counts.writes},
            {"write_bytes", counts.write_bytes},
            {"reads", counts.reads},
            {"read_bytes", counts.read_bytes},
            {"metadata", counts.metadata}}},
          {"kept",
           {{"calls", of.kept_calls},
            {"bytes", of.kept_bytes},
            {"bytes_max", of.kept_bytes_max},
            {"seconds_max", of.kept_seconds_max}}},
          {"moves", {{"count", 0}, {"why", of.moves}, {"seconds", of.moving_seconds}, {"phases", phases}}},
          {"background",
           {{"bytes", of.background.bytes},
            {"bytes_max", of.background.bytes_max},
            {"at_once", of.background.at_once},
            {"lost", of.background.lost},
            {"seconds_max", of.background.seconds_max},
            {"waited", of.background.waited},
            {"untold", of.background.untold},
            {"why_not", of.background.why_not}}},
          {"passed", passed},
          {"hints", of.hints},
          {"seconds", {{"mean", seconds}, {"max", seconds}}},
          {"errors", of.errors}};
}

void add(Json& to, const Json& from, const char* key) { to[key] = to[key].get<int64_t>() + from[key].get<int64_t>(); }
void most(Json& to, const Json& from, const char* key) {
  if (from[key] > to[key]) to[key] = from[key];
}

// Adds what another rank says of the same file.
void merge(Json& to, const Json& from) {
  for (const char* key : {"written", "read"}) add(to, from, key);
  for (const char* key : {"ranks", "opened", "plan", "reason"}) most(to, from, key);
  for (const auto& [name, call] : from["calls"].items()) {
    Json& mine = to["calls"][name];
    if (mine.is_null()) {
      mine = call;
      continue;
    }
    add(mine, call, "count");
    add(mine, call, "bytes");
    mine["seconds"] = mine["seconds"].get<double>() + call["seconds"].get<double>();
  }
  for (const auto& [key, value] : from["storage"].items()) add(to["storage"], from["storage"], key.c_str());
  for (const char* key : {"calls", "bytes"}) add(to["kept"], from["kept"], key);
  for (const char* key : {"bytes_max", "seconds_max"}) most(to["kept"], from["kept"], key);
  for (const char* key : {"bytes", "at_once", "lost"}) add(to["background"], from["background"], key);
  for (const char* key : {"bytes_max", "seconds_max", "waited", "untold", "why_not"})
    most(to["background"], from["background"], key);
  for (const auto& [why, count] : from["moves"]["why"].items())
    if (to["moves"]["why"].value(why, int64_t{0}) < count.get<int64_t>()) to["moves"]["why"][why] = count;
  most(to["moves"], from["moves"], "seconds");
  for (const auto& [phase, seconds] : from["moves"]["phases"].items())
    if (to["moves"]["phases"].value(phase, 0.0) < seconds.get<double>()) to["moves"]["phases"][phase] = seconds;
  for (const auto& [name, pass] : from["passed"].items()) {
    Json& mine = to["passed"][name];
    if (mine.is_null())
      mine = pass;
    else
      add(mine, pass, "count");
  }
  for (const auto& [hint, what] : from["hints"].items()) to["hints"][hint] = what;
  to["seconds"]["mean"] = to["seconds"]["mean"].get<double>() + from["seconds"]["mean"].get<double>();
  most(to["seconds"], from["seconds"], "max");
  for (const auto& error : from["errors"])
    if (std::ranges::find(to["errors"], error) == to["errors"].end()) to["errors"].push_back(error);
}

Json own_files() {
  Json files = Json::object();
  const std::lock_guard lock(all().mutex);
  for (const auto& [path, statistics] : all().files) {
    const std::lock_guard inner(statistics->mutex);
    files[path] = to_json(path, *statistics);
  }
  return files;
}

// Rank 0: what every rank says; nothing elsewhere.
std::vector<std::string> gathered(const std::string& mine) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  // What is too long for rank 0 is left out whole: cut, it would be no JSON.
  const size_t most = static_cast<size_t>(INT32_MAX) / static_cast<size_t>(ranks);
  const int length = mine.size() <= most ? static_cast<int>(mine.size()) : 0;
  std::vector<int> lengths(static_cast<size_t>(ranks)), starts(static_cast<size_t>(ranks));
  MPI_Gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
  int64_t sum = 0;
  for (size_t r = 0; rank == 0 && r < lengths.size(); ++r) {
    starts[r] = static_cast<int>(sum);
    sum += lengths[r];
  }
  std::string flat(static_cast<size_t>(sum), '\0');
  MPI_Gatherv(mine.data(), length, MPI_CHAR, flat.data(), lengths.data(), starts.data(), MPI_CHAR, 0, MPI_COMM_WORLD);
  std::vector<std::string> texts;
  for (size_t r = 0; rank == 0 && r < lengths.size(); ++r)
    texts.push_back(flat.substr(static_cast<size_t>(starts[r]), static_cast<size_t>(lengths[r])));
  return texts;
}

Json joined(const std::vector<std::string>& texts) {
  Json files = Json::object();
  double most_seconds = 0, sum = 0;
  for (const std::string& text : texts) {
    const Json one = Json::parse(text, nullptr, false);
    if (!one.is_object()) continue;
    double seconds = 0;
    for (const auto& [path, file] : one.items()) {
      seconds += file["seconds"]["max"].get<double>();
      if (files.contains(path))
        merge(files[path], file);
      else
        files[path] = file;
    }
    sum += seconds;
    most_seconds = std::max(most_seconds, seconds);
  }
  Json list = Json::array();
  for (auto& [path, file] : files.items()) {
    file["seconds"]["mean"] = file["seconds"]["mean"].get<double>() / file["ranks"].get<double>();
    int64_t moves = 0;
    for (const auto& [why, count] : file["moves"]["why"].items()) moves += count.get<int64_t>();
    file["moves"]["count"] = moves;
    list.push_back(file);
  }
  const RunSettings& settings = run_settings();
  std::vector<std::string> warnings = settings.warnings;
  std::ranges::copy(known_wisdom({}, true, "raw").warnings, std::back_inserter(warnings));
  return {{"penstock", PENSTOCK_VERSION},
          {"mpi", message_library()},
          {"ranks", texts.size()},
          {"program", program()},
          {"started", all().started},
          {"seconds", now() - all().start},
          {"io_seconds", {{"mean", sum / static_cast<double>(texts.size())}, {"max", most_seconds}}},
          {"defer", settings.keep_back ? "collective" : "none"},
          {"plan", settings.plan_text()},
          {"memory_bytes", settings.memory},
          {"files", list},
          {"passed", Json::object()},
          {"warnings", warnings}};
}

}  // namespace

void Statistics::pass(std::string_view call, std::string_view why) {
  const std::lock_guard lock(mutex);
  auto& entry = passed[std::string(call)];
  ++entry.first;
  entry.second = why;
}

void Statistics::fail(const std::string& error) {
  constexpr size_t most_errors = 16;
  const std::lock_guard lock(mutex);
  if (errors.size() < most_errors && std::ranges::find(errors, error) == errors.end()) errors.push_back(error);
}

std::shared_ptr<Statistics> statistics_of(const std::string& path) {
  const std::lock_guard lock(all().mutex);
  auto& found = all().files[path];
  if (!found) found = std::make_shared<Statistics>();
  return found;
}

CallTimer::CallTimer(Statistics& statistics, const char* call) : statistics_(statistics), call_(call), start_(now()) {}

CallTimer::~CallTimer() {
  const std::lock_guard lock(statistics_.mutex);
  CallCount& count = statistics_.calls[call_];
  ++count.count;
  count.bytes += bytes_;
  count.seconds += now() - start_;
  if (std::string_view(call_).find("write") != std::string_view::npos) statistics_.written += bytes_;
  if (std::string_view(call_).find("read") != std::string_view::npos) statistics_.read += bytes_;
}

void start_report() {
  all().started = unix_seconds();
  all().start = now();
}

void write_report() {
  const RunSettings& settings = run_settings();
  if (settings.report.empty()) return;
  constexpr auto as_it_can = Json::error_handler_t::replace;  // names need not be UTF-8
  const std::vector<std::string> texts = gathered(own_files().dump(-1, ' ', false, as_it_can));
  if (texts.empty()) return;
  char host[256] = "host";
  gethostname(host, sizeof host - 1);
  std::ofstream file(fmt::format("{}/{}-{}.json", settings.report, host, getpid()));
  file << joined(texts).dump(1, ' ', false, as_it_can) << '\n';
}

}  // namespace penstock::mpiio
