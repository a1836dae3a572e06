// The beats of an input stream on their way to the shell.
#pragma once

#include <cstdint>
#include <cstring>
#include <deque>
#include <vector>

#include "source.hpp"

namespace nictwin {

// The properties of a stream that decide how its beats are encoded.
struct FeederShape {
  uint8_t index = 0;  // number among the inputs
  bool level = false, packets = false, side_held = false;
  uint32_t data_bytes = 0, keep_unit = 0, side_bytes = 0;

  uint32_t keep_bytes() const { return keep_unit == 0 ? 0 : (data_bytes / keep_unit + 7) / 8; }
  // Bytes of a beat in a message: 1, a zero, if the stream has no pins but its handshake.
  uint32_t payload() const {
    const uint32_t n = data_bytes + keep_bytes() + (packets ? 1 : 0) + side_bytes;
    return n == 0 ? 1 : n;
  }
};

// Cuts transactions into beats, and knows which of them the shell still holds: it has room for `depth` of them.
class Feeder {
 public:
  Feeder(const FeederShape& shape, uint32_t depth) : shape_(shape), depth_(depth) {}

  // epoch: the number of resets that were announced before the transaction.
  void push(const Record& rec, Buffer* home, uint64_t epoch) {
    queue_.push_back({rec.cycle, rec.side, rec.data, rec.data_len, home, epoch});
    home->users++;
  }
  // Returns whether there are beats that have not been sent.
  bool more() const { return !queue_.empty(); }
  // Returns whether the shell has room for the next beat. A beat of an earlier epoch needs none: it is dropped at once.
  bool ready(uint64_t epoch) const { return more() && (held_.size() < depth_ || old(queue_.front().epoch, epoch)); }
  // The shell has given a beat to the device. Returns false if it held none.
  bool taken() {
    if (held_.empty()) return false;
    held_.pop_front();
    return true;
  }
  // A reset begins: the shell drops what belongs to an earlier epoch.
  void drop(uint64_t epoch) {
    while (!held_.empty() && old(held_.front(), epoch)) held_.pop_front();
  }

  // Appends the message of the next beat.
  void encode(std::vector<uint8_t>& out, uint64_t epoch) {
    constexpr uint64_t kMostCycle = (uint64_t{1} << 48) - 1;
    const Txn& x = queue_.front();
    const uint32_t left = x.len - at_, n = left < shape_.data_bytes ? left : shape_.data_bytes;
    const bool first = at_ == 0, last = left <= shape_.data_bytes;
    const bool more = !last || queue_.size() > 1;
    if (!old(x.epoch, epoch)) held_.push_back(x.epoch);
    out.push_back(2);
    out.push_back(shape_.index);
    out.push_back(uint8_t((first ? 1 : 0) | (last ? 2 : 0) | (more ? 4 : 0)));
    out.push_back(uint8_t(x.epoch));
    const uint64_t cycle = x.not_before < kMostCycle ? x.not_before : kMostCycle;
    for (unsigned i = 0; i < 6; i++) out.push_back(uint8_t(cycle >> (8 * i)));
    const size_t at = out.size();
    out.resize(at + shape_.payload());
    uint8_t* p = out.data() + at;
    if (n != 0) std::memcpy(p, x.data + at_, n);
    p += shape_.data_bytes;
    if (shape_.keep_unit != 0) {
      const uint32_t units = (n + shape_.keep_unit - 1) / shape_.keep_unit;
      for (uint32_t i = 0; i < units; i++) p[i / 8] = uint8_t(p[i / 8] | 1u << i % 8);
      p += shape_.keep_bytes();
    }
    if (shape_.packets) *p++ = last;
    if (shape_.side_bytes != 0 && (first || shape_.side_held)) std::memcpy(p, x.side, shape_.side_bytes);
    at_ += shape_.data_bytes;
    if (!last) return;
    x.home->users--;
    queue_.pop_front();
    at_ = 0;
  }

 private:
  struct Txn {
    uint64_t not_before;
    const uint8_t* side;
    const uint8_t* data;
    uint32_t len;
    Buffer* home;
    uint64_t epoch;
  };

  bool old(uint64_t beat, uint64_t epoch) const { return !shape_.level && beat < epoch; }

  FeederShape shape_;
  uint32_t depth_;
  std::deque<Txn> queue_;
  std::deque<uint64_t> held_;  // epochs of the beats that the shell holds
  uint32_t at_ = 0;            // bytes of the first transaction that have been sent
};

}  // namespace nictwin
