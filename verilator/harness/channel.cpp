#include "channel.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>

namespace nictwin {

namespace {

// Time to poll before sleeping, as on the client's side (rtlbridge/transport.go), where it also depends on
// how long the client computes between frames.
constexpr int64_t kSpinNs = 100'000;
constexpr int64_t kStolenNs = 30'000;
constexpr uint32_t kRestMost = 256;
constexpr int kSocketPolls = 1, kSharedPolls = 100;  // polls per reading of the clock

int64_t clock_ns() {
  using namespace std::chrono;
  return duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()).count();
}

}  // namespace

Channel::Channel(int fd) : fd_(fd), spins_(std::thread::hardware_concurrency() > 1) {
  int one = 1;
  setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);  // refused by other kinds of socket, harmless
}

bool Channel::share(int memory_fd) {
  struct stat st;
  if (fstat(memory_fd, &st) != 0 || size_t(st.st_size) != kSharedBytes) return false;
  void* p = mmap(nullptr, kSharedBytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory_fd, 0);
  close(memory_fd);
  if (p == MAP_FAILED) return false;
  in_ = Ring(static_cast<uint8_t*>(p), 0);
  out_ = Ring(static_cast<uint8_t*>(p), 1);
  shared_ = true;
  return true;
}

// Reads available bytes without waiting; 0 if there are none.
size_t Channel::poll(uint8_t* at, size_t max) {
  if (shared_) {
    size_t n = in_.get(at, max);
    if (n != 0 && in_.writer_to_wake()) ring();
    return n;
  }
  ssize_t n = recv(fd_, at, max, MSG_DONTWAIT);
  if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) throw PeerGone{};
  return n > 0 ? size_t(n) : 0;
}

// Polls for up to kSpinNs; 0 if nothing came.
size_t Channel::spin(uint8_t* at, size_t max) {
  if (rest_ > 0 || !spins_) {
    if (rest_ > 0) rest_--;
    return poll(at, max);
  }
  const int step = shared_ ? kSharedPolls : kSocketPolls;
  int64_t begin = clock_ns();
  for (int64_t before = begin;;) {
    for (int i = 0; i < step; i++) {
      if (size_t n = poll(at, max); n != 0) {
        penalty_ /= 2;
        return n;
      }
    }
    int64_t now = clock_ns();
    if (now - before > kStolenNs || now - begin > kSpinNs) {
      penalty_ = std::min(2 * penalty_ + 1, kRestMost);
      rest_ = penalty_;
      return 0;
    }
    before = now;
  }
}

// Blocks until something may have come; 0 if nothing did.
size_t Channel::sleep(uint8_t* at, size_t max) {
  if (shared_) {
    if (in_.reader_sleeps()) await_ring();
    return poll(at, max);
  }
  ssize_t n = recv(fd_, at, max, 0);
  if (n < 0 && errno == EINTR) return 0;
  if (n <= 0) throw PeerGone{};
  return size_t(n);
}

size_t Channel::read(uint8_t* at, size_t min, size_t max) {
  size_t have = 0;
  while (have < min) {
    size_t n = spin(at + have, max - have);
    if (n == 0) n = sleep(at + have, max - have);
    have += n;
  }
  return have;
}

void Channel::write(const uint8_t* at, size_t n) {
  if (!shared_) return write_socket(at, n);
  while (n > 0) {
    size_t done = out_.put(at, n);
    if (done != 0 && out_.reader_to_wake()) ring();
    if (done == 0 && out_.writer_sleeps()) await_ring();
    at += done;
    n -= done;
  }
}

void Channel::write_socket(const uint8_t* at, size_t n) {
  while (n > 0) {
    ssize_t done = send(fd_, at, n, MSG_NOSIGNAL);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) throw PeerGone{};
    at += done;
    n -= size_t(done);
  }
}

// Wakes the peer. If the socket is already full of wake-up bytes, the peer will wake anyway.
void Channel::ring() {
  uint8_t one = 1;
  if (send(fd_, &one, 1, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 && errno != EAGAIN && errno != EINTR) throw PeerGone{};
}

void Channel::await_ring() {
  uint8_t bells[64];
  ssize_t n = recv(fd_, bells, sizeof bells, 0);
  if (n == 0 || (n < 0 && errno != EINTR)) throw PeerGone{};
}

void Channel::watch_peer() {
  std::thread([fd = fd_] {
    pollfd p{fd, POLLRDHUP, 0};
    for (;;) {
      int n = ::poll(&p, 1, -1);
      if (n > 0) break;
      if (n < 0 && errno != EINTR) return;
    }
    // Give the main thread time to end in order (it sees the same end of file), then force it.
    std::this_thread::sleep_for(std::chrono::seconds(2));
    _exit(0);
  }).detach();
}

}  // namespace nictwin
