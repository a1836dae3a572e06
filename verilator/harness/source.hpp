// Drives one input stream of the device: transactions wait in a queue until their cycle and are presented beat by beat.
#pragma once

#include "protocol.hpp"
#include "random.hpp"

namespace nictwin {

// Memory that queued transactions point into; it is reused once none does.
struct Buffer {
  std::vector<uint8_t> bytes;
  uint32_t users = 0;
};

constexpr unsigned kNoStream = ~0u;

// S is the generated description of the stream: constants and static pin accessors (see rtlbridge's glue template).
template <class S>
class Source {
 public:
  using Stream = S;
  static constexpr unsigned kIndex = S::kIndex;

  void start(const Start& s) {
    const StreamStart& x = s.streams[S::kIndex];
    uint64_t key = sub_seed(s.seed, S::kName);
    stall_ = Stall(key, x.stall_percent, x.burst_log2);
    key_ = key;
    poison_ = (s.flags & kStartPoison) != 0;
    watchdog_ = s.watchdog;
  }

  // Drives all pins to zero: a design may power up with any values, including those of its inputs.
  template <class Top>
  void drive_idle(Top& t) {
    const uint8_t zeros[S::kDataBytes + 1] = {};
    S::set_valid(t, false);
    S::set_last(t, false);
    S::set_data(t, zeros);
    if constexpr (S::kKeepUnit != 0) S::set_keep(t, 0);
    if constexpr (S::kSideBytes != 0) clear_side(t);
  }

  void push(const Record& rec, Buffer* home) {
    if (count_ == ring_.size()) grow();
    ring_[(head_ + count_) & (ring_.size() - 1)] = Txn{rec.cycle, rec.side, rec.data, rec.data_len, home};
    count_++;
    home->users++;
  }

  // Marks the position of a reset after all transactions pushed so far; those not taken when it begins are
  // dropped.
  void mark_reset() { marks_.push_back(ordinal_ + count_); }

  // Executes the first marked reset: drops waiting transactions from before its mark, and withdraws the
  // offered beat.
  template <class Top, class Out>
  void reset(Top& t, uint64_t cycle, Out& out) {
    const uint64_t mark = marks_.front();
    marks_.erase(marks_.begin());
    if (S::kLevel) return;  // a level keeps its value
    report_held(cycle, out);
    held_since_ = kNever;
    while (ordinal_ < mark) pop();
    offered_ = pins_valid_ = false;
    drive_idle(t);
  }

  bool idle() const { return count_ == 0; }
  // Return the number of transactions taken, and of those offered in whole or in part.
  uint64_t taken() const { return ordinal_; }
  uint64_t begun() const { return ordinal_ + (at_ != 0 || offered_ ? 1 : 0); }
  // Returns whether a beat is on the pins.
  bool offered() const { return offered_; }

  // Returns the first cycle, from `cycle` on, in which the pins may change.
  uint64_t next_change(uint64_t cycle) const {
    if (count_ == 0) return UINT64_MAX;
    return at_ == 0 && ring_[head_].not_before > cycle ? ring_[head_].not_before : cycle;
  }
  // Returns whether nothing is offered or partly taken.
  bool quiet() const { return !offered_ && !pins_valid_ && at_ == 0; }

  // Called before the clock edge: sets the pins for this cycle, the tick-th of the stream's clock. may_begin:
  // coupled streams permit the first beat of a transaction.
  template <class Top>
  void drive(Top& t, uint64_t cycle, uint64_t tick, bool may_begin) {
    if (offered_) return;
    if (count_ != 0) {
      const Txn& x = ring_[head_];
      const bool due = at_ != 0 || (x.not_before <= cycle && may_begin);
      const bool together = S::kWith != kNoStream && at_ == 0;
      if (due && (together || !stall_(tick))) return present(t, x, tick);
      if (at_ != 0 && held_since_ == kNever) held_since_ = cycle;
    }
    if (pins_valid_) retire(t, tick);
  }

  // Reports the cycles before `cycle` for which a transaction in progress had no beat to offer.
  template <class Out>
  void report_held(uint64_t cycle, Out& out) {
    if (S::kClock != 0 || held_since_ >= cycle) return;  // true for kNever as well
    out.held(S::kIndex, held_since_, cycle - 1);
    held_since_ = cycle;
  }

  // Called after combinational settling: notes whether the beat was accepted.
  template <class Top, class Out>
  void sample(const Top& t, uint64_t cycle, uint64_t tick, Out& out) {
    if (!offered_) return;
    if (held_since_ != kNever) {
      report_held(cycle, out);
      held_since_ = kNever;
    }
    if (!S::ready(t)) {
      if (tick - since_ == watchdog_ && watchdog_ != 0) {
        out.violation(S::kIndex, Rule::kHangIn, ordinal_, cycle, watchdog_);
      }
      return;
    }
    offered_ = false;
    const Txn& x = ring_[head_];
    if (at_ == 0) first_ = cycle;
    bool end = x.len - at_ <= S::kDataBytes;
    if (at_ == 0 || end) {
      uint8_t flags = uint8_t((at_ == 0 ? kEventBegin : 0) | (end ? kEventEnd : 0));
      out.in(S::kIndex, flags, ordinal_, first_, cycle);
    }
    at_ += S::kDataBytes;
    if (end) pop();
  }

 private:
  static constexpr uint64_t kNever = UINT64_MAX;

  struct Txn {
    uint64_t not_before;
    const uint8_t* side;
    const uint8_t* data;
    uint32_t len;
    Buffer* home;
  };

  template <class Top>
  void present(Top& t, const Txn& x, uint64_t tick) {
    uint32_t left = x.len - at_;
    uint32_t n = left < S::kDataBytes ? left : S::kDataBytes;
    if (n == S::kDataBytes) {
      S::set_data(t, x.data + at_);
    } else {
      uint8_t beat[S::kDataBytes + 1] = {};
      if (n != 0) std::memcpy(beat, x.data + at_, n);
      S::set_data(t, beat);
    }
    if constexpr (S::kKeepUnit != 0) S::set_keep(t, (n + S::kKeepUnit - 1) / S::kKeepUnit);
    S::set_last(t, left <= S::kDataBytes);
    if constexpr (S::kSideBytes != 0) {
      if (at_ == 0 || S::kSideHeld) {
        S::set_side(t, x.side);
        side_set_ = true;
      } else if (side_set_) {
        clear_side(t);
      }
    }
    if (!pins_valid_) S::set_valid(t, true);
    pins_valid_ = offered_ = true;
    since_ = tick;
  }

  // Drives the pins for a cycle without a beat.
  template <class Top>
  void retire(Top& t, uint64_t tick) {
    if (S::kLevel) return;  // a level keeps its value
    S::set_valid(t, false);
    pins_valid_ = false;
    if (!poison_) return;
    uint8_t beat[S::kDataBytes + S::kSideBytes + 8] = {};
    for (size_t i = 0; i + 8 <= sizeof beat; i += 8) {
      uint64_t v = noise(key_ ^ i, tick);
      std::memcpy(beat + i, &v, 8);
    }
    S::set_data(t, beat);
    if constexpr (S::kKeepUnit != 0) S::set_keep(t, S::kDataBytes / S::kKeepUnit);
    S::set_last(t, (beat[0] & 1) != 0);
    if constexpr (S::kSideBytes != 0) {
      S::set_side(t, beat + sizeof beat - 8 - S::kSideBytes);
      side_set_ = true;
    }
  }

  template <class Top>
  void clear_side(Top& t) {
    const uint8_t zeros[S::kSideBytes + 1] = {};
    S::set_side(t, zeros);
    side_set_ = false;
  }

  void pop() {
    ring_[head_].home->users--;
    head_ = (head_ + 1) & (ring_.size() - 1);
    count_--;
    at_ = 0;
    ordinal_++;
  }

  void grow() {
    std::vector<Txn> bigger(ring_.size() * 2);
    for (size_t i = 0; i < count_; i++) bigger[i] = ring_[(head_ + i) & (ring_.size() - 1)];
    ring_.swap(bigger);
    head_ = 0;
  }

  std::vector<Txn> ring_ = std::vector<Txn>(64);
  size_t head_ = 0, count_ = 0;
  std::vector<uint64_t> marks_;  // for each reset: the ordinal of the first transaction after it
  uint32_t at_ = 0;          // bytes of the head transaction already accepted; whole beats
  bool offered_ = false;     // a beat is on the pins and not accepted
  bool pins_valid_ = false;  // tvalid as last driven
  bool side_set_ = false;
  uint64_t held_since_ = kNever;  // first cycle of an interval within a transaction without a beat
  bool poison_ = false;
  uint64_t since_ = 0;  // tick in which the current beat was first offered
  uint64_t first_ = 0, ordinal_ = 0, watchdog_ = 0, key_ = 0;
  Stall stall_;
};

}  // namespace nictwin
