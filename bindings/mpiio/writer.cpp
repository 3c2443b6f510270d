// Writer: takes what is handed over, and writes it in this order.
#include "bindings/mpiio/writer.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

#include <fmt/format.h>
#include <penstock/phase.hpp>

#include "bindings/mpiio/locks.hpp"
#include "bindings/mpiio/settings.hpp"
#include "core/base/guarded.hpp"
#include "core/commit/captured.hpp"

namespace penstock::mpiio {

Writer& Writer::of_process() {
  static Writer& one = *new Writer;  // the thread may outlive static objects
  return one;
}

Status Writer::hand_over(const std::shared_ptr<Background>& owner, const std::shared_ptr<Opened>& opened,
                         int64_t offset, std::span<const std::byte> bytes) {
  const auto length = static_cast<int64_t>(bytes.size());
  auto data = reserve(*owner, length);
  if (data != nullptr && lock_range(owner->lock_.get(), offset, offset + length) != 0) {
    data.reset();
    give_back(length);
  }
  if (data == nullptr) {
    {
      const std::lock_guard lock(owner->statistics_->mutex);
      owner->statistics_->background.at_once += length;
    }
    PENSTOCK_TRY(wait_for_locks(owner->lock_.get(), offset, offset + length, owner->path_));
    return opened->file->write(offset, bytes);
  }
  std::memcpy(data.get(), bytes.data(), bytes.size());
  const std::lock_guard lock(mutex_);
  if (owner->items_ == 0) owner->since_ = now();
  owner->waiting_ += length;
  push({owner, opened, std::move(data), offset, length});
  note(*owner, length);
  const std::lock_guard inner(owner->statistics_->mutex);
  auto& statistics = owner->statistics_->background;
  statistics.bytes += length;
  statistics.bytes_max = std::max(statistics.bytes_max, owner->waiting_);
  return {};
}

Status Writer::close(const std::shared_ptr<Background>& owner, const std::shared_ptr<Opened>& opened) {
  {
    const std::lock_guard lock(mutex_);
    if (opened->items > 0) {
      push({owner, opened, nullptr, 0, 0});
      return {};
    }
  }
  return opened->file->close();
}

Status Writer::wait(const Background* owner, const Hull& hull, std::string_view path) {
  std::unique_lock lock(mutex_);
  return wait_until(
      [&](double pause) {
        const auto meets = [&](const Item& item) {
          return (owner == nullptr || item.owner.get() == owner) &&
                 (item.data == nullptr || hull.meets({item.offset, item.offset + item.length}));
        };
        if (std::ranges::none_of(items_, meets)) return true;
        done_.wait_for(lock, std::chrono::duration<double>(std::max(pause, 0.1)));
        return false;
      },
      path);
}

Status Writer::failure(Background& owner) {
  const std::lock_guard lock(mutex_);
  return std::exchange(owner.failure_, {});
}

void Writer::end(Background& owner) {
  const std::lock_guard lock(mutex_);
  owner.ended_ = true;
  if (!owner.failure_.ok()) lost_.emplace_back(owner.statistics_, std::exchange(owner.failure_, {}));
}

std::vector<std::pair<std::shared_ptr<Statistics>, Status>> Writer::take_lost() {
  const std::lock_guard lock(mutex_);
  return std::exchange(lost_, {});
}

void Writer::drain() {
  if (::getpid() == process_) (void)wait(nullptr, {INT64_MIN, INT64_MAX}, "");  // a fork has not the thread
}

void Writer::end_ledger() {
  const std::lock_guard lock(mutex_);
  if (ledger_.get() >= 0) ::unlink(ledger_path_.c_str());
  ledger_ = FileDescriptor();
}

std::shared_ptr<std::byte[]> Writer::reserve(const Background& owner, int64_t length) {
  {
    const std::lock_guard lock(mutex_);
    if (used_ + length > owner.most_ || !runs()) return nullptr;
    used_ += length;
  }
  auto data = captured_memory(length);
  if (data == nullptr) give_back(length);
  return data;
}

void Writer::give_back(int64_t length) {
  const std::lock_guard lock(mutex_);
  used_ -= length;
}

bool Writer::runs() {
  if (process_ != 0) return process_ == ::getpid();
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // the program's handlers expect its threads
  const Status started = guarded([&]() -> Status {
    std::thread([this] { run(); }).detach();
    return {};
  });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!started.ok()) return false;
  process_ = ::getpid();
  std::atexit([] { of_process().drain(); });
  return true;
}

void Writer::push(Item item) {
  ++item.owner->items_;
  ++item.opened->items;
  items_.push_back(std::move(item));
  changed_.notify_one();
}

void Writer::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return !items_.empty(); });
    Item& item = items_.front();  // it stays there while it is written
    lock.unlock();
    const Status status = guarded([&] {
      if (item.data == nullptr) return item.opened->file->close();
      return item.opened->file->write(item.offset, {item.data.get(), static_cast<size_t>(item.length)});
    });
    lock.lock();
    finish(item, status);
    Item done = std::move(items_.front());
    items_.pop_front();
    done_.notify_all();
    lock.unlock();
    done = {};  // may close its file
    lock.lock();
  }
}

void Writer::finish(const Item& item, const Status& status) {
  Background& owner = *item.owner;
  if (item.data != nullptr) (void)unlock_range(owner.lock_.get(), item.offset, item.offset + item.length);
  used_ -= item.length;
  owner.waiting_ -= item.length;
  --item.opened->items;
  if (status.ok()) note(owner, -item.length);
  const std::lock_guard lock(owner.statistics_->mutex);
  auto& statistics = owner.statistics_->background;
  if (--owner.items_ == 0) statistics.seconds_max = std::max(statistics.seconds_max, now() - owner.since_);
  if (status.ok()) return;
  statistics.lost += item.length;
  const Status told = status.in("in the background");
  if (owner.ended_)
    lost_.emplace_back(owner.statistics_, told);
  else if (owner.failure_.ok())
    owner.failure_ = told;
}

void Writer::note(const Background& owner, int64_t bytes) {
  const std::string& folder = run_settings().report;
  if (folder.empty() || bytes == 0) return;
  if (ledger_path_.empty()) {
    char host[256] = "host";
    gethostname(host, sizeof host - 1);
    ledger_path_ = fmt::format("{}/{}-{}.background", folder, host, ::getpid());
    ledger_ = FileDescriptor(::open(ledger_path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  }
  if (ledger_.get() < 0) return;
  auto& [at, sum] = lines_.try_emplace(owner.path_, -1, 0).first->second;
  sum += bytes;
  std::string text = fmt::format("{:20}", sum);
  if (at < 0) {
    std::string path = owner.path_;
    std::ranges::replace(path, '\n', '?');
    at = ledger_end_;
    text += fmt::format(" {}\n", path);
    ledger_end_ += std::ssize(text);
  }
  (void)!::pwrite(ledger_.get(), text.data(), text.size(), at);
}

}  // namespace penstock::mpiio
