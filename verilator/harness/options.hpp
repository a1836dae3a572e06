// The arguments of the program that a device is made with, and the clock for wall times.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "wave.hpp"

namespace nictwin {

struct DeviceOptions {
  std::vector<std::string> plus_args;
  WaveOptions wave;
  // Of an agent (docs/emulation.md): the program that simulates the board, and the identity that the board must have.
  std::string board, board_hash;
  uint64_t link_faults = 0;  // percent of the link's frames that are lost, doubled or damaged
};

inline uint64_t now_ns() {
  using namespace std::chrono;
  return uint64_t(duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()).count());
}

}  // namespace nictwin
