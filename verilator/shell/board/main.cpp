// A board that is simulated: shell and device verilated together. Only the two byte streams of the link leave, through
// standard input and output; descriptor 3 takes the reason if the design ends the simulation. Arguments: plusargs.

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "dut.hpp"
#include "stop.hpp"
#include "verilated.h"

namespace {

using In = nictwin_glue::Stream0;
using Out = nictwin_glue::Stream1;

constexpr size_t kWord = In::kSideBytes;
constexpr uint32_t kResetClocks = 16;
constexpr uint64_t kHalfPs = 5'000;       // half a period of the host clock, for $time
constexpr int kWordsFd = 3;               // takes the reason why the design stopped
constexpr uint32_t kBusyClocks = 50'000;  // clocks without traffic after which the board takes naps
constexpr uint32_t kNapClocks = 1'000;    // clocks from nap to nap
constexpr size_t kSoon = 4096;            // bytes for the link that are written without waiting for kFlushClocks

int g_link = -1;  // to the agent

class Board {
 public:
  // Runs until the link closes, or the design ends the simulation.
  int run() {
    In::set_valid(top_, false);
    Out::set_ready(top_, true);
    for (uint32_t i = 0; i <= kResetClocks; i++) {
      Dut::set_resets(top_, i < kResetClocks ? i : Dut::kResetCycles);
      clock();
    }
    for (quiet_ = 0; !nictwin::g_stop.requested;) {
      if (!receive()) return 0;
      send_word();
      if (!take_word() && ++quiet_ % kNapClocks == 0 && !flush()) return 0;
      if (quiet_ >= kBusyClocks && quiet_ % kNapClocks == 0) nap();
    }
    return 1;
  }

 private:
  void clock() {
    edge(false);
    edge(true);
  }

  void edge(bool high) {
    Dut::set_clock(top_, 0, high);
    top_.eval();
    Verilated::threadContextp()->timeInc(kHalfPs);
  }

  // Reads bytes from the link, if there is no whole word left. False at its end.
  bool receive() {
    if (have_ - at_ >= kWord || (quiet_ & 63) != 0) return true;
    for (size_t i = at_; i < have_; i++) bytes_[i - at_] = bytes_[i];
    have_ -= at_;
    at_ = 0;
    pollfd p{STDIN_FILENO, POLLIN, 0};
    if (poll(&p, 1, 0) <= 0) return true;
    const ssize_t n = read(STDIN_FILENO, bytes_ + have_, sizeof bytes_ - have_);
    if (n < 0) return errno == EINTR || errno == EAGAIN;
    have_ += size_t(n);
    return n != 0;
  }

  // Offers a word to the shell for a clock.
  void send_word() {
    const bool offers = have_ - at_ >= kWord;
    In::set_valid(top_, offers);
    if (offers) In::set_side(top_, bytes_ + at_);
    edge(false);
    if (offers && In::ready(top_)) {
      at_ += kWord;
      quiet_ = 0;
    }
  }

  // Takes a word from the shell, if it offers one, and lets the clock rise. Returns false if it did not.
  bool take_word() {
    const bool taken = Out::valid(top_);
    if (taken) {
      out_.resize(out_.size() + kWord);
      Out::get_side(top_, out_.data() + out_.size() - kWord);
    }
    edge(true);
    if (taken) last_ = 0;
    if (!taken && ++last_ == kFlushClocks) flush();
    if (taken && out_.size() >= kSoon) flush();
    if (taken) quiet_ = 0;
    return taken;
  }

  // Writes what the shell has sent. False if nobody reads it any more.
  bool flush() {
    size_t done = 0;
    while (done < out_.size()) {
      const ssize_t n = write(g_link, out_.data() + done, out_.size() - done);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0 && errno == EAGAIN) {
        pollfd p{g_link, POLLOUT, 0};
        poll(&p, 1, 1000);
        continue;
      }
      if (n <= 0) return false;
      done += size_t(n);
    }
    out_.clear();
    return true;
  }

  void nap() {
    pollfd p{STDIN_FILENO, POLLIN, 0};
    poll(&p, 1, 1);
  }

  static constexpr uint32_t kFlushClocks = 4;  // clocks without a word from the shell before its words are written

  nictwin_glue::Top top_;
  uint8_t bytes_[65536];
  size_t at_ = 0, have_ = 0;
  std::vector<uint8_t> out_;
  uint32_t quiet_ = 0;  // clocks without traffic
  uint32_t last_ = 0;   // clocks since the shell's last word
};

// Runs the board; returns the exit status.
int simulate(int argc, char** argv) {
  VerilatedContext& context = *Verilated::threadContextp();
  context.randReset(2);  // as class Device has it, so that $random draws the same
  context.commandArgs(argc, argv);
  try {
    return std::make_unique<Board>()->run();
  } catch (const nictwin::Fatal&) {
    return 1;
  }
}

// Tells the agent why the design ended the simulation.
void tell_stop() {
  const std::string text = char(nictwin::g_stop.code) + nictwin::g_stop.text;
  if (write(kWordsFd, text.data(), text.size()) < 0) std::fprintf(stderr, "%s\n", text.c_str() + 1);
}

}  // namespace

int main(int argc, char** argv) {
  g_link = dup(STDOUT_FILENO);
  dup2(STDERR_FILENO, STDOUT_FILENO);  // for what the design prints
  const int status = simulate(argc, argv);
  if (nictwin::g_stop.requested) tell_stop();
  return status;
}
