// Consumers of the device's events: Recorder writes them into a RAN frame, Counter only counts them and
// computes the digest.
#pragma once

#include <functional>

#include "digest.hpp"
#include "protocol.hpp"

namespace nictwin {

// Violations of one rule that are reported per stream; later ones are only counted, so that a faulty stream
// cannot flood the client.
constexpr uint32_t kMaxReports = 64;

class ViolationLimit {
 public:
  bool pass(uint8_t stream, Rule r) { return seen_[stream][static_cast<size_t>(r)]++ < kMaxReports; }

 private:
  uint32_t seen_[kMaxStreams][static_cast<size_t>(Rule::kRuleCount)] = {};
};

// Serialises events as the records of a RAN frame; space for the frame's headers is left before them.
class Recorder {
 public:
  // full is called between events once the frame exceeds kSoftLimit; it should send the frame and call begin.
  Recorder(size_t n_observe, std::function<void()> full) : n_observe_(n_observe), full_(std::move(full)) {}

  static constexpr size_t kSoftLimit = 1u << 20;

  void begin() {
    w_.clear();
    w_.extend(kFrameHeader + sizeof(RanHead) + n_observe_ * sizeof(Observed));
    records_ = 0;
  }

  void in(uint8_t stream, uint8_t flags, uint64_t ordinal, uint64_t first, uint64_t last) {
    head(EventHead{EventType::kIn, stream, flags, 0, 0, ordinal, first, last});
  }
  void out(uint8_t stream, uint64_t ordinal, uint64_t first, uint64_t last, const uint8_t* side, size_t side_len,
           const uint8_t* data, uint32_t len) {
    head(EventHead{EventType::kOut, stream, 0, 0, len, ordinal, first, last});
    w_.padded(side, side_len);
    w_.padded(data, len);
  }
  void violation(uint8_t stream, Rule rule, uint64_t ordinal, uint64_t cycle, uint64_t arg) {
    if (!limit_.pass(stream, rule)) return;
    head(EventHead{EventType::kViolation, stream, 0, static_cast<uint8_t>(rule), 0, ordinal, cycle, arg});
  }
  void idle_interval(uint64_t first, uint64_t last) { head(EventHead{EventType::kRest, 0, 0, 0, 0, 0, first, last}); }
  // Reports an interval in which a stream was held back. Unlike head(), never calls full_, which itself calls held().
  void held(uint8_t stream, uint64_t first, uint64_t last) {
    append(EventHead{EventType::kHeld, stream, 0, 0, 0, 0, first, last});
  }

  // Completes the frame: writes its headers and the observed values. The frame is then data()..data()+size().
  void finish(RanHead h, const Observed* observed) {
    h.records = records_;
    h.n_observe = uint16_t(n_observe_);
    uint8_t* at = w_.data();
    encode_head(at, Frame::kRan, uint32_t(w_.size() - kFrameHeader));
    std::memcpy(at + kFrameHeader, &h, sizeof h);
    if (n_observe_ != 0) std::memcpy(at + kFrameHeader + sizeof h, observed, n_observe_ * sizeof(Observed));
  }
  const uint8_t* data() const { return w_.data(); }
  size_t size() const { return w_.size(); }

 private:
  void head(const EventHead& e) {
    if (w_.size() > kSoftLimit) full_();
    append(e);
  }
  void append(const EventHead& e) {
    std::memcpy(w_.extend(sizeof e), &e, sizeof e);
    records_++;
  }

  Writer w_;
  ViolationLimit limit_;
  uint32_t records_ = 0;
  size_t n_observe_;
  std::function<void()> full_;
};

// Counts events and folds them into the digest that a Recorder's records would give.
class Counter {
 public:
  void in(uint8_t stream, uint8_t flags, uint64_t ordinal, uint64_t first, uint64_t last) {
    add(EventHead{EventType::kIn, stream, flags, 0, 0, ordinal, first, last});
    inputs += (flags & kEventEnd) != 0;
  }
  void out(uint8_t stream, uint64_t ordinal, uint64_t first, uint64_t last, const uint8_t* side, size_t side_len,
           const uint8_t* data, uint32_t len) {
    add(EventHead{EventType::kOut, stream, 0, 0, len, ordinal, first, last});
    digest.add(side, side_len);
    digest.add(data, len);
    outputs++;
  }
  void violation(uint8_t stream, Rule rule, uint64_t ordinal, uint64_t cycle, uint64_t arg) {
    if (!limit_.pass(stream, rule)) return;
    add(EventHead{EventType::kViolation, stream, 0, static_cast<uint8_t>(rule), 0, ordinal, cycle, arg});
    violations++;
  }
  void idle_interval(uint64_t first, uint64_t last) { add(EventHead{EventType::kRest, 0, 0, 0, 0, 0, first, last}); }
  void held(uint8_t, uint64_t, uint64_t) {}  // not part of the digest

  Digest digest;
  uint64_t inputs = 0, outputs = 0, violations = 0;

 private:
  void add(const EventHead& e) {
    uint8_t head[sizeof e];
    std::memcpy(head, &e, sizeof e);
    digest.add(head, sizeof e);
  }
  ViolationLimit limit_;
};

}  // namespace nictwin
