// One device: the verilated model, a source or sink per stream, and the clock.
#pragma once

#include <array>
#include <chrono>
#include <memory>
#include <tuple>

#include "clocks.hpp"
#include "coverage.hpp"
#include "idle.hpp"
#include "sink.hpp"
#include "source.hpp"
#include "stop.hpp"
#include "verilated.h"
#include "wave.hpp"

namespace nictwin {

inline uint64_t now_ns() {
  using namespace std::chrono;
  return uint64_t(duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()).count());
}

// Dut is the generated glue: Top, Inputs, Outputs and static functions that set or read single pins.
template <class Dut>
class Device {
 public:
  using Top = typename Dut::Top;

  // Powers the design up (with random state if the variant is built so; the plusarg +verilator+seed+N overrides the
  // run's seed) and takes it through reset, up to cycle 0.
  Device(const Start& start, const std::vector<std::string>& plus_args, const WaveOptions& wave)
      : context_(std::make_unique<VerilatedContext>()),
        half_{start.period_ps / 2, start.period_ps - start.period_ps / 2},
        clocks_(start),
        stillness_(idle_mode(start, wave)) {
    reset_stop();
    context_->randReset(kRandom);
    context_->randSeed(int(sub_seed(start.seed, "power-up") & 0x7fffffff) | 1);  // 0 would draw a seed
    std::vector<const char*> argv{"dut"};
    for (const std::string& a : plus_args) argv.push_back(a.c_str());
    context_->commandArgs(int(argv.size()), argv.data());
    context_->traceEverOn(wave.enabled() || kHaveCoverage);
    top_ = std::make_unique<Top>(context_.get(), "TOP");
    wave_.open(*top_, wave);
    Dut::tie(*top_);
    for (const TieValue& t : start.ties) Dut::tie(*top_, t.index, t.value);
    std::apply([&](auto&... s) { (s.start(start), ...), (s.drive_idle(*top_), ...); }, inputs_);
    std::apply([&](auto&... s) { (s.start(start), ...), (s.drive_idle(*top_), ...); }, outputs_);
    coverage_.open(*top_, Dut::counters(*top_), Dut::kCounters);
    reset();
  }
  ~Device() { top_->final(); }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  uint64_t cycle() const { return cycle_; }
  const std::array<Observed, Dut::kObserve>& observed() const { return observed_; }

  // Adds the coverage counts to a file; returns a fault, or "".
  std::string cover(const std::string& file) { return HitsFile::add(file, Dut::info().build_hash, coverage_.counts()); }
  // Prints the signals whose bits are counted.
  void print_signals() { coverage_.print(); }

  // Returns whether no input transaction waits or is partly taken, and no output transaction is partly given.
  bool idle() const {
    return std::apply([](const auto&... s) { return (s.idle() && ...); }, inputs_) &&
           std::apply([](const auto&... s) { return (s.idle() && ...); }, outputs_);
  }

  void push(const Record& rec, Buffer* home) {
    if (rec.type == RecordType::kReset) {
      resets_.push_back(rec.cycle);
      std::apply([](auto&... s) { (s.mark_reset(), ...); }, inputs_);
    } else if (rec.type == RecordType::kCredit) {
      each(outputs_, rec.stream, [&](auto& s) { s.credit(rec.cycle, rec.data_len); });
    } else {
      each(inputs_, rec.stream, [&](auto& s) { s.push(rec, home); });
    }
  }

  // Reports held intervals that have not ended, up to the cycle before the current one.
  template <class Out>
  void report_held(Out& out) {
    std::apply([&](auto&... s) { (s.report_held(cycle_, out), ...); }, inputs_);
    std::apply([&](auto&... s) { (s.report_held(cycle_, out), ...); }, outputs_);
  }

  // Returns whether nothing will happen from here on unless a record comes.
  bool stands_still() const { return stillness_.still() && next_change() == UINT64_MAX; }
  // The number of cycles that were not evaluated.
  uint64_t skipped() const { return skipped_; }

  // Runs n cycles, or fewer if the design stops (g_stop); returns the number of cycles run. Throws IdleFault.
  template <class Out>
  uint32_t run(uint32_t n, Out& out) {
    const uint64_t begin = cycle_, end = cycle_ + n;
    while (cycle_ < end) {
      const uint64_t change = stillness_.still() ? next_change() : cycle_;
      if (change > cycle_ && !stillness_.checks()) {
        const uint64_t to = change < end ? change : end;
        stillness_.skipped(to - cycle_);
        skip(to);
        continue;
      }
      const bool stood_still = change > cycle_;
      evaluate(out);
      if (g_stop.requested) break;
      if (stood_still) stillness_.skipped(1);  // the cycle counts as idle, as it would if it were skipped
      if (stillness_.enabled()) check_idle(stood_still);
    }
    return uint32_t(cycle_ - begin);
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
    const bool resets = hold(t, out);
    if constexpr (Dut::kClocks == 1) {
      if (!resets) drive(t, 1);
      step(t, false);
      if (!resets) settle(t, 1);
      observe(t, out, std::make_index_sequence<Dut::kObserve>{});
      if (!resets) sample(t, 1, out);
      step(t, true);
    } else {
      uint32_t rising;
      do {
        rising = clocks_.next();
        if (!resets) drive(t, rising);
        edges(t, rising, false);
        if (!resets) settle(t, rising);
        if (rising & 1) observe(t, out, std::make_index_sequence<Dut::kObserve>{});
        if (!resets) sample(t, rising, out);
        edges(t, rising, true);
        clocks_.advance(rising);
      } while (!(rising & 1) && !g_stop.requested);
    }
    cycle_++;
  }

  // Begins a reset that is due, and holds it; returns true while it lasts. Streams do not advance meanwhile.
  template <class Out>
  bool hold(Top& t, Out& out) {
    if (!resets_.empty() && resets_.front() <= cycle_ && held_ == kFree) {
      resets_.erase(resets_.begin());
      held_ = 0;
      std::apply([&](auto&... s) { (s.reset(t, cycle_, out), ...); }, inputs_);
      std::apply([&](auto&... s) { (s.reset(t, cycle_, out), ...); }, outputs_);
    }
    if (held_ == kFree) return false;
    Dut::set_resets(t, held_);
    if (held_ == Dut::kResetCycles) {
      held_ = kFree;
      return false;
    }
    held_++;
    return true;
  }

  // Sets the pins of the streams whose clocks rise next.
  void drive(Top& t, uint32_t rising) {
    auto in = [&](auto& s) {
      using S = typename std::decay_t<decltype(s)>::Stream;
      if (rising >> S::kClock & 1) s.drive(t, cycle_, tick<S>(), may_begin<S>());
    };
    auto out = [&](auto& s) {
      using S = typename std::decay_t<decltype(s)>::Stream;
      if (rising >> S::kClock & 1) s.drive(t, cycle_, tick<S>());
    };
    std::apply([&](auto&... s) { (in(s), ...); }, inputs_);
    std::apply([&](auto&... s) { (out(s), ...); }, outputs_);
  }

  template <class Out>
  void sample(Top& t, uint32_t rising, Out& out) {
    auto one = [&](auto& s) {
      using S = typename std::decay_t<decltype(s)>::Stream;
      if (rising >> S::kClock & 1) s.sample(t, cycle_, tick<S>(), out);
    };
    std::apply([&](auto&... s) { (one(s), ...); }, inputs_);
    std::apply([&](auto&... s) { (one(s), ...); }, outputs_);
  }

  // Drives the ready signals that answer a valid of the same cycle.
  void settle([[maybe_unused]] Top& t, [[maybe_unused]] uint32_t rising) {
    if constexpr (Dut::kAnswers) {
      bool again = false;
      auto one = [&](auto& s) {
        using S = typename std::decay_t<decltype(s)>::Stream;
        if (rising >> S::kClock & 1) again = s.answer(t) || again;
      };
      std::apply([&](auto&... s) { (one(s), ...); }, outputs_);
      if (again) t.eval();
    }
  }

  template <class S>
  uint64_t tick() const {
    return S::kClock == 0 ? cycle_ : clocks_.ticks(S::kClock);
  }

  // Returns whether no coupled input stream has to begin before s.
  template <class S>
  bool may_begin() const {
    if constexpr (!Dut::kCoupled) {
      return true;
    } else {
      bool may = true;
      const uint64_t mine = std::get<Source<S>>(inputs_).taken();
      auto one = [&](const auto& s) {
        using Other = typename std::decay_t<decltype(s)>::Stream;
        if (Other::kIndex == S::kAfter) may = may && s.taken() > mine;
        if (Other::kIndex == S::kWith) may = may && s.begun() > mine;
        if (Other::kWith == S::kIndex) may = may && s.begun() == s.taken();
      };
      std::apply([&](const auto&... s) { (one(s), ...); }, inputs_);
      return may;
    }
  }

  // Returns the first cycle, from the current one on, in which a pin may change.
  uint64_t next_change() const {
    if (held_ != kFree) return cycle_;
    uint64_t first = resets_.empty() ? UINT64_MAX : resets_.front();
    auto earlier = [&](uint64_t c) { first = c < first ? c : first; };
    std::apply([&](const auto&... s) { (earlier(s.next_change(cycle_)), ...); }, inputs_);
    std::apply([&](const auto&... s) { (earlier(s.next_change(cycle_)), ...); }, outputs_);
    return first;
  }

  // Skips cycles that would end like the latest one, up to cycle `to`.
  void skip(uint64_t to) {
    context_->timeInc((to - cycle_) * (half_[0] + half_[1]));
    skipped_ += to - cycle_;
    cycle_ = to;
    for (Observed& o : observed_) {
      if (o.value != 0) o.last_nonzero = cycle_;
    }
  }

  // Called after a cycle: checks whether the design is idle. If it was idle before, the cycle must have
  // changed nothing.
  void check_idle(bool stood_still) {
    bool quiet = false;  // stays false while a reset is held: next_change() is then the current cycle
    if constexpr (Dut::kBusy < Dut::kObserve) quiet = observed_[Dut::kBusy].value == 0;
    std::apply([&](const auto&... s) { ((quiet = quiet && s.quiet()), ...); }, inputs_);
    std::apply([&](const auto&... s) { ((quiet = quiet && s.quiet()), ...); }, outputs_);
    if (stood_still && !(quiet && stillness_.same(Dut::state(*top_)))) throw IdleFault{cycle_ - 1};
    stillness_.observe(quiet && next_change() > cycle_, Dut::state(*top_));
  }

  // Runs one half of a cycle, for a device with one clock.
  void step(Top& t, bool clock) {
    Dut::set_clock(t, 0, clock);
    t.eval();
    if (!clock) coverage_.sample();
    wave_.dump(context_->time(), cycle_);
    context_->timeInc(clock ? half_[1] : half_[0]);
  }

  // Sets the clocks in `which` high if `rise` is set, else low, halfway to their rising edge.
  void edges(Top& t, uint32_t which, bool rise) {
    const uint64_t before = context_->time(), ahead = clocks_.now() - before;
    context_->timeInc(rise ? ahead : (ahead + 1) / 2);
    for (uint32_t k = 0; k < Dut::kClocks; k++) {
      if (which >> k & 1) Dut::set_clock(t, k, rise);
    }
    t.eval();
    if (!rise && (which & 1)) coverage_.sample();
    if (context_->time() != before) wave_.dump(context_->time(), cycle_);
  }

  void reset() {
    Top& t = *top_;
    for (uint32_t i = 0; i < Dut::kResetCycles; i++) {
      Dut::set_resets(t, i);
      if constexpr (Dut::kClocks == 1) {
        step(t, false);
        step(t, true);
        continue;
      }
      for (uint32_t rising = 0; !(rising & 1);) {
        rising = clocks_.next();
        edges(t, rising, false);
        edges(t, rising, true);
        clocks_.advance(rising);
      }
    }
    Dut::set_resets(t, Dut::kResetCycles);
    coverage_.reset_ends();
  }

  template <class Out, size_t... I>
  void observe(const Top& t, [[maybe_unused]] Out& out, std::index_sequence<I...>) {
    (observe_one<I>(t, out), ...);
  }
  template <size_t I, class Out>
  void observe_one(const Top& t, [[maybe_unused]] Out& out) {
    Observed& o = observed_[I];
    o.value = Dut::template observe<I>(t);
    if (o.value == 0) return;
    if constexpr (I == Dut::kBusy) {
      if (o.last_nonzero != cycle_) out.idle_interval(o.last_nonzero, cycle_ - 1);
    }
    o.last_nonzero = cycle_ + 1;
  }

  template <class Tuple, class F>
  static void each(Tuple& streams, uint8_t index, F&& f) {
    std::apply([&](auto&... s) { ((s.kIndex == index ? f(s) : void()), ...); }, streams);
  }

  std::unique_ptr<VerilatedContext> context_;
  std::unique_ptr<Top> top_;
  Wave wave_;
  typename Dut::Inputs inputs_;
  typename Dut::Outputs outputs_;
  std::array<Observed, Dut::kObserve> observed_{};
  uint64_t cycle_ = 0;
  static constexpr uint32_t kFree = UINT32_MAX;
  uint32_t held_ = kFree;         // cycles for which a reset has been held; kFree: none is held
  std::vector<uint64_t> resets_;  // cycles of the resets to come
  uint64_t half_[2];  // low and high time of the first clock, in ps
  Clocks<Dut::kClocks> clocks_;
  Coverage coverage_;
  Stillness stillness_;
  uint64_t skipped_ = 0;
};

}  // namespace nictwin
