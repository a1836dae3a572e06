// The reason and the message with which the design ended the simulation.
#pragma once

#include <exception>
#include <string>

#include "protocol.hpp"

namespace nictwin {

struct Stop {
  bool requested = false;
  ErrorCode code = ErrorCode::kInternal;
  std::string text;
};

// The process has one design; Verilator's hooks are free functions, so this is a global.
extern Stop g_stop;

// Clears the reason left by an earlier run.
void reset_stop();

// Thrown by vl_fatal, which must not return. g_stop holds the reason.
struct Fatal : std::exception {
  const char* what() const noexcept override { return "the simulation failed"; }
};

}  // namespace nictwin
