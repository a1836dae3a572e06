// The sources and sinks of a device's streams, its resets and its observed signals: all that lies between the records of
// a session and the pins, whoever moves the clocks.
#pragma once

#include <array>
#include <tuple>

#include "clocks.hpp"
#include "sink.hpp"
#include "source.hpp"

namespace nictwin {

// Dut is the generated glue: Top, Inputs, Outputs and static functions that set or read single pins. Top holds the pins:
// the verilated model, or a copy of them.
template <class Dut>
class Streams {
 public:
  using Top = typename Dut::Top;

  explicit Streams(const Start& start) : clocks_(start) {}

  // Drives the tie-offs, and the pins of all streams to their idle values.
  void begin(const Start& start, Top& t) {
    Dut::tie(t);
    for (const TieValue& v : start.ties) Dut::tie(t, v.index, v.value);
    std::apply([&](auto&... s) { (s.start(start), ...), (s.drive_idle(t), ...); }, inputs_);
    std::apply([&](auto&... s) { (s.start(start), ...), (s.drive_idle(t), ...); }, outputs_);
  }

  uint64_t cycle() const { return cycle_; }
  const std::array<Observed, Dut::kObserve>& observed() const { return observed_; }
  Clocks<Dut::kClocks>& clocks() { return clocks_; }

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

  // Begins a reset that is due, and drives the reset pins. Returns true while a reset lasts: streams do not advance.
  // Called at the start of each cycle.
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
  // Returns the cycle of the next reset, UINT64_MAX if none is known.
  uint64_t next_reset() const { return resets_.empty() ? UINT64_MAX : resets_.front(); }
  // Returns whether a reset is held.
  bool held() const { return held_ != kFree; }

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

  // Samples the handshakes of the streams whose clocks rise next.
  template <class Out>
  void sample(Top& t, uint32_t rising, Out& out) {
    auto one = [&](auto& s) {
      using S = typename std::decay_t<decltype(s)>::Stream;
      if (rising >> S::kClock & 1) s.sample(t, cycle_, tick<S>(), out);
    };
    std::apply([&](auto&... s) { (one(s), ...); }, inputs_);
    std::apply([&](auto&... s) { (one(s), ...); }, outputs_);
  }

  // Drives the ready signals that answer a valid of the same cycle. Returns true if the design must settle again.
  bool settle([[maybe_unused]] Top& t, [[maybe_unused]] uint32_t rising) {
    bool again = false;
    if constexpr (Dut::kAnswers) {
      auto one = [&](auto& s) {
        using S = typename std::decay_t<decltype(s)>::Stream;
        if (rising >> S::kClock & 1) again = s.answer(t) || again;
      };
      std::apply([&](auto&... s) { (one(s), ...); }, outputs_);
    }
    return again;
  }

  // Samples the observed signals of a cycle.
  template <class Out>
  void observe(const Top& t, Out& out) {
    observe_all(t, out, std::make_index_sequence<Dut::kObserve>{});
  }

  void end_cycle() { cycle_++; }

  // Returns the first cycle, from the current one on, in which a pin may change.
  uint64_t next_change() const {
    if (held_ != kFree) return cycle_;
    uint64_t first = resets_.empty() ? UINT64_MAX : resets_.front();
    auto earlier = [&](uint64_t c) { first = c < first ? c : first; };
    std::apply([&](const auto&... s) { (earlier(s.next_change(cycle_)), ...); }, inputs_);
    std::apply([&](const auto&... s) { (earlier(s.next_change(cycle_)), ...); }, outputs_);
    return first;
  }

  // Returns whether the latest cycle moved nothing and the device is not busy. For resets, see next_change().
  bool quiet() const {
    bool quiet = false;
    if constexpr (Dut::kBusy < Dut::kObserve) quiet = observed_[Dut::kBusy].value == 0;
    std::apply([&](const auto&... s) { ((quiet = quiet && s.quiet()), ...); }, inputs_);
    std::apply([&](const auto&... s) { ((quiet = quiet && s.quiet()), ...); }, outputs_);
    return quiet;
  }

  // Passes cycles that were not evaluated, up to cycle `to`.
  void skip(uint64_t to) {
    cycle_ = to;
    for (Observed& o : observed_) {
      if (o.value != 0) o.last_nonzero = cycle_;
    }
  }

  // Calls f with the source of every input, or the sink of every output.
  template <class F>
  void inputs(F&& f) {
    std::apply([&](auto&... s) { (f(s), ...); }, inputs_);
  }
  template <class F>
  void outputs(F&& f) {
    std::apply([&](auto&... s) { (f(s), ...); }, outputs_);
  }

 private:
  template <class S>
  uint64_t tick() const {
    return S::kClock == 0 ? cycle_ : clocks_.ticks(S::kClock);
  }

  // Returns whether every coupled input stream that must begin before s has begun.
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

  template <class Out, size_t... I>
  void observe_all([[maybe_unused]] const Top& t, [[maybe_unused]] Out& out, std::index_sequence<I...>) {
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

  typename Dut::Inputs inputs_;
  typename Dut::Outputs outputs_;
  std::array<Observed, Dut::kObserve> observed_{};
  uint64_t cycle_ = 0;
  static constexpr uint32_t kFree = UINT32_MAX;
  uint32_t held_ = kFree;         // cycles for which a reset has been held; kFree: none is held
  std::vector<uint64_t> resets_;  // cycles of the resets to come
  Clocks<Dut::kClocks> clocks_;
};

}  // namespace nictwin
