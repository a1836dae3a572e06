// One device: the verilated model, its streams, and the clock.
#pragma once

#include <memory>

#include "coverage.hpp"
#include "idle.hpp"
#include "options.hpp"
#include "stop.hpp"
#include "streams.hpp"
#include "verilated.h"

namespace nictwin {

// Dut is the generated glue: Top, Inputs, Outputs and static functions that set or read single pins.
template <class Dut>
class Device {
 public:
  using Glue = Dut;
  using Top = typename Dut::Top;
  static constexpr bool kEmulated = false;

  // Powers the design up (with random state if the variant is built so; the plusarg +verilator+seed+N overrides the
  // run's seed) and takes it through reset, up to cycle 0.
  Device(const Start& start, const DeviceOptions& o)
      : context_(std::make_unique<VerilatedContext>()),
        streams_(start),
        half_{start.period_ps / 2, start.period_ps - start.period_ps / 2},
        stillness_(idle_mode(start, o.wave)) {
    reset_stop();
    context_->randReset(kRandom);
    context_->randSeed(int(sub_seed(start.seed, "power-up") & 0x7fffffff) | 1);  // 0 would draw a seed
    std::vector<const char*> argv{"dut"};
    for (const std::string& a : o.plus_args) argv.push_back(a.c_str());
    context_->commandArgs(int(argv.size()), argv.data());
    context_->traceEverOn(o.wave.enabled() || kHaveCoverage);
    top_ = std::make_unique<Top>(context_.get(), "TOP");
    wave_.open(*top_, o.wave);
    streams_.begin(start, *top_);
    coverage_.open(*top_, Dut::counters(*top_), Dut::kCounters);
    reset();
  }
  ~Device() { top_->final(); }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  uint64_t cycle() const { return streams_.cycle(); }
  const std::array<Observed, Dut::kObserve>& observed() const { return streams_.observed(); }

  // Adds the coverage counts to a file; returns a fault, or "".
  std::string cover(const std::string& file) { return HitsFile::add(file, Dut::info().build_hash, coverage_.counts()); }
  // Prints the signals whose bits are counted.
  void print_signals() { coverage_.print(); }

  // Returns whether no input transaction waits or is partly taken, and no output transaction is partly given.
  bool idle() const { return streams_.idle(); }

  void push(const Record& rec, Buffer* home) { streams_.push(rec, home); }

  // Reports held intervals that have not ended, up to the cycle before the current one.
  template <class Out>
  void report_held(Out& out) {
    streams_.report_held(out);
  }

  // Returns whether nothing will happen from here on unless a record comes.
  bool stands_still() const { return stillness_.still() && streams_.next_change() == UINT64_MAX; }
  // The number of cycles that were not evaluated.
  uint64_t skipped() const { return skipped_; }

  // Runs n cycles, or fewer if the design stops (g_stop); returns the number of cycles run. Throws IdleFault.
  template <class Out>
  uint32_t run(uint32_t n, Out& out) {
    const uint64_t begin = cycle(), end = begin + n;
    while (cycle() < end) {
      const uint64_t change = stillness_.still() ? streams_.next_change() : cycle();
      if (change > cycle() && !stillness_.checks()) {
        const uint64_t to = change < end ? change : end;
        stillness_.skipped(to - cycle());
        skip(to);
        continue;
      }
      const bool stood_still = change > cycle();
      evaluate(out);
      if (g_stop.requested) break;
      if (stood_still) stillness_.skipped(1);  // the cycle counts as idle, as it would if it were skipped
      if (stillness_.enabled()) check_idle(stood_still);
    }
    return uint32_t(cycle() - begin);
  }

 private:
  static constexpr int kRandom = 2;  // uninitialised variables are random

  // Waveforms and coverage show every cycle, so every cycle is evaluated for them.
  static IdleMode idle_mode(const Start& start, const WaveOptions& wave) {
    if (kHaveCoverage || wave.enabled()) return IdleMode::kEvaluate;
    if ((start.flags & kStartCheckIdle) != 0) return IdleMode::kCheck;
    return (start.flags & kStartSkipIdle) != 0 ? IdleMode::kSkip : IdleMode::kEvaluate;
  }

  // Runs one cycle of the first clock, up to its rising edge, with the other clocks' edges that lie in it.
  template <class Out>
  void evaluate(Out& out) {
    Top& t = *top_;
    const bool resets = streams_.hold(t, out);
    if constexpr (Dut::kClocks == 1) {
      if (!resets) streams_.drive(t, 1);
      step(t, false);
      if (!resets && streams_.settle(t, 1)) t.eval();
      streams_.observe(t, out);
      if (!resets) streams_.sample(t, 1, out);
      step(t, true);
    } else {
      Clocks<Dut::kClocks>& clocks = streams_.clocks();
      uint32_t rising;
      do {
        rising = clocks.next();
        if (!resets) streams_.drive(t, rising);
        edges(t, rising, false);
        if (!resets && streams_.settle(t, rising)) t.eval();
        if (rising & 1) streams_.observe(t, out);
        if (!resets) streams_.sample(t, rising, out);
        edges(t, rising, true);
        clocks.advance(rising);
      } while (!(rising & 1) && !g_stop.requested);
    }
    streams_.end_cycle();
  }

  // Skips cycles that would end like the latest one, up to cycle `to`.
  void skip(uint64_t to) {
    context_->timeInc((to - cycle()) * (half_[0] + half_[1]));
    skipped_ += to - cycle();
    streams_.skip(to);
  }

  // Called after a cycle: checks whether the design is idle. If it was idle before, the cycle must have
  // changed nothing.
  void check_idle(bool stood_still) {
    const bool quiet = streams_.quiet();  // while a reset is held, next_change() is the current cycle
    if (stood_still && !(quiet && stillness_.same(Dut::state(*top_)))) throw IdleFault{cycle() - 1};
    stillness_.observe(quiet && streams_.next_change() > cycle(), Dut::state(*top_));
  }

  // Runs one half of a cycle, for a device with one clock.
  void step(Top& t, bool clock) {
    Dut::set_clock(t, 0, clock);
    t.eval();
    if (!clock) coverage_.sample();
    wave_.dump(context_->time(), cycle());
    context_->timeInc(clock ? half_[1] : half_[0]);
  }

  // Sets the clocks in `which` high if `rise` is set, else low, halfway to their rising edge.
  void edges(Top& t, uint32_t which, bool rise) {
    const uint64_t before = context_->time(), ahead = streams_.clocks().now() - before;
    context_->timeInc(rise ? ahead : (ahead + 1) / 2);
    for (uint32_t k = 0; k < Dut::kClocks; k++) {
      if (which >> k & 1) Dut::set_clock(t, k, rise);
    }
    t.eval();
    if (!rise && (which & 1)) coverage_.sample();
    if (context_->time() != before) wave_.dump(context_->time(), cycle());
  }

  void reset() {
    Top& t = *top_;
    Clocks<Dut::kClocks>& clocks = streams_.clocks();
    for (uint32_t i = 0; i < Dut::kResetCycles; i++) {
      Dut::set_resets(t, i);
      if constexpr (Dut::kClocks == 1) {
        step(t, false);
        step(t, true);
        continue;
      }
      for (uint32_t rising = 0; !(rising & 1);) {
        rising = clocks.next();
        edges(t, rising, false);
        edges(t, rising, true);
        clocks.advance(rising);
      }
    }
    Dut::set_resets(t, Dut::kResetCycles);
    coverage_.reset_ends();
  }

  std::unique_ptr<VerilatedContext> context_;
  std::unique_ptr<Top> top_;
  Wave wave_;
  Streams<Dut> streams_;
  uint64_t half_[2];  // low and high time of the first clock, in ps
  Coverage coverage_;
  Stillness stillness_;
  uint64_t skipped_ = 0;
};

}  // namespace nictwin
