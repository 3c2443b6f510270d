// guarded(): converts exceptions of a local step to a status, so that the rank still joins its collective calls.
#pragma once

#include <exception>
#include <new>

#include <penstock/status.hpp>

namespace penstock {

template <typename Step>
Status guarded(Step step) {
  try {
    return step();
  } catch (const std::bad_alloc&) {
    return {Code::memory, "no memory"};
  } catch (const std::exception& error) {
    return {Code::internal, error.what()};
  }
}

}  // namespace penstock
