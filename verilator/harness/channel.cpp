#include "channel.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace nictwin {

namespace {

// As on the other side, see rtlbridge/transport.go.
constexpr int64_t kSpinLeastNs = 20'000, kSpinMostNs = 250'000;
constexpr int64_t kWaitCapNs = 1'000'000;
constexpr int64_t kStolenNs = 30'000;
constexpr uint32_t kRest = 256;

int64_t clock_ns() {
  using namespace std::chrono;
  return duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()).count();
}

}  // namespace

Channel::Channel(int fd) : fd_(fd), spins_(std::thread::hardware_concurrency() > 1) {
  int one = 1;
  setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);  // refused by other kinds of socket, harmless
}

bool Channel::spin(uint8_t* at, size_t max, int64_t begin, size_t& got) {
  int64_t budget = 2 * usual_ns_ > kSpinLeastNs ? 2 * usual_ns_ : kSpinLeastNs;
  if (!spins_ || budget > kSpinMostNs) return false;
  if (rest_ > 0) {
    rest_--;
    return false;
  }
  for (int64_t before = begin;;) {
    ssize_t n = recv(fd_, at, max, MSG_DONTWAIT);
    if (n > 0) {
      got = size_t(n);
      return true;
    }
    if (n == 0 || (errno != EAGAIN && errno != EINTR)) throw PeerGone{};
    int64_t now = clock_ns();
    if (now - before > kStolenNs) rest_ = kRest;
    if (rest_ > 0 || now - begin > budget) return false;
    before = now;
  }
}

size_t Channel::read(uint8_t* at, size_t min, size_t max) {
  size_t have = 0;
  while (have < min) {
    size_t got = 0;
    int64_t begin = clock_ns();
    if (!spin(at + have, max - have, begin, got)) {
      ssize_t n = recv(fd_, at + have, max - have, 0);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) throw PeerGone{};
      got = size_t(n);
    }
    int64_t wait = clock_ns() - begin;
    usual_ns_ += ((wait < kWaitCapNs ? wait : kWaitCapNs) - usual_ns_) / 8;
    have += got;
  }
  return have;
}

void Channel::write(const uint8_t* at, size_t n) {
  while (n > 0) {
    ssize_t done = send(fd_, at, n, MSG_NOSIGNAL);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) throw PeerGone{};
    at += done;
    n -= size_t(done);
  }
}

void Channel::watch_peer() {
  std::thread([fd = fd_] {
    pollfd p{fd, POLLRDHUP, 0};
    for (;;) {
      int n = poll(&p, 1, -1);
      if (n > 0) break;
      if (n < 0 && errno != EINTR) return;
    }
    // Leave the main thread time to end in order (it sees the same end of file), then make sure.
    std::this_thread::sleep_for(std::chrono::seconds(2));
    _exit(0);
  }).detach();
}

namespace {

int fail(std::string& error, const std::string& what, int fd) {
  error = what + ": " + std::strerror(errno);
  if (fd >= 0) close(fd);
  return -1;
}

int accept_one(int fd, const std::string& shown, std::string& error) {
  if (listen(fd, 1) != 0) return fail(error, "listen on " + shown, fd);
  std::printf("listening %s\n", shown.c_str());
  std::fflush(stdout);
  int client = accept4(fd, nullptr, nullptr, SOCK_CLOEXEC);
  if (client < 0) return fail(error, "accept on " + shown, fd);
  close(fd);
  return client;
}

int listen_unix(const std::string& path, std::string& error) {
  sockaddr_un a{};
  a.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof a.sun_path) {
    error = "unix socket path of " + std::to_string(path.size()) + " bytes: needs 1 to " + std::to_string(sizeof a.sun_path - 1);
    return -1;
  }
  std::memcpy(a.sun_path, path.c_str(), path.size() + 1);
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return fail(error, "socket", fd);
  if (bind(fd, reinterpret_cast<sockaddr*>(&a), sizeof a) != 0) return fail(error, "bind unix:" + path, fd);
  return accept_one(fd, "unix:" + path, error);
}

int listen_tcp(const std::string& at, std::string& error) {
  size_t colon = at.rfind(':');
  sockaddr_in a{};
  a.sin_family = AF_INET;
  char* end = nullptr;
  unsigned long port = colon == std::string::npos ? 65536 : std::strtoul(at.c_str() + colon + 1, &end, 10);
  if (port > 65535 || end == nullptr || *end != 0 || inet_pton(AF_INET, at.substr(0, colon).c_str(), &a.sin_addr) != 1) {
    error = "tcp address \"" + at + "\": needs A.B.C.D:port";
    return -1;
  }
  a.sin_port = htons(uint16_t(port));
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  int one = 1;
  if (fd < 0) return fail(error, "socket", fd);
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  if (bind(fd, reinterpret_cast<sockaddr*>(&a), sizeof a) != 0) return fail(error, "bind tcp:" + at, fd);
  socklen_t len = sizeof a;
  getsockname(fd, reinterpret_cast<sockaddr*>(&a), &len);
  return accept_one(fd, "tcp:" + at.substr(0, colon) + ":" + std::to_string(ntohs(a.sin_port)), error);
}

}  // namespace

int listen_once(const std::string& address, std::string& error) {
  if (address.compare(0, 5, "unix:") == 0) return listen_unix(address.substr(5), error);
  if (address.compare(0, 4, "tcp:") == 0) return listen_tcp(address.substr(4), error);
  error = "address \"" + address + "\": needs unix:/path or tcp:A.B.C.D:port";
  return -1;
}

}  // namespace nictwin
