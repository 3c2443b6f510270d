// Trace: collects blocks in memory and appends them with single writes.
#include "core/trace/trace.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <optional>
#include <system_error>

#include <fmt/format.h>

namespace penstock {
namespace {

constexpr size_t calls_held = size_t{1} << 14;  // 640 KiB
constexpr size_t text_held = size_t{1} << 20;
constexpr double shortest_phase = 10e-6;
constexpr size_t max_paths = size_t{1} << 20;
constexpr int64_t often_enough = 100'000'000;  // nanoseconds between two writes
constexpr std::string_view magic("PENSTRC\x01", 8);

template <typename Clock>
int64_t nanoseconds() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch()).count();
}

template <typename Value>
void put(std::string& text, Value value) {
  text.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// Valid in any working directory.
std::string absolute(const std::string& path) {
  std::error_code unknown;
  const auto whole = std::filesystem::absolute(path, unknown);
  return unknown ? path : whole.string();
}

std::optional<int> number_of_environment(std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (const char* value = std::getenv(name); value != nullptr && *value >= '0' && *value <= '9')
      return static_cast<int>(std::strtol(value, nullptr, 10));
  return {};
}

}  // namespace

Trace::Trace(const std::string& folder, int64_t max_calls)
    : folder_(absolute(folder)),
      max_calls_(max_calls),
      begin_(nanoseconds<std::chrono::steady_clock>()),
      self_{.process = ::getpid(), .begin = nanoseconds<std::chrono::system_clock>(), .age = process_age()} {
  self_.rank = number_of_environment({"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"}).value_or(0);
  self_.ranks = number_of_environment({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"}).value_or(self_.rank + 1);
  calls_.reserve(calls_held);
}

void Trace::end() {
  const std::lock_guard lock(mutex_);
  put_calls();
  if (lost_ || self_.process != ::getpid() || (file_.get() < 0 && text_.empty())) return;
  const int64_t start = time();
  write_out();
  spent_ += time() - start;
  put_block("END ", end_description(time(), calls_kept_, calls_lost_, spent_));
  write_out();
  lost_ = true;
}

Trace* Trace::current() {
  // Never freed: threads and MPI may outlive static objects.
  static Trace* const made = [] {
    const char* folder = std::getenv("PENSTOCK_TRACE");
    if (folder == nullptr || *folder == '\0') return static_cast<Trace*>(nullptr);
    auto* trace = new Trace(folder);
    (void)std::atexit([] { current()->end(); });
    observe_phases([](Phase phase, double start, double end) { current()->add_phase(phase, start, end); });
    return trace;
  }();
  return made;
}

void Trace::identify(int rank, int ranks, std::string library) {
  const std::lock_guard lock(mutex_);
  if (file_.get() >= 0) return;
  self_.rank = rank;
  self_.ranks = ranks;
  self_.library = std::move(library);
}

void Trace::set_role(std::string role) {
  const std::lock_guard lock(mutex_);
  self_.role = std::move(role);
}

int64_t Trace::time() const { return nanoseconds<std::chrono::steady_clock>() - begin_; }

uint32_t Trace::path_number(std::string_view path) {
  const std::lock_guard lock(mutex_);
  if (const auto there = paths_.find(path); there != paths_.end()) return there->second;
  if (paths_.size() == max_paths) return std::numeric_limits<uint32_t>::max();
  const auto number = static_cast<uint32_t>(paths_.size());
  paths_.emplace(path, number);
  put(new_paths_, number);
  put(new_paths_, static_cast<uint32_t>(path.size()));
  new_paths_ += path;
  return number;
}

void Trace::add(TracedCall call) {
  const std::lock_guard lock(mutex_);
  if (lost_) return;
  if (calls_kept_ == max_calls_) {
    ++calls_lost_;
    return;
  }
  ++calls_kept_;
  calls_.push_back(call);
  if (calls_.size() == calls_held) write_out();
  spent_ += std::max<int64_t>(0, time() - call.start - call.nanoseconds);
}

void Trace::add_phase(Phase phase, double start, double end) {
  if (end - start < shortest_phase) return;
  TracedCall call;
  call.start = std::llround(start * 1e9) - begin_;
  call.nanoseconds = std::llround((end - start) * 1e9);
  call.operation = static_cast<Operation>(static_cast<int>(Operation::phase) + static_cast<int>(phase));
  add(call);
}

void Trace::add_step(std::string_view json, int64_t since) {
  const std::lock_guard lock(mutex_);
  if (lost_) return;
  put_calls();  // so that readers find the calls of the step before it
  put_block("STEP", json);
  if (file_.get() < 0 || text_.size() > text_held || time() - written_at_ >= often_enough) write_out();
  spent_ += time() - since;
}

void Trace::flush() {
  const std::lock_guard lock(mutex_);
  const int64_t start = time();
  write_out();
  spent_ += time() - start;
}

std::string Trace::trouble() {
  const std::lock_guard lock(mutex_);
  return trouble_;
}

void Trace::put_block(std::string_view kind, std::string_view payload) {
  if (lost_) return;
  text_ += kind;
  put(text_, uint32_t{0});
  put(text_, static_cast<uint64_t>(payload.size()));
  text_ += payload;
}

void Trace::put_calls() {
  if (!new_paths_.empty()) put_block("PATH", std::exchange(new_paths_, {}));
  if (calls_.empty()) return;
  put_block("CALL", {reinterpret_cast<const char*>(calls_.data()), calls_.size() * sizeof(TracedCall)});
  calls_.clear();
}

// A child after fork has a copy of its parent's memory and must not write it again.
void Trace::write_out() {
  if (self_.process != ::getpid()) lost_ = true;
  put_calls();
  if (lost_ || text_.empty() || !open_file()) return text_.clear();
  size_t done = 0;
  while (done < text_.size()) {
    const ssize_t count = retrying([&] { return ::write(file_.get(), text_.data() + done, text_.size() - done); });
    if (count < 0) return disable("write");
    done += static_cast<size_t>(count);
  }
  text_.clear();
  written_at_ = time();
}

bool Trace::open_file() {
  if (file_.get() >= 0) return true;
  if (::mkdir(folder_.c_str(), 0777) != 0 && errno != EEXIST) return disable("mkdir"), false;
  const std::string path = fmt::format("{}/rank{:06}-{:x}-{}.trace", folder_, self_.rank, self_.begin, self_.process);
  file_ = FileDescriptor(
      retrying([&] { return ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666); }));
  if (file_.get() < 0) return disable("open"), false;
  std::string begin(magic);
  begin.swap(text_);
  put_block("JOB ", job_description(self_));
  text_ += begin;
  return true;
}

void Trace::disable(const std::string& why) {
  trouble_ = fmt::format("PENSTOCK_TRACE: no trace of rank {} from here on, {} in '{}' failed: {}", self_.rank, why,
                         folder_, std::strerror(errno));
  lost_ = true;
  file_ = FileDescriptor();
  text_.clear();
  calls_.clear();
}

}  // namespace penstock
