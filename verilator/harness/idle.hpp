// Idle time: detects by comparing a design's state that it is idle, so that its cycles need not be evaluated.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace nictwin {

// The treatment of idle cycles in a run.
enum class IdleMode {
  kEvaluate,  // evaluates every cycle
  kSkip,      // skips cycles in which the design is idle
  kCheck,     // evaluates idle cycles as well, and compares
};

// A cycle that could have been skipped changed the design's state or outputs: the device must not declare skip_idle.
struct IdleFault {
  uint64_t cycle;
};

inline std::string idle_fault(const IdleFault& f) {
  return "the manifest declares skip_idle, but the design changed in cycle " + std::to_string(f.cycle) +
         " without any cause at its pins; it must not read time, random numbers, files or C functions";
}

// The memory that holds all registers, memories, pins and temporaries of a design.
struct StateBytes {
  const void* at = nullptr;
  size_t size = 0;
};

// Watches a design's state. If two cycles with the same pins end with the same bytes, so does every later one with
// these pins, because an evaluation reads nothing else: a manifest promises this by skip_idle. A counting register
// changes the bytes, so nothing is skipped while one counts.
class Stillness {
 public:
  explicit Stillness(IdleMode mode) : mode_(mode) {}

  bool enabled() const { return mode_ != IdleMode::kEvaluate; }
  bool checks() const { return mode_ == IdleMode::kCheck; }
  // Returns whether the cycles from here on end like the latest one as long as the pins do not change.
  bool still() const { return still_; }

  // Called after a cycle. quiet: no pin changed in it or will change in the next, no beat is offered, and the
  // device is not busy.
  void observe(bool quiet, StateBytes s) {
    if (!quiet) return restart();
    if (still_) return;
    run_++;
    if (taken_) {
      taken_ = false;
      still_ = same(s);
      if (!still_) put_off();
    } else if (run_ >= due_) {
      const uint8_t* from = static_cast<const uint8_t*>(s.at);
      copy_.assign(from, from + s.size);
      taken_ = compared_ = true;
    }
  }

  // Counts cycles that were not evaluated.
  void skipped(uint64_t cycles) { saved_ += cycles; }

  // Returns whether the state is still the one in which the design was found idle.
  bool same(StateBytes s) const { return std::memcmp(copy_.data(), s.at, s.size) == 0; }

 private:
  // Quiet cycles before the first comparison, and the largest number between two. A comparison copies the whole
  // state, which takes as long as some ten cycles of the NIC. If a comparison saved fewer than kWorth cycles,
  // because the design was soon busy again, the first comparison of the next quiet time comes after twice as many
  // cycles, up to kPatient.
  static constexpr uint64_t kFirst = 16, kPatient = 2048, kMost = 65536, kWorth = 64;

  void restart() {
    if (compared_) {
      first_ = saved_ < kWorth ? std::min(2 * first_, kPatient) : std::max(first_ / 2, kFirst);
      saved_ = 0;
    }
    still_ = taken_ = compared_ = false;
    run_ = 0;
    due_ = wait_ = first_;
  }

  void put_off() {
    wait_ = wait_ * 2 < kMost ? wait_ * 2 : kMost;
    due_ = run_ + wait_;
  }

  IdleMode mode_;
  bool still_ = false, taken_ = false;
  uint64_t run_ = 0;  // quiet cycles in a row
  uint64_t first_ = kFirst, due_ = kFirst, wait_ = kFirst;
  bool compared_ = false;  // the state was copied for a comparison in the current quiet time
  uint64_t saved_ = 0;     // cycles of the current quiet time that were not evaluated
  std::vector<uint8_t> copy_;
};

}  // namespace nictwin
