// Receives one output stream of the device: applies back-pressure, assembles transactions and checks the
// AXI-Stream rules.
#pragma once

#include <cstddef>

#include "pins.hpp"
#include "protocol.hpp"
#include "random.hpp"

namespace nictwin {

// S is the generated description of the stream: constants and static pin accessors (see rtlbridge's glue template).
template <class S>
class Sink {
 public:
  using Stream = S;
  static constexpr unsigned kIndex = S::kIndex;

  void start(const Start& s) {
    const StreamStart& x = s.streams[S::kIndex];
    stall_ = Stall(sub_seed(s.seed, S::kName), x.stall_percent, x.burst_log2);
    limited_ = x.credits != kUnlimited;
    credits_ = limited_ ? x.credits : 0;
    max_bytes_ = x.max_bytes;
    watchdog_ = s.watchdog;
    packet_.assign(max_bytes_ + S::kDataBytes + 8, 0);
  }

  // Drives ready low before reset: a design may power up with any values, including those of its inputs.
  template <class Top>
  void drive_idle(Top& t) {
    if constexpr (S::kReady) S::set_ready(t, false);
  }

  // Gives n more credits from `cycle` on. Credits come in order of their cycles.
  void credit(uint64_t cycle, uint32_t n) {
    if (next_ == pending_.size()) due_ = cycle;
    pending_.push_back({cycle, n});
  }

  // Called in reset: ignores the design's outputs, and drops a transaction in progress.
  template <class Top, class Out>
  void reset(Top& t, uint64_t cycle, Out& out) {
    report_held(cycle, out);
    held_ = in_packet_ = valid_ = ready_ = willing_ = late_ = false;
    drive_idle(t);
  }

  bool idle() const { return !in_packet_ && !late_; }

  // Returns the first cycle, from `cycle` on, in which tready may change.
  uint64_t next_change(uint64_t cycle) const {
    if (!S::kReady) return UINT64_MAX;
    if (!stall_.none()) return cycle;
    return limited_ && credits_ == 0 ? due_ : UINT64_MAX;
  }
  // Returns whether no beat was offered in the latest cycle and no transaction is incomplete.
  bool quiet() const { return !valid_ && !in_packet_ && !late_; }

  // Reports the cycles before `cycle` for which the offered beat has waited.
  template <class Out>
  void report_held(uint64_t cycle, Out& out) {
    if (S::kClock != 0 || !held_ || held_since_ == cycle) return;
    out.held(S::kIndex, held_since_, cycle - 1);
    held_since_ = cycle;
  }

  // Called before the clock edge: sets tready for this cycle, the tick-th of the stream's clock.
  template <class Top>
  void drive(Top& t, uint64_t cycle, uint64_t tick) {
    if constexpr (S::kReady) {
      bool ready = !stall_(tick);
      if (limited_) {
        if (due_ <= cycle) take_credits(cycle);
        if (!in_packet_ && credits_ == 0) ready = false;
      }
      if constexpr (S::kReadyAnswers) {
        willing_ = ready;
        ready = false;
      }
      if (ready != ready_) {
        ready_ = ready;
        S::set_ready(t, ready);
      }
    }
  }

  // Called after combinational settling: drives a ready that depends on valid. Returns true if the design
  // must settle again.
  template <class Top>
  bool answer(Top& t) {
    if constexpr (S::kReadyAnswers) {
      if (willing_ && S::valid(t)) {
        ready_ = true;
        S::set_ready(t, true);
        return true;
      }
    }
    return false;
  }

  // Called after combinational settling: takes the beat if one is transferred.
  template <class Top, class Out>
  void sample(const Top& t, uint64_t cycle, uint64_t tick, Out& out) {
    const bool valid = valid_ = S::valid(t);
    if constexpr (S::kFieldsLate) {
      if (late_) give_late(t, cycle, out);
    }
    if (held_) check_held(t, valid, cycle, out);
    if (!valid) {
      if (in_packet_ && tick - last_beat_ == watchdog_ && watchdog_ != 0) {
        out.violation(S::kIndex, Rule::kHangOut, ordinal_, cycle, watchdog_);
      }
      return;
    }
    if (S::kReady && !ready_) {
      if (!held_) hold(t, cycle);
      return;
    }
    if (held_) {
      report_held(cycle, out);
      held_ = false;
    }
    last_beat_ = tick;
    accept(t, cycle, out);
  }

 private:
  struct Beat {
    uint8_t data[S::kDataBytes + (S::kDataBytes == 0)];
    uint8_t side[S::kSideBytes + 1];
    pins::Keep keep;
    bool last;
  };

  template <class Top>
  void read(const Top& t, Beat& b) {
    S::get_data(t, b.data);
    S::get_side(t, b.side);
    b.keep = keep(t);
    b.last = S::last(t);
  }

  template <class Top>
  static pins::Keep keep(const Top& t) {
    if constexpr (S::kKeepUnit != 0) return S::keep(t);
    return {S::kDataBytes, true};
  }

  template <class Top>
  void hold(const Top& t, uint64_t cycle) {
    read(t, shadow_);
    held_ = true;
    held_since_ = cycle;
  }

  // Checks that an offered beat stays unchanged until it is accepted.
  template <class Top, class Out>
  void check_held(const Top& t, bool valid, uint64_t cycle, Out& out) {
    auto report = [&](Rule r) { out.violation(S::kIndex, r, ordinal_, cycle, 0); };
    if (!valid) {
      report_held(cycle, out);
      held_ = false;
      return report(Rule::kValidDropped);
    }
    Beat now;
    read(t, now);
    if (std::memcmp(now.data, shadow_.data, S::kDataBytes) != 0) report(Rule::kDataChanged);
    if (now.keep.units != shadow_.keep.units || now.keep.contiguous != shadow_.keep.contiguous) {
      report(Rule::kKeepChanged);
    }
    if (now.last != shadow_.last) report(Rule::kLastChanged);
    if (!S::kFieldsLate && !in_packet_ && S::kSideBytes != 0 &&
        std::memcmp(now.side, shadow_.side, S::kSideBytes) != 0) {
      report(Rule::kSideChanged);
    }
    shadow_ = now;
  }

  template <class Top, class Out>
  void accept(const Top& t, uint64_t cycle, Out& out) {
    if constexpr (S::kFieldsLate) {
      late_ = true;
      if (limited_) credits_--;
      return;
    }
    if (!in_packet_) {
      in_packet_ = true;
      too_long_ = false;
      first_ = cycle;
      len_ = 0;
      S::get_side(t, side_);
      if (limited_) credits_--;
    }
    pins::Keep k = keep(t);
    bool last = S::last(t);
    if (!k.contiguous) out.violation(S::kIndex, Rule::kKeepGap, ordinal_, cycle, k.units);
    uint32_t n = S::kKeepUnit != 0 ? k.units * S::kKeepUnit : S::kDataBytes;
    if (!last && n != S::kDataBytes) out.violation(S::kIndex, Rule::kKeepPartial, ordinal_, cycle, k.units);
    if constexpr (S::kSideHeld) check_side(t, cycle, out);
    if (len_ + n <= max_bytes_) {
      S::get_data(t, packet_.data() + len_);
      if constexpr (S::kZeroPadding) check_padding(packet_.data() + len_, n, cycle, out);
      len_ += n;
    } else if (!too_long_) {
      too_long_ = true;
      out.violation(S::kIndex, Rule::kTooLong, ordinal_, cycle, max_bytes_);
    }
    if (last) finish(cycle, out);
  }

  // Called in the cycle after a handshake: takes the record's late fields.
  template <class Top, class Out>
  void give_late(const Top& t, uint64_t cycle, Out& out) {
    late_ = false;
    S::get_side(t, side_);
    out.out(S::kIndex, ordinal_++, cycle, cycle, side_, S::kSideBytes, packet_.data(), 0);
  }

  template <class Top, class Out>
  void check_side(const Top& t, uint64_t cycle, Out& out) {
    uint8_t now[S::kSideBytes + 1];
    S::get_side(t, now);
    if (std::memcmp(now, side_, S::kSideBytes) != 0) out.violation(S::kIndex, Rule::kSideVaried, ordinal_, cycle, len_);
  }

  template <class Out>
  void check_padding(const uint8_t* beat, uint32_t n, uint64_t cycle, Out& out) {
    for (uint32_t i = n; i < S::kDataBytes; i++) {
      if (beat[i] != 0) return out.violation(S::kIndex, Rule::kPadding, ordinal_, cycle, i);
    }
  }

  template <class Out>
  void finish(uint64_t cycle, Out& out) {
    if (len_ == 0 && !S::kMayBeEmpty) out.violation(S::kIndex, Rule::kEmpty, ordinal_, cycle, 0);
    out.out(S::kIndex, ordinal_, first_, cycle, side_, S::kSideBytes, packet_.data(), len_);
    in_packet_ = false;
    ordinal_++;
  }

  void take_credits(uint64_t cycle) {
    while (next_ < pending_.size() && pending_[next_].cycle <= cycle) credits_ += pending_[next_++].n;
    if (next_ == pending_.size() || next_ >= 4096) {
      pending_.erase(pending_.begin(), pending_.begin() + std::ptrdiff_t(next_));
      next_ = 0;
    }
    due_ = pending_.empty() ? UINT64_MAX : pending_[next_].cycle;
  }

  struct Grant {
    uint64_t cycle;
    uint32_t n;
  };

  std::vector<uint8_t> packet_;
  uint8_t side_[S::kSideBytes + 1] = {};
  Beat shadow_ = {};
  uint32_t len_ = 0, max_bytes_ = 0;
  bool ready_ = false, willing_ = false, valid_ = false, held_ = false;
  bool in_packet_ = false, too_long_ = false, limited_ = false;
  bool late_ = false;  // a handshake was seen, its fields come in this cycle
  uint64_t credits_ = 0;
  uint64_t due_ = UINT64_MAX;  // cycle of the next credits
  uint64_t last_beat_ = 0;  // tick of the last beat
  uint64_t first_ = 0, held_since_ = 0, ordinal_ = 0, watchdog_ = 0;
  std::vector<Grant> pending_;
  size_t next_ = 0;
  Stall stall_;
};

}  // namespace nictwin
