// A grant: the slots that the agent lets the shell run before it waits again, with the stall bits for them.
#pragma once

#include <cstdint>
#include <vector>

#include "clocks.hpp"
#include "random.hpp"

namespace nictwin {

// Messages to the shell, by their codes.
constexpr uint8_t kCmdStart = 1, kCmdMasks = 3, kCmdGrant = 4;

// Flags of a grant.
constexpr uint8_t kGrantRest = 1, kGrantDrop = 2, kGrantCount = 4, kGrantTrace = 8;

// Largest number of slots of a grant: with stall bits, the bits of a mask; else those that an event can number.
constexpr uint32_t kMaskSlots = 64, kMaxSlots = 4096;

inline void put_number(std::vector<uint8_t>& out, uint64_t v, unsigned bytes) {
  for (unsigned i = 0; i < bytes; i++) out.push_back(uint8_t(v >> (8 * i)));
}

struct Grant {
  uint32_t slots = 0;
  uint8_t flags = 0;
};

// Sizes grants by the time that earlier ones took, so that the host hears from a slow board in time. The first ones are
// small: nothing is known about the board yet.
class GrantSize {
 public:
  // Returns the largest number of slots of the next grant; masked: it comes with stall bits.
  uint32_t most(bool masked) const { return masked && kMaskSlots < most_ ? kMaskSlots : most_; }

  // Notes how long a grant took. Only one that was as large as it may be says that larger ones are quick, too.
  void took(uint32_t slots, bool masked, uint64_t ns) {
    if (ns > kLongNs && slots <= 2 * kLeast) {
      most_ = kLeast;
    } else if (ns > kLongNs) {
      most_ = slots / 2;
    } else if (ns < kShortNs && slots >= most(masked) && most_ < kMaxSlots) {
      most_ *= 2;
    }
  }

 private:
  static constexpr uint64_t kLongNs = 500'000'000, kShortNs = 50'000'000;
  static constexpr uint32_t kLeast = 16;

  uint32_t most_ = kLeast;
};

// The stall pattern of one stream, in the form that the shell gets.
struct StallMask {
  Stall stall;
  uint32_t clock = 0;

  // Returns the bits of the ticks that lie in the next `slots` slots from a cycle on, the first one lowest.
  template <size_t N>
  uint64_t bits(Clocks<N> clocks, uint64_t cycle, uint32_t slots) const {
    uint64_t mask = 0;
    unsigned n = 0;
    for (uint32_t i = 0; i < slots; i++) {
      const uint32_t rising = clocks.next();
      if ((rising >> clock & 1) != 0) mask |= uint64_t(stall(clock == 0 ? cycle : clocks.ticks(clock))) << n++;
      clocks.advance(rising);
      cycle += rising & 1;
    }
    return mask;
  }
};

}  // namespace nictwin
