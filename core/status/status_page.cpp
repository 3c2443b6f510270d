// StatusPage: named memory outside any file system; it disappears with its process, however that ends.
#include "core/status/status_page.hpp"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <span>

namespace penstock {
namespace {

constexpr const char* page_name = "penstock-status";  // as in /proc/PID/fd
constexpr std::array<char, 8> magic = {'P', 'E', 'N', 'S', 'T', 'A', 'T', '\x01'};
constexpr unsigned no_execution = 8;  // MFD_NOEXEC_SEAL, of Linux 6.3

std::mutex changing;
bool tried = false;

int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Other processes find it by its descriptor, which stays open.
StatusPage* make_page(uint32_t role) {
  int fd = ::memfd_create(page_name, MFD_CLOEXEC | no_execution);
  if (fd < 0) fd = ::memfd_create(page_name, MFD_CLOEXEC);
  if (fd < 0) return nullptr;
  void* memory = MAP_FAILED;
  if (::ftruncate(fd, sizeof(StatusPage)) == 0)
    memory = ::mmap(nullptr, sizeof(StatusPage), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) {
    ::close(fd);
    return nullptr;
  }
  auto* page = static_cast<StatusPage*>(memory);  // zeroed by the kernel
  page->process = static_cast<uint32_t>(::getpid());
  page->role = role;
  page->max_steps = static_cast<uint32_t>(page->steps.size());
  page->step_bytes = sizeof(StatusStep);
  std::atomic_thread_fence(std::memory_order_release);
  page->magic = magic;
  return page;
}

// The page belongs to the parent.
void after_fork() {
  status_page.store(nullptr, std::memory_order_relaxed);
  show_phases(nullptr);
  tried = false;
}

void put(std::span<char> place, std::string_view text) {
  const size_t length = std::min(text.size(), place.size() - 1);
  std::copy_n(text.begin(), length, place.begin());
  std::memset(place.data() + length, 0, place.size() - length);
}

// Readers retry until they see the same even number before and after.
template <typename Change>
void changed(StatusStep& step, const Change& change) {
  const uint32_t before = step.sequence.load(std::memory_order_relaxed);
  step.sequence.store(before + 1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  change();
  step.sequence.store(before + 2, std::memory_order_release);
}

}  // namespace

void show_status(uint32_t role) {
  if (status_page.load(std::memory_order_relaxed) != nullptr) return;
  const std::lock_guard lock(changing);
  if (tried) return;
  tried = true;
  if (const char* wanted = std::getenv("PENSTOCK_STATUS"); wanted != nullptr && std::string_view(wanted) == "off")
    return;
  StatusPage* page = make_page(role);
  if (page == nullptr) return;
  static const int at_fork = ::pthread_atfork([] { changing.lock(); }, [] { changing.unlock(); },
                                              [] {
                                                after_fork();
                                                changing.unlock();
                                              });
  if (at_fork != 0) return;
  show_phases(&page->phases);
  status_page.store(page, std::memory_order_release);
}

void ShownStep::begin(const What& what) {
  end();
  StatusPage* page = status_page.load(std::memory_order_acquire);
  if (page == nullptr) return;
  const std::lock_guard lock(changing);
  const auto free = std::ranges::find(page->steps, StatusStep::Kind::none, &StatusStep::kind);
  if (free == page->steps.end()) return;
  page_ = page;
  step_ = &*free;
  changed(*step_, [&] {
    step_->kind = what.writes ? StatusStep::Kind::write : StatusStep::Kind::read;
    step_->token = what.token;
    step_->start = now_ns();
    step_->rank = what.rank;
    step_->ranks = what.ranks;
    step_->commit = what.commit;
    step_->mine = what.bytes;
    step_->total = 0;
    step_->base = (what.writes ? page->written : page->read).load(std::memory_order_relaxed);
    step_->path_bytes = static_cast<uint32_t>(what.path.size());
    put(step_->plan, what.plan);
    put(step_->path, what.path);
  });
}

void ShownStep::set_total(int64_t bytes) {
  if (step_ != nullptr) step_->total.store(bytes, std::memory_order_relaxed);
}

void ShownStep::end() {
  if (step_ == nullptr) return;
  const std::lock_guard lock(changing);
  if (page_->process != static_cast<uint32_t>(::getpid())) {  // a child after fork: the step belongs to its parent
    step_ = nullptr;
    return;
  }
  page_->ended.store(now_ns(), std::memory_order_relaxed);
  (step_->kind == StatusStep::Kind::write ? page_->commits : page_->reads).fetch_add(1, std::memory_order_relaxed);
  changed(*step_, [&] { step_->kind = StatusStep::Kind::none; });
  step_ = nullptr;
}

}  // namespace penstock
