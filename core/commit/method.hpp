// Method: how a plan brings a file to disk and back: by a format, a placement and a transport, or by an engine.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/commit/moving.hpp"
#include "core/commit/opened.hpp"

namespace penstock {

class Engine;

// Functions with a file are collective.
class Method {
 public:
  explicit Method(const MethodFacts& facts) : facts_(facts) {}
  virtual ~Method() = default;
  const MethodFacts& facts() const { return facts_; }

  // Local. Whether PATH, which is no regular file, may be replaced.
  virtual bool may_replace(const std::string& /*path*/) const { return false; }
  // Local. ok, or why CATALOGUE cannot be written.
  virtual Status check(const Catalogue& catalogue) const = 0;
  // Local. ok, or why a commit cannot carry over what is in a published file.
  virtual Status check_keep() const = 0;
  // Local. ok, or why files of FORMAT cannot be read.
  virtual Status check_format(std::string_view format) const = 0;

  // Places and creates the files, and starts the movement.
  virtual Status begin(Opened& file, Moving& moving) const = 0;
  // After the movement: completes the files and publishes them. Afterwards all ranks know the contents if MOVING's
  // known is set.
  virtual Status complete(Opened& file, Moving& moving) const = 0;
  // Fills the claims on DATASETS, which some rank reads, ordered by name.
  virtual Status read(Opened& file, std::span<const Dataset> datasets, std::span<const Claim> claims) const = 0;

 private:
  MethodFacts facts_;
};

// PLAN must outlive the method. Errors: the transport cannot move data in a direction that is needed.
Result<std::unique_ptr<Method>> make_method(const Plan& plan, bool writes, bool reads);

// The two kinds.
std::unique_ptr<Method> own_method(const Plan& plan);
std::unique_ptr<Method> engine_method(const Plan& plan, const Engine& engine);

}  // namespace penstock
