// The host's end of the link to a shell: payloads in frames with sequence numbers and CRC-32C over a pair of byte
// streams, each kept until the shell has acknowledged it (docs/emulation.md). Nothing here knows a device.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "protocol.hpp"
#include "random.hpp"

namespace nictwin {

// Code of the ERROR frame for a failure of the board or of the link to it (docs/bridge.md).
constexpr ErrorCode kLinkError = static_cast<ErrorCode>(9);

// Longest time in which nothing new comes from the board. While a session begins or ends it is shorter than the client's
// limit, which starts with START or STOP: then the client learns that it was the board. Between, RAN frames restart that
// one.
constexpr uint64_t kLinkLimitNs = 8'000'000'000, kEndsLimitNs = 6'000'000'000;
// Shortest time without an acknowledgement after which frames are sent again.
constexpr uint64_t kResendNs = 50'000'000;
// Shortest silence after which a waiting host asks the shell to send again what it may have sent.
constexpr uint64_t kSilenceNs = 100'000'000;
// Both times double while nothing new comes, up to this one: a board may be slow.
constexpr uint64_t kPatienceNs = 2'000'000'000;

uint32_t crc32c(uint32_t crc, const uint8_t* p, size_t n);

// Kinds of frames.
enum class LinkFrame : uint8_t { kData, kReset, kLost, kAck };

// A link that loses, doubles and damages frames, both ways, to test that no result depends on it.
class LinkFaults {
 public:
  enum class Fault { kNone, kLost, kDoubled, kDamaged };

  explicit LinkFaults(uint64_t percent) : percent_(percent) {}
  // Draws what happens to the next frame.
  Fault draw();
  // Flips a bit of n bytes.
  void damage(uint8_t* p, size_t n);
  // Returns the number of frames that were lost, doubled or damaged.
  uint64_t count() const { return count_; }

 private:
  uint64_t next() { return noise(1, n_++); }

  uint64_t percent_, n_ = 0, count_ = 0;
};

class Link {
 public:
  static constexpr size_t kPayload = 256;

  // in and out: descriptors, which the link closes; word: bytes of a word of the link, to which frames are padded.
  Link(int in, int out, size_t word, LinkFaults faults);
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  // Begins a session; the shell clears everything, and answers. Throws SessionError, as all that follow.
  void begin();
  // Queues bytes; flush sends them.
  void write(const uint8_t* p, size_t n) { pending_.insert(pending_.end(), p, p + n); }
  void flush();
  // Has a function called while read waits. From here on, the limit is kLinkLimitNs.
  void while_waiting(std::function<void()> f) {
    waits_ = std::move(f);
    limit_ns_ = kLinkLimitNs;
  }
  // The session is about to end: no function is called any more, and the limit is kEndsLimitNs.
  void ending() {
    waits_ = {};
    limit_ns_ = kEndsLimitNs;
  }
  // Reads exactly n bytes.
  void read(uint8_t* p, size_t n);
  // Frames that were lost, doubled or damaged on purpose, and those that were sent again.
  uint64_t faults() const { return faults_.count(); }
  uint64_t repeated() const { return repeated_; }

 private:
  struct Kept {
    std::vector<uint8_t> payload;
    uint64_t sent_ns = 0;
    uint32_t sent = 0;  // how often
  };
  // Largest number of frames sent and not acknowledged.
  static constexpr size_t kWindow = 16;
  static constexpr size_t kHead = 7, kCrc = 4;

  // Moves bytes both ways; waits for at most ms if there are none.
  void pump(int ms);
  void queue_frames();
  void put_frame(LinkFrame kind, uint8_t seq, const std::vector<uint8_t>& payload);
  void strike(size_t begin);
  void receive(const uint8_t* p, size_t n);
  // Takes a whole frame from the front of raw_. Returns false while it is incomplete.
  bool take_frame();
  void handle(const uint8_t* frame, size_t length);
  void acknowledged(uint8_t ack);
  void check_limit(uint64_t since);

  int in_, out_;
  size_t word_;
  LinkFaults faults_;
  uint8_t session_ = 0;
  bool open_ = false;            // the shell has answered in this session
  std::vector<uint8_t> pending_;  // bytes that are in no frame yet
  std::deque<Kept> kept_;        // frames base_, base_ + 1, ...
  uint8_t base_ = 0;             // sequence number of the oldest frame that is kept
  size_t sent_ = 0;              // frames of kept_ that have been sent
  std::vector<uint8_t> wire_;    // bytes to the board
  size_t wire_at_ = 0;
  std::vector<uint8_t> raw_;     // bytes from the board, not yet parsed
  std::deque<uint8_t> payload_;  // bytes of valid frames
  uint8_t expect_ = 0;           // sequence number of the shell's next frame
  bool ack_due_ = false, nack_due_ = false, nacked_ = false;
  bool rewound_ = false;         // the frames under way have been asked for again since the latest acknowledgement
  uint64_t resend_ns_ = kResendNs;
  uint64_t repeated_ = 0;
  uint64_t limit_ns_ = kEndsLimitNs;
  uint64_t strange_ = 0;         // bytes outside of valid frames since the latest valid one
  std::function<void()> waits_;
  uint64_t heard_ns_ = 0;        // when the latest new payload or acknowledgement came
};

}  // namespace nictwin
