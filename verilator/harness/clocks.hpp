// Several clocks on one axis of time: which of them rises next, and how often each has risen since the end of reset.
#pragma once

#include <array>

#include "protocol.hpp"

namespace nictwin {

// N clocks. Times are ps from power-up. The first clock rises at its period, 2 periods, ...; the others at phase,
// phase + period, ...
template <size_t N>
class Clocks {
 public:
  explicit Clocks(const Start& s) {
    period_[0] = next_[0] = s.period_ps;
    for (size_t k = 1; k < N; k++) {
      period_[k] = s.clocks[k - 1].period_ps;
      next_[k] = s.clocks[k - 1].phase_ps + period_[k];
    }
    set_now();
  }

  // Returns the clocks that rise next, all at the same time: bit k for clock k.
  uint32_t next() const {
    uint32_t which = 0;
    for (size_t k = 0; k < N; k++) which |= uint32_t(next_[k] == now_) << k;
    return which;
  }
  // Returns the time of the edges that next() returns, in ps.
  uint64_t now() const { return now_; }
  // Returns the number of edges of a clock so far.
  uint64_t ticks(size_t k) const { return ticks_[k]; }

  // Advances past the edges that next() has returned as `which`.
  void advance(uint32_t which) {
    for (size_t k = 0; k < N; k++) {
      if ((which >> k & 1) == 0) continue;
      next_[k] += period_[k];
      ticks_[k]++;
    }
    set_now();
  }

 private:
  void set_now() {
    now_ = next_[0];
    for (size_t k = 1; k < N; k++) now_ = next_[k] < now_ ? next_[k] : now_;
  }

  std::array<uint64_t, N> period_{}, next_{}, ticks_{};
  uint64_t now_ = 0;
};

}  // namespace nictwin
