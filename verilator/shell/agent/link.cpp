#include "link.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "open.hpp"
#include "options.hpp"

namespace nictwin {

namespace {

constexpr uint8_t kStart = 0x9d;
constexpr uint8_t kNack = 1u << 2;
constexpr uint64_t kResetNs = 100'000'000;  // between two attempts to begin a session
constexpr int kMostReads = 16;               // in a row: a board may send faster than frames are looked for

[[noreturn]] void fail(const std::string& text) { throw SessionError{kLinkError, "link: " + text}; }

// Reports the end of the byte streams: a program that ends with bytes unread resets them.
[[noreturn]] void gone() {
  if (errno == 0 || errno == ECONNRESET || errno == EPIPE) fail("the board has closed it");
  fail(std::string("the board is gone: ") + std::strerror(errno));
}

std::array<uint32_t, 256> crc_table() {
  std::array<uint32_t, 256> t{};
  for (uint32_t i = 0; i < 256; i++) {
    uint32_t c = i;
    for (int k = 0; k < 8; k++) c = (c >> 1) ^ ((c & 1) != 0 ? 0x82f63b78u : 0);
    t[i] = c;
  }
  return t;
}

}  // namespace

uint32_t crc32c(uint32_t crc, const uint8_t* p, size_t n) {
  static const std::array<uint32_t, 256> table = crc_table();
  for (size_t i = 0; i < n; i++) crc = (crc >> 8) ^ table[(crc ^ p[i]) & 0xff];
  return crc;
}

LinkFaults::Fault LinkFaults::draw() {
  if (percent_ == 0 || next() % 100 >= percent_) return Fault::kNone;
  constexpr Fault faults[] = {Fault::kLost, Fault::kDoubled, Fault::kDamaged};
  count_++;
  return faults[next() % 3];
}

void LinkFaults::damage(uint8_t* p, size_t n) {
  const uint64_t bit = next() % (8 * n);
  p[bit / 8] = uint8_t(p[bit / 8] ^ 1u << bit % 8);
}

Link::Link(int in, int out, size_t word, LinkFaults faults) : in_(in), out_(out), word_(word), faults_(faults) {
  for (int fd : {in_, out_}) fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

Link::~Link() {
  close(in_);
  if (out_ != in_) close(out_);
}

void Link::begin() {
  const uint64_t begin = now_ns();
  uint8_t number = uint8_t(getpid() ^ (begin >> 10));
  heard_ns_ = begin;
  for (uint64_t tried = 0, next = 0; !open_; pump(1)) {
    check_limit(begin);
    if (now_ns() < next) continue;
    if (tried++ % 10 == 0) session_ = ++number == 0 ? ++number : number;
    next = now_ns() + kResetNs;
    put_frame(LinkFrame::kReset, 0, {});
  }
}

void Link::flush() {
  while (!pending_.empty()) {
    const size_t n = std::min(pending_.size(), kPayload);
    kept_.push_back({std::vector<uint8_t>(pending_.begin(), pending_.begin() + std::ptrdiff_t(n))});
    pending_.erase(pending_.begin(), pending_.begin() + std::ptrdiff_t(n));
  }
  pump(0);
}

void Link::read(uint8_t* p, size_t n) {
  const uint64_t begin = now_ns();
  for (uint64_t asked = begin, wait = std::max(kSilenceNs, resend_ns_); payload_.size() < n; pump(1)) {
    check_limit(begin);
    if (waits_) waits_();
    if (now_ns() - std::max(asked, heard_ns_) < wait) continue;
    asked = now_ns();
    wait = std::min(2 * wait, kPatienceNs);
    nack_due_ = true;
  }
  std::copy_n(payload_.begin(), n, p);
  payload_.erase(payload_.begin(), payload_.begin() + std::ptrdiff_t(n));
}

void Link::check_limit(uint64_t since) {
  if (now_ns() - std::max(since, heard_ns_) < limit_ns_) return;
  const std::string limit = std::to_string(limit_ns_ / 1'000'000'000) + " s";
  const std::string strange = strange_ == 0 ? "" : ", but " + std::to_string(strange_) + " bytes that are no frames";
  if (open_) fail("the board has sent nothing new for " + limit + strange);
  fail("the board has not answered for " + limit + strange + ": is it a shell, and is the width of the link right?");
}

// Frames that the shell may have missed are sent again from the oldest on; then as many new ones as may be under way.
// The shell asks once for each frame that it cannot use, so what is under way goes again once only.
void Link::queue_frames() {
  const uint64_t now = now_ns();
  const bool late = sent_ != 0 && wire_.empty() && now - kept_.front().sent_ns > resend_ns_;
  if (late) resend_ns_ = std::min(2 * resend_ns_, kPatienceNs);
  if (late || (nacked_ && !rewound_)) {
    rewound_ = true;
    sent_ = 0;
  }
  nacked_ = false;
  for (; open_ && sent_ < std::min(kept_.size(), kWindow); sent_++) {
    Kept& k = kept_[sent_];
    k.sent_ns = now;
    repeated_ += k.sent++ != 0;
    put_frame(LinkFrame::kData, uint8_t(base_ + sent_), k.payload);
  }
  if (ack_due_ || nack_due_) put_frame(LinkFrame::kAck, 0, {});
}

void Link::put_frame(LinkFrame kind, uint8_t seq, const std::vector<uint8_t>& payload) {
  const size_t n = payload.size(), begin = wire_.size();
  const uint8_t head[kHead] = {kStart, uint8_t(uint8_t(kind) | (nack_due_ ? kNack : 0)), session_, seq, expect_,
                               uint8_t(n), uint8_t(n >> 8)};
  wire_.insert(wire_.end(), head, head + kHead);
  wire_.insert(wire_.end(), payload.begin(), payload.end());
  const uint32_t crc = ~crc32c(~0u, wire_.data() + begin + 1, kHead - 1 + n);
  for (unsigned i = 0; i < kCrc; i++) wire_.push_back(uint8_t(crc >> (8 * i)));
  while ((wire_.size() - begin) % word_ != 0) wire_.push_back(0);
  ack_due_ = nack_due_ = false;
  strike(begin);
}

// Draws a fault for the frame that begins at wire_[begin] and ends at wire_'s end, and applies it.
void Link::strike(size_t begin) {
  const size_t n = wire_.size() - begin;
  switch (faults_.draw()) {
    case LinkFaults::Fault::kNone: break;
    case LinkFaults::Fault::kLost: wire_.resize(begin); break;
    case LinkFaults::Fault::kDamaged: faults_.damage(wire_.data() + begin, n); break;
    case LinkFaults::Fault::kDoubled:
      wire_.resize(begin + 2 * n);
      std::copy_n(wire_.begin() + std::ptrdiff_t(begin), n, wire_.begin() + std::ptrdiff_t(begin + n));
  }
}

void Link::pump(int ms) {
  queue_frames();
  while (wire_at_ < wire_.size()) {
    errno = 0;
    const ssize_t n = ::write(out_, wire_.data() + wire_at_, wire_.size() - wire_at_);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) break;
    if (n <= 0) gone();
    wire_at_ += size_t(n);
  }
  if (wire_at_ == wire_.size()) {
    wire_.clear();
    wire_at_ = 0;
  }
  if (ms != 0) {
    pollfd fds[2] = {{in_, POLLIN, 0}, {out_, short(wire_.empty() ? 0 : POLLOUT), 0}};
    poll(fds, 2, ms);
  }
  uint8_t bytes[4096];
  for (int i = 0; i < kMostReads; i++) {
    errno = 0;
    const ssize_t n = ::read(in_, bytes, sizeof bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return;
    if (n <= 0) gone();
    receive(bytes, size_t(n));
    if (size_t(n) < sizeof bytes) return;
  }
}

void Link::receive(const uint8_t* p, size_t n) {
  raw_.insert(raw_.end(), p, p + n);
  while (take_frame()) {
  }
}

bool Link::take_frame() {
  auto start = std::find(raw_.begin(), raw_.end(), kStart);
  strange_ += uint64_t(std::count_if(raw_.begin(), start, [](uint8_t b) { return b != 0; }));  // zeros fill up words
  raw_.erase(raw_.begin(), start);
  if (raw_.size() < kHead) return false;
  const size_t n = size_t(raw_[5]) | size_t(raw_[6]) << 8;
  size_t used = 1;  // skips the start byte unless a frame follows
  if (n <= kPayload) {
    const size_t whole = kHead + n + kCrc;
    if (raw_.size() < whole) return false;
    const LinkFaults::Fault fault = faults_.draw();
    if (fault == LinkFaults::Fault::kDamaged) faults_.damage(raw_.data(), whole);
    const uint32_t crc = ~crc32c(~0u, raw_.data() + 1, kHead - 1 + n);
    uint32_t given = 0;
    for (unsigned i = 0; i < kCrc; i++) given |= uint32_t(raw_[kHead + n + i]) << (8 * i);
    if (crc == given) {
      if (fault != LinkFaults::Fault::kLost) handle(raw_.data(), n);
      if (fault == LinkFaults::Fault::kDoubled) handle(raw_.data(), n);
      used = whole;
      strange_ = 0;
    } else {
      nack_due_ = open_;
    }
  }
  strange_ += used == 1;
  raw_.erase(raw_.begin(), raw_.begin() + std::ptrdiff_t(used));
  return true;
}

void Link::handle(const uint8_t* frame, size_t length) {
  const LinkFrame kind = LinkFrame(frame[1] & 3);
  if (frame[2] != session_) return;
  if (kind == LinkFrame::kLost) {
    if (open_) fail("the board was reset, or another program has begun a session with it");
    return;
  }
  if (kind != LinkFrame::kData && kind != LinkFrame::kAck) return;
  acknowledged(frame[4]);
  if ((frame[1] & kNack) != 0) nacked_ = true;
  if (kind == LinkFrame::kAck) return;
  const uint8_t ahead = uint8_t(frame[3] - expect_);
  if (ahead == 0) {
    payload_.insert(payload_.end(), frame + kHead, frame + kHead + length);
    expect_++;
    open_ = true;
    heard_ns_ = now_ns();
  } else if (ahead < 0x80) {
    nack_due_ = true;
  }
  ack_due_ = true;
}

void Link::acknowledged(uint8_t ack) {
  const uint8_t n = uint8_t(ack - base_);
  // No more can be under way: else it is an old frame's, from before base_.
  if (n == 0 || n > std::min(kept_.size(), kWindow)) return;
  heard_ns_ = now_ns();
  if (const Kept& newest = kept_[n - 1u]; newest.sent == 1) {
    resend_ns_ = std::clamp(3 * (heard_ns_ - newest.sent_ns), kResendNs, kPatienceNs);
  }
  kept_.erase(kept_.begin(), kept_.begin() + n);
  base_ = ack;
  rewound_ = false;
  sent_ = sent_ > n ? sent_ - n : 0;
  if (sent_ != 0) kept_.front().sent_ns = heard_ns_;
}

}  // namespace nictwin
