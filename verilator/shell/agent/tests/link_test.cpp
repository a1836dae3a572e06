// Tests the host's end of the link against a shell that is played here: an acknowledgement older than all frames that
// are kept acknowledges nothing, and frames that the shell asks for many times are sent again once.

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <thread>

#include "link.hpp"
#include "open.hpp"

using namespace nictwin;

namespace {

constexpr size_t kBytes = 400 * Link::kPayload;  // more frames than sequence numbers
constexpr uint8_t kNack = 4;

void check(bool ok, const char* what) {
  if (ok) return;
  std::fprintf(stderr, "link_test: %s\n", what);
  _exit(1);
}

// A shell that answers a reset, takes frames in order but for one that it loses, and sends an old acknowledgement after
// each.
class Shell {
 public:
  explicit Shell(int fd) : fd_(fd) {}

  void run() {
    std::vector<uint8_t> in;
    uint8_t bytes[4096];
    for (ssize_t n; (n = ::read(fd_, bytes, sizeof bytes)) > 0;) {
      in.insert(in.end(), bytes, bytes + n);
      while (in.size() >= 11) {
        const size_t length = size_t(in[5]) | size_t(in[6]) << 8;
        if (in.size() < 11 + length) break;
        take(in.data(), length);
        in.erase(in.begin(), in.begin() + std::ptrdiff_t(11 + length));
      }
    }
  }

  std::atomic<size_t> received{0}, frames{0};

 private:
  void take(const uint8_t* frame, size_t length) {
    session_ = frame[2];
    if (LinkFrame(frame[1] & 3) == LinkFrame::kReset) return send(0, 1);
    if (LinkFrame(frame[1] & 3) != LinkFrame::kData) return;
    if (++frames == 40) return;  // it is lost, so each of those behind it is out of order
    if (const uint8_t ahead = uint8_t(frame[3] - expect_); ahead != 0) {
      if (ahead < 0x80) send(3 | kNack, 0);
      usleep(500);
      return;
    }
    for (size_t i = 0; i < length; i++) check(frame[7 + i] == uint8_t((received + i) * 7), "data");
    received += length;
    expect_++;
    send(3, 0);
    const uint8_t now = expect_;
    expect_ = uint8_t(now - 1);
    send(3, 0);
    expect_ = now;
  }

  // Sends a frame of a kind, with n bytes of payload.
  void send(uint8_t kind, uint8_t n) {
    std::vector<uint8_t> f{0x9d, kind, session_, 0, expect_, n, 0};
    f.resize(7u + n);
    const uint32_t crc = ~crc32c(~0u, f.data() + 1, f.size() - 1);
    for (unsigned i = 0; i < 4; i++) f.push_back(uint8_t(crc >> (8 * i)));
    const bool written = ::write(fd_, f.data(), f.size()) == ssize_t(f.size());
    check(written || (errno == EPIPE && received == kBytes), "write");  // the host may leave once all has come
  }

  int fd_;
  uint8_t session_ = 0, expect_ = 0;
};

}  // namespace

int main() {
  signal(SIGPIPE, SIG_IGN);
  int fds[2];
  check(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0, "socketpair");
  Shell shell(fds[1]);
  std::thread peer([&] { shell.run(); });
  try {
    Link link(fds[0], fds[0], 1, LinkFaults(0));
    link.begin();
    std::vector<uint8_t> data(kBytes);
    for (size_t i = 0; i < kBytes; i++) data[i] = uint8_t(i * 7);
    link.write(data.data(), data.size());
    for (int i = 0; i < 20'000 && shell.received < kBytes; i++) {
      link.flush();
      usleep(100);
    }
    check(shell.received == kBytes, "bytes are missing");
    check(link.repeated() < 60, "frames were sent again and again");
  } catch (const SessionError& e) {
    check(false, e.text.c_str());
  }
  peer.join();
}
