#include "admission.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>

#include "notice.hpp"
#include "open.hpp"

namespace nictwin {

namespace {

using Clock = std::chrono::steady_clock;

// A client whose OPEN frame is still incomplete.
struct Applicant {
  int fd;
  std::string who;
  Clock::time_point end;
  size_t have = 0;  // bytes received of the frame
  uint8_t frame[kOpenFrame] = {};
};

// Describes the peer of a connection in messages, by the address that accept returned: a connection that was reset no
// longer has one.
std::string peer_name(int fd, const sockaddr_in& at) {
  char text[INET_ADDRSTRLEN];
  if (at.sin_family == AF_INET && inet_ntop(AF_INET, &at.sin_addr, text, sizeof text) != nullptr) {
    return std::string(text) + ":" + std::to_string(ntohs(at.sin_port));
  }
  ucred peer{};
  socklen_t n = sizeof peer;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) != 0) return "somebody";
  return "process " + std::to_string(peer.pid) + " of user " + std::to_string(peer.uid);
}

// Refuses clients. Reports only the first ones by name: otherwise anybody who can connect could fill a disk.
class Doorman {
 public:
  void refuse(Applicant& a, const SessionError& why);

 private:
  uint64_t refused_ = 0;
};

void Doorman::refuse(Applicant& a, const SessionError& why) {
  refused_++;
  const std::string one = a.who + ": " + why.text;
  if (refused_ <= kNamedRefusals) {
    notice("refused " + one);
  } else if ((refused_ & (refused_ - 1)) == 0) {
    notice("refused " + std::to_string(refused_) + " clients in all, the last one " + one);
  }
  Writer w;
  encode_error(w, why.code, 0, why.text);
  // Does not wait: bytes that do not fit into the socket are lost.
  (void)!send(a.fd, w.data(), w.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  shutdown(a.fd, SHUT_WR);
  // Unread bytes would make close() reset the connection and discard the frame.
  uint8_t rest[4096];
  for (int i = 0; i < 16 && recv(a.fd, rest, sizeof rest, MSG_DONTWAIT) > 0; i++) {
  }
  close(a.fd);
  a.fd = -1;
}

// Receives bytes from a client. Returns true once its OPEN frame is complete and correct; a refused client has its
// socket closed.
bool advance(Applicant& a, const uint8_t* token, Doorman& doorman) {
  ssize_t n = recv(a.fd, a.frame + a.have, kOpenFrame - a.have, MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  try {
    if (n <= 0) {
      throw SessionError{ErrorCode::kProtocol, "it closed the connection after " + std::to_string(a.have) + " of the " +
                                                   std::to_string(kOpenFrame) + " bytes of an OPEN frame"};
    }
    a.have += size_t(n);
    if (a.have >= kFrameHeader) check_open_head(a.frame);
    if (a.have < kOpenFrame) return false;
    check_open(a.frame, token);
    return true;
  } catch (const SessionError& e) {
    doorman.refuse(a, e);
    return false;
  }
}

class Admission {
 public:
  Admission(int listening, const std::string& token)
      : listening_(listening), token_(reinterpret_cast<const uint8_t*>(token.data())) {}

  int run(std::string& error) {
    for (;;) {
      if (!wait()) break;
      if (int fd = admitted(); fd >= 0) return fd;
      expire();
      if (ready_[0].revents != 0 && !accept_client()) break;
    }
    error = std::string("accept: ") + std::strerror(errno);
    while (!applicants_.empty()) turn_away({ErrorCode::kInternal, error});
    return -1;
  }

 private:
  // Waits until a client connects, sends, or has used up its time.
  bool wait() {
    ready_.assign(1, {listening_, POLLIN, 0});
    for (const Applicant& a : applicants_) ready_.push_back({a.fd, POLLIN, 0});
    int ms = -1;
    if (!applicants_.empty()) {
      auto left = std::chrono::ceil<std::chrono::milliseconds>(applicants_.front().end - Clock::now());
      ms = int(std::max<int64_t>(left.count(), 0));
    }
    if (poll(ready_.data(), ready_.size(), ms) >= 0) return true;
    for (pollfd& p : ready_) p.revents = 0;
    return errno == EINTR;
  }

  // Returns the socket of a client that has the token, or -1.
  int admitted() {
    std::optional<size_t> first;
    for (size_t i = 0; i < applicants_.size() && !first; i++) {
      if (ready_[i + 1].revents != 0 && advance(applicants_[i], token_, doorman_)) first = i;
    }
    if (!first) {
      forget();
      return -1;
    }
    int fd = applicants_[*first].fd;
    applicants_[*first].fd = -1;
    forget();
    while (!applicants_.empty()) turn_away({ErrorCode::kLimit, "another client has the session"});
    return fd;
  }

  // Refuses applicants whose time is up. All have the same time, so the first applicant is the oldest.
  void expire() {
    const std::string why = "no complete OPEN frame within " + std::to_string(kOpenSeconds) + " s";
    while (!applicants_.empty() && applicants_.front().end <= Clock::now()) turn_away({ErrorCode::kProtocol, why});
  }

  // Accepts a client. Returns false if none can ever be accepted.
  bool accept_client() {
    sockaddr_in from{};
    socklen_t n = sizeof from;
    int fd = accept4(listening_, reinterpret_cast<sockaddr*>(&from), &n, SOCK_CLOEXEC);
    if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)) {
      if (applicants_.empty()) return false;
      turn_away({ErrorCode::kLimit, "the device has no room for more clients"});
      return true;
    }
    if (fd < 0) return errno != EBADF && errno != EINVAL && errno != ENOTSOCK;
    if (applicants_.size() == kMaxApplicants) turn_away({ErrorCode::kLimit, "too many clients without an OPEN frame"});
    applicants_.push_back({fd, peer_name(fd, from), Clock::now() + std::chrono::seconds(kOpenSeconds)});
    return true;
  }

  void turn_away(const SessionError& why) {
    doorman_.refuse(applicants_.front(), why);
    forget();
  }

  void forget() {
    auto gone = [](const Applicant& a) { return a.fd < 0; };
    applicants_.erase(std::remove_if(applicants_.begin(), applicants_.end(), gone), applicants_.end());
  }

  int listening_;
  const uint8_t* token_;
  Doorman doorman_;
  std::vector<Applicant> applicants_;  // oldest first
  std::vector<pollfd> ready_;          // the listening socket, then the applicants
};

}  // namespace

int admit(int listening, const std::string& token, std::string& error) {
  return Admission(listening, token).run(error);
}

}  // namespace nictwin
