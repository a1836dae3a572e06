// A device behind a shell (docs/emulation.md): takes the place of class Device in a session. The shell moves the pins;
// what it saw is replayed here, slot by slot, through the sources and sinks of the ordinary bridge, on a copy of the
// pins. So records, rules and digest are those of the bridge, and what the shell did is checked against them.
#pragma once

#include <deque>
#include <functional>

#include "board.hpp"
#include "feeder.hpp"
#include "grant.hpp"
#include "notice.hpp"
#include "open.hpp"
#include "options.hpp"
#include "reporting.hpp"
#include "stop.hpp"
#include "streams.hpp"
#include "trace.hpp"

namespace nictwin {

// Emulated drives a device behind the shell. Dut is the class generated for the device; its Top is a plain struct with
// a member for each pin of the device, not a Verilator model.
template <class Dut>
class Emulated {
 public:
  using Glue = Dut;
  using Top = typename Dut::Top;
  static constexpr bool kEmulated = true;

  // The trace of some run could not be read or written at its end.
  static inline bool trace_lost = false;

  // Starts the simulated board, which powers the device up anew, and takes it through reset, up to cycle 0.
  Emulated(const Start& start, const DeviceOptions& o)
      : trace_(o.plus_args), board_(o, start.seed, Dut::kLinkBytes), streams_(start), period_ps_(start.period_ps) {
    reset_stop();
    streams_.begin(start, top_);
    make_streams(start);
    send_start(start);
    for (uint32_t i = 0; i < Dut::kResetCycles; i++) {
      Dut::set_resets(top_, i);
      rest_cycle();
    }
    Dut::set_resets(top_, Dut::kResetCycles);
  }
  ~Emulated() {
    try {
      read_trace(true);
    } catch (const SessionError& e) {
      notice(e.text);
      trace_lost = true;
    }
  }
  Emulated(const Emulated&) = delete;
  Emulated& operator=(const Emulated&) = delete;

  uint64_t cycle() const { return streams_.cycle(); }
  const std::array<Observed, Dut::kObserve>& observed() const { return streams_.observed(); }
  std::string cover(const std::string& file) { return file + ": a shell counts no coverage"; }
  void print_signals() {}
  bool idle() const { return streams_.idle(); }
  bool stands_still() const { return false; }
  uint64_t skipped() const { return 0; }

  void push(const Record& rec, Buffer* home) {
    streams_.push(rec, home);
    if (rec.type == RecordType::kReset) {
      if (++epochs_ - epoch_ > kMaxResets) {
        throw SessionError{ErrorCode::kLimit, "more than " + std::to_string(kMaxResets) + " resets wait for their cycle"};
      }
    } else if (rec.type == RecordType::kCredit) {
      credits_[rec.stream].push_back({rec.cycle, rec.data_len});
    } else {
      feeders_[feeder_of_[rec.stream]].push(rec, home, epochs_);
    }
  }

  template <class Out>
  void report_held(Out& out) {
    streams_.report_held(out);
  }

  // Runs n cycles. Throws SessionError if the board or its link fails; Fatal, with the reason in g_stop, if the design
  // ends the simulation: then what it did in the grant under way is lost. Calls `waits` after each grant, and again and
  // again while it waits for the board.
  template <class Out>
  uint32_t run(uint32_t n, Out& out, const std::function<void()>& waits = {}) {
    const uint64_t end = cycle() + n;
    board_.while_waiting(waits);
    try {
      while (cycle() < end) {
        const Grant g = plan(end, out);
        execute(g);
        for (uint32_t slot = 0; slot < g.slots; slot++) replay(uint16_t(slot), out);
        check_events();
        read_trace(false);
        if (waits) waits();
      }
    } catch (const SessionError& e) {
      trace_.give_up();
      if (e.code != ErrorCode::kAssert && e.code != ErrorCode::kFinish && e.code != ErrorCode::kInternal) throw;
      g_stop = {true, e.code, e.text};
      throw Fatal{};
    }
    return n;
  }

 private:
  static constexpr uint64_t kMaxResets = 100;

  // Runs a cycle in which streams rest: as many grants as it takes other clocks to let the first one rise.
  void rest_cycle() {
    Clocks<Dut::kClocks> clocks = streams_.clocks();
    for (uint32_t rising = 0; !(rising & 1);) {
      Grant g{0, kGrantRest};
      for (; !(rising & 1) && g.slots < size_.most(false); g.slots++) clocks.advance(rising = clocks.next());
      execute(g);
    }
    streams_.clocks() = clocks;
  }

  struct Credit {
    uint64_t cycle;
    uint64_t n;
  };

  void make_streams(const Start& start) {
    feeder_of_.assign(Dut::info().streams.size(), 0);
    credits_.resize(feeder_of_.size());
    stalled_.assign(feeder_of_.size(), false);
    source_of_.assign(feeder_of_.size(), 0);
    for (size_t i = 0; i < feeder_of_.size(); i++) {
      const StreamInfo& s = Dut::info().streams[i];
      const StreamStart& x = start.streams[i];
      masks_.push_back({Stall(sub_seed(start.seed, s.name), x.stall_percent, x.burst_log2), s.clock});
      masked_ = masked_ || x.stall_percent != 0;
    }
    streams_.inputs([&](auto& s) {
      using S = typename std::decay_t<decltype(s)>::Stream;
      const FeederShape shape{uint8_t(feeders_.size()), S::kLevel,      S::kPackets,
                              S::kSideHeld,             S::kDataBytes,  S::kKeepUnit, S::kSideBytes};
      feeder_of_[S::kIndex] = source_of_[S::kIndex] = uint8_t(feeders_.size());
      feeders_.emplace_back(shape, Dut::kDepth);
      events_.emplace_back();
    });
    streams_.outputs([&](auto& s) {
      using S = typename std::decay_t<decltype(s)>::Stream;
      source_of_[S::kIndex] = uint8_t(events_.size());
      events_.emplace_back();
      events_.back().payload = S::kBeatBytes;
    });
    observed_source_ = events_.size();
    events_.emplace_back();
    events_.back().payload = Dut::kObservedBytes;
    if (!trace_.enabled()) return;
    events_.emplace_back();
    events_.back().payload = trace_.bytes();
  }

  void send_start(const Start& start) {
    message_.assign(1, kCmdStart);
    message_.push_back((start.flags & kStartPoison) != 0);
    for (size_t k = 0; k < Dut::kClocks; k++) {
      const uint64_t period = k == 0 ? start.period_ps : start.clocks[k - 1].period_ps;
      put_number(message_, period, 4);
      put_number(message_, k == 0 ? period : start.clocks[k - 1].phase_ps + period, 4);
    }
    streams_.inputs([&](auto& s) {
      put_number(message_, sub_seed(start.seed, std::decay_t<decltype(s)>::Stream::kName), 8);
    });
    streams_.outputs([&](auto& s) {
      using S = typename std::decay_t<decltype(s)>::Stream;
      const uint32_t credits = start.streams[S::kIndex].credits;
      message_.push_back(S::kReady && credits != kUnlimited);
      put_number(message_, credits, 4);
    });
    Dut::get_ties(top_, message_);
    if (trace_.enabled()) put_number(message_, trace_.from(), 6);
    board_.write(message_);
  }

  // Reads the trace buffer once it is full, or at the end of a run, and writes its file.
  void read_trace(bool at_end) {
    if (!trace_.due(cycle(), at_end)) return;
    if (at_end) board_.ending();
    trace_.give_up();  // unless it can be read now
    for (ShellEvents& e : events_) e.clear();
    send_grant({0, kGrantTrace});
    board_.flush();
    while (board_.read(events_) != Board::kDone) {
    }
    trace_.write(events_.back(), period_ps_);
  }

  // Plans the slots up to cycle `end`, or to where something changes that the shell does not know: a reset, credits.
  // At the start of a cycle, begins or holds a reset.
  template <class Out>
  Grant plan(uint64_t end, Out& out) {
    Grant g{0, kGrantCount};
    if (fresh_) {
      const bool begins = !streams_.held() && streams_.next_reset() <= cycle();
      rests_ = streams_.hold(top_, out);
      fresh_ = false;
      if (begins) {
        g.flags |= kGrantDrop;
        epoch_++;
        for (Feeder& f : feeders_) f.drop(epoch_);
        stalled_.assign(stalled_.size(), false);
      }
    }
    if (rests_) g.flags |= kGrantRest;
    uint64_t stop = rests_ ? cycle() + 1 : std::min(end, std::max(streams_.next_reset(), cycle() + 1));
    for (const auto& q : credits_) {
      for (const Credit& c : q) {
        if (c.cycle > cycle()) {
          stop = std::min(stop, c.cycle);
          break;
        }
      }
    }
    Clocks<Dut::kClocks> clocks = streams_.clocks();
    for (uint64_t at = cycle(); at < stop && g.slots < size_.most(masked_); g.slots++) {
      const uint32_t rising = clocks.next();
      clocks.advance(rising);
      at += rising & 1;
    }
    return g;
  }

  // Has the shell run a grant, and collects its events.
  void execute(const Grant& g) {
    const uint64_t begin = now_ns();
    for (ShellEvents& e : events_) e.clear();
    if ((g.flags & kGrantDrop) == 0) feed();  // else only the grant makes room in the shell
    send_grant(g);
    feed();
    board_.flush();
    for (size_t i; (i = board_.read(events_)) != Board::kDone;) {
      const ShellEvent& e = events_[i].list.back();
      if (e.slot >= g.slots) disagree("event in slot " + std::to_string(e.slot) + " of a grant of " + std::to_string(g.slots));
      if (i >= feeders_.size()) continue;
      if (!feeders_[i].taken()) disagree("it took a beat of input " + std::to_string(i) + " that it did not have");
      if (feed()) board_.flush();
    }
    size_.took(g.slots, masked_ && (g.flags & kGrantCount) != 0, now_ns() - begin);
  }

  // Sends the beats for which the shell has room; returns whether there were any.
  bool feed() {
    bool any = false;
    for (Feeder& f : feeders_) {
      while (f.ready(epoch_)) {
        message_.clear();
        f.encode(message_, epoch_);
        board_.write(message_);
        any = true;
      }
    }
    return any;
  }

  void send_grant(const Grant& g) {
    if (masked_ && (g.flags & kGrantCount) != 0) {
      message_.assign(1, kCmdMasks);
      for (const StallMask& m : masks_) put_number(message_, m.bits(streams_.clocks(), cycle(), g.slots), 8);
      board_.write(message_);
    }
    message_.assign(1, kCmdGrant);
    put_number(message_, g.slots, 2);
    message_.push_back(g.flags);
    put_number(message_, Dut::get_resets(top_), Dut::kResetBytes);
    uint64_t more = 0;
    for (size_t i = 0; i < feeders_.size(); i++) more |= uint64_t(feeders_[i].more()) << i;
    put_number(message_, more, (Dut::kInputs + 7) / 8);
    for (size_t i = 0; i < credits_.size(); i++) {
      if (Dut::info().streams[i].out) put_number(message_, due_credits(credits_[i]), 4);
    }
    board_.write(message_);
  }

  // Takes the credits that are due.
  uint64_t due_credits(std::deque<Credit>& q) {
    uint64_t n = 0;
    for (; !q.empty() && q.front().cycle <= cycle(); q.pop_front()) {
      if (n + q.front().n > UINT32_MAX) break;  // the rest comes with the next grant
      n += q.front().n;
    }
    return n;
  }

  // Replays what happened in a slot.
  template <class Out>
  void replay(uint16_t slot, Out& out) {
    const uint32_t rising = streams_.clocks().next();
    if (!rests_) {
      streams_.drive(top_, rising);
      show(slot, rising);
      streams_.settle(top_, rising);
    }
    if ((rising & 1) != 0) {
      ShellEvents& e = events_[observed_source_];
      if (const ShellEvent* x = e.take(slot)) Dut::set_observed(top_, e.bytes.data() + x->at);
      streams_.observe(top_, out);
    }
    if (!rests_) {
      streams_.outputs([&](auto& s) { check_taken(s, rising); });
      streams_.sample(top_, rising, out);
    }
    streams_.clocks().advance(rising);
    if ((rising & 1) == 0) return;
    streams_.end_cycle();
    fresh_ = true;
  }

  // Sets the copies of the device's output pins to the values that the shell reported.
  void show(uint16_t slot, uint32_t rising) {
    streams_.inputs([&](auto& s) {
      using S = typename std::decay_t<decltype(s)>::Stream;
      if ((rising >> S::kClock & 1) == 0) return;
      const bool taken = events_[source_of_[S::kIndex]].take(slot) != nullptr;
      if (taken && !s.offered()) disagree(std::string(S::kName) + ": it took a beat that was not offered");
      S::show_ready(top_, taken);
      if (!S::kReady && taken != s.offered()) disagree(std::string(S::kName) + ": it did not take a beat that was offered");
    });
    streams_.outputs([&](auto& s) {
      using S = typename std::decay_t<decltype(s)>::Stream;
      if ((rising >> S::kClock & 1) == 0) return;
      ShellEvents& e = events_[source_of_[S::kIndex]];
      const ShellEvent* x = e.take(slot);
      S::show_valid(top_, x != nullptr ? (x->flags & ShellEvent::kValid) != 0 : bool(stalled_[S::kIndex]));
      if (x != nullptr && (x->flags & ShellEvent::kPayload) != 0) S::show_beat(top_, e.bytes.data() + x->at);
      taken_here_ = x != nullptr && (x->flags & ShellEvent::kTaken) != 0 ? taken_here_ | uint64_t{1} << S::kIndex
                                                                          : taken_here_ & ~(uint64_t{1} << S::kIndex);
    });
  }

  // Checks that the shell took a beat exactly where the stall bits and credits let it.
  template <class Sink>
  void check_taken(const Sink&, uint32_t rising) {
    using S = typename Sink::Stream;
    if ((rising >> S::kClock & 1) == 0) return;
    const bool valid = S::valid(top_), taken = valid && S::shown_ready(top_);
    if (taken != ((taken_here_ >> S::kIndex & 1) != 0)) {
      disagree(std::string(S::kName) + (taken ? ": it did not take a beat" : ": it took a beat that had to wait"));
    }
    stalled_[S::kIndex] = valid && !taken;
  }

  void check_events() {
    for (size_t i = 0; i < events_.size(); i++) {
      if (events_[i].next != events_[i].list.size()) {
        disagree("event of transactor " + std::to_string(i) + " in a slot without an edge of its clock");
      }
    }
  }

  [[noreturn]] void disagree(const std::string& what) const {
    throw SessionError{kLinkError, "the board breaks the rules of the shell, cycle " + std::to_string(cycle()) +
                                                 ": " + what};
  }

  Trace trace_;
  Board board_;
  Top top_{};
  Streams<Dut> streams_;
  uint64_t period_ps_;                // of the first clock
  std::vector<Feeder> feeders_;       // by input
  std::vector<uint8_t> feeder_of_;    // by stream
  std::vector<ShellEvents> events_;   // by transactor: inputs, outputs, observed signals, trace
  std::vector<uint8_t> source_of_;    // by stream: its transactor
  size_t observed_source_ = 0;        // transactor of the observed signals
  std::vector<std::deque<Credit>> credits_;  // by stream
  std::vector<StallMask> masks_;      // by stream
  std::vector<bool> stalled_;         // by stream: an output's beat was offered and not taken in the tick before
  uint64_t taken_here_ = 0;           // bit by stream: the shell took an output's beat in the current slot
  std::vector<uint8_t> message_;
  GrantSize size_;
  bool masked_ = false;               // some stream has a stall pattern
  bool fresh_ = true;                 // the next slot is the first of its cycle
  bool rests_ = false;                // a reset is held
  uint64_t epoch_ = 0, epochs_ = 0;   // number of resets begun, and of those pushed
};

}  // namespace nictwin
