// Calling: the name of a call, and its key.
#include "core/comm/calling.hpp"

#include <utility>

#include <fmt/format.h>

#include "core/base/crc64.hpp"

namespace penstock {

Calling::Calling(Communicator comm, std::string_view verb, std::string_view path, bool agreed)
    : comm_(std::move(comm)), outermost_(comm_->call().text.empty()) {
  if (!outermost_) return;
  CollectiveCall& call = comm_->call();
  call.text = path.empty() ? std::string(verb) : fmt::format("{} of '{}'", verb, path);
  call.key = crc64(std::as_bytes(agreed ? std::span<const char>(call.text) : std::span<const char>(verb)));
  call.in_doubt = call.timed_out = call.untimed = false;
}

Calling::~Calling() {
  if (outermost_) comm_->call() = {};
}

Doubt::Doubt(Communicator comm, bool any) : comm_(std::move(comm)), any_(any && !comm_->call().in_doubt) {
  if (any_) comm_->set_in_doubt(true);
}

Doubt::~Doubt() { clear(); }

void Doubt::clear() {
  if (std::exchange(any_, false)) comm_->set_in_doubt(false);
}

void all_cleaned(const Communicator& comm, const Status& why) {
  const bool together = why.code() != Code::timeout && why.code() != Code::in_doubt && comm->usable().ok();
  if (together && comm->size() > 1) (void)comm->barrier();
}

Untimed::Untimed(Communicator comm, bool any) : comm_(std::move(comm)), any_(any) {
  if (any_) before_ = std::exchange(comm_->call().untimed, true);
}

Untimed::~Untimed() {
  if (any_) comm_->call().untimed = before_;
}

}  // namespace penstock
