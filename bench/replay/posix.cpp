// play_posix: file-system calls; each file is opened at its first use, unless steps do so.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>
#include <vector>

#include "bench/replay/player.hpp"
#include "core/base/file_descriptor.hpp"

namespace penstock::bench {

namespace {

class Posix : public Player {
 public:
  Posix(Communicator comm, const Variant& variant, std::string folder)
      : comm_(std::move(comm)),
        variant_(variant),
        folder_(std::move(folder)),
        files_(static_cast<size_t>(variant.files)) {}

  Status open() override { return {}; }

  Status play(std::span<std::byte> data) override {
    Status status;
    size_t at = 0;
    for (const Step& step : variant_.steps) {
      const auto length = static_cast<size_t>(step.length);
      if (step.act == Act::broadcast) {
        const Status done = broadcast(step);
        if (status.ok()) status = done;
        continue;
      }
      const bool moves = step.act == Act::write || step.act == Act::read;
      const auto part = moves ? data.subspan(at, length) : std::span<std::byte>();
      at += part.size();
      if (status.ok()) status = act(step, part);
    }
    return status;
  }

  Status close() override {
    for (FileDescriptor& file : files_) file = FileDescriptor();
    return {};
  }

 private:
  Status act(const Step& step, std::span<std::byte> part) {
    FileDescriptor& file = files_[static_cast<size_t>(step.file)];
    switch (step.act) {
      case Act::open: return open(step.file);
      case Act::close: file = FileDescriptor(); return {};
      case Act::stat: {
        struct stat about{};
        return ::stat(file_path(folder_, step.file).c_str(), &about) == 0 ? Status() : failed(step.file);
      }
      default: break;
    }
    if (file.get() < 0) PENSTOCK_TRY(open(step.file));
    if (step.act == Act::sync) return ::fsync(file.get()) == 0 ? Status() : failed(step.file);
    for (size_t done = 0; done < part.size();) {
      const off_t place = step.offset + static_cast<off_t>(done);
      const ssize_t moved = retrying([&] {
        return step.act == Act::write ? ::pwrite(file.get(), &part[done], part.size() - done, place)
                                      : ::pread(file.get(), &part[done], part.size() - done, place);
      });
      if (moved < 0) return failed(step.file);
      if (moved == 0) return Status(Code::damaged, fmt::format("{} ends at {}", file_path(folder_, step.file), place));
      done += static_cast<size_t>(moved);
    }
    return {};
  }

  Status open(int number) {
    FileDescriptor& file = files_[static_cast<size_t>(number)];
    file = FileDescriptor(
        retrying([&] { return ::open(file_path(folder_, number).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600); }));
    return file.get() >= 0 ? Status() : failed(number);
  }

  Status broadcast(const Step& step) {
    shared_.resize(static_cast<size_t>(step.length));
    return comm_->broadcast(shared_, step.file);
  }

  Status failed(int file) const { return Status::from_errno(errno, file_path(folder_, file)); }

  Communicator comm_;
  const Variant& variant_;
  std::string folder_;
  std::vector<FileDescriptor> files_;
  std::vector<std::byte> shared_;
};

}  // namespace

std::string file_path(const std::string& folder, int file) { return fmt::format("{}/{}", folder, file); }

std::unique_ptr<Player> play_posix(const Communicator& comm, const Variant& variant, std::string folder) {
  return std::make_unique<Posix>(comm, variant, std::move(folder));
}

}  // namespace penstock::bench
