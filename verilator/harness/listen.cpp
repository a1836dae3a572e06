#include "listen.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <thread>

#include "admission.hpp"

namespace nictwin {

namespace {

int fail(std::string& error, const std::string& what, int fd) {
  error = what + ": " + std::strerror(errno);
  if (fd >= 0) close(fd);
  return -1;
}

// Connected clients that may wait to be accepted.
constexpr int kBacklog = 64;

int await_client(int fd, const std::string& shown, const std::string& token, std::string& error) {
  if (listen(fd, kBacklog) != 0) return fail(error, "listen on " + shown, fd);
  std::printf("listening %s\n", shown.c_str());
  std::fflush(stdout);
  int client = admit(fd, token, error);
  close(fd);
  return client;
}

// The file of the listening socket: its name and identity, so that no other file is removed.
struct SocketFile {
  sockaddr_un at{};
  struct stat is{};

  void remove() const {
    struct stat now;
    if (lstat(at.sun_path, &now) == 0 && now.st_dev == is.st_dev && now.st_ino == is.st_ino) unlink(at.sun_path);
  }
} g_file;

void remove_and_end(int signal) {
  g_file.remove();
  raise(signal);  // has its default effect once this handler has returned
}

constexpr int kEndings[] = {SIGHUP, SIGINT, SIGTERM};

// Lets signals that end the process remove the file, except those that the process was started to ignore.
void remove_at_end() {
  struct sigaction now, then{};
  then.sa_handler = remove_and_end;
  then.sa_flags = SA_RESETHAND;
  for (int s : kEndings) {
    if (sigaction(s, nullptr, &now) == 0 && now.sa_handler == SIG_DFL) sigaction(s, &then, nullptr);
  }
}

// Returns whether the file is a socket without a listener. The test uses a datagram socket, which never becomes a
// client: a socket with a listener refuses it as the wrong type.
bool is_left_behind(const sockaddr_un& at) {
  int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  struct stat is;
  bool left = lstat(at.sun_path, &is) == 0 && S_ISSOCK(is.st_mode) &&
              connect(fd, reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0 && errno == ECONNREFUSED;
  close(fd);
  return left;
}

// Binds a socket to the file. From then on, a signal that ends the process also removes the file.
bool bind_file(int fd) {
  sigset_t endings, before;
  sigemptyset(&endings);
  for (int s : kEndings) sigaddset(&endings, s);
  pthread_sigmask(SIG_BLOCK, &endings, &before);
  auto* at = reinterpret_cast<const sockaddr*>(&g_file.at);
  bool bound = bind(fd, at, sizeof g_file.at) == 0;
  if (!bound && errno == EADDRINUSE) {
    bool left = is_left_behind(g_file.at);
    errno = EADDRINUSE;
    bound = left && unlink(g_file.at.sun_path) == 0 && bind(fd, at, sizeof g_file.at) == 0;
  }
  int fault = errno;
  if (bound && lstat(g_file.at.sun_path, &g_file.is) == 0) remove_at_end();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = fault;
  return bound;
}

int listen_unix(const std::string& path, const std::string& token, std::string& error) {
  sockaddr_un& a = g_file.at;
  a.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof a.sun_path) {
    error = "unix socket path of " + std::to_string(path.size()) + " bytes: needs 1 to " +
            std::to_string(sizeof a.sun_path - 1);
    return -1;
  }
  std::memcpy(a.sun_path, path.c_str(), path.size() + 1);
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return fail(error, "socket", fd);
  if (!bind_file(fd)) return fail(error, "bind unix:" + path, fd);
  int client = await_client(fd, "unix:" + path, token, error);
  g_file.remove();
  return client;
}

bool parse_tcp(const std::string& at, sockaddr_in& a) {
  size_t colon = at.rfind(':');
  if (colon == std::string::npos) return false;
  const std::string port = at.substr(colon + 1);
  if (port.empty() || port.size() > 5 || port.find_first_not_of("0123456789") != std::string::npos ||
      std::stoul(port) > 65535) {
    return false;
  }
  a.sin_family = AF_INET;
  a.sin_port = htons(uint16_t(std::stoul(port)));
  return inet_pton(AF_INET, at.substr(0, colon).c_str(), &a.sin_addr) == 1;
}

int listen_tcp(const std::string& at, const std::string& token, std::string& error) {
  sockaddr_in a{};
  if (!parse_tcp(at, a)) {
    error = "tcp address \"" + at + "\": needs A.B.C.D:port";
    return -1;
  }
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  int one = 1;
  if (fd < 0) return fail(error, "socket", fd);
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  if (bind(fd, reinterpret_cast<sockaddr*>(&a), sizeof a) != 0) return fail(error, "bind tcp:" + at, fd);
  socklen_t len = sizeof a;
  getsockname(fd, reinterpret_cast<sockaddr*>(&a), &len);
  const std::string shown = "tcp:" + at.substr(0, at.rfind(':')) + ":" + std::to_string(ntohs(a.sin_port));
  return await_client(fd, shown, token, error);
}

constexpr const char* kUnix = "unix:";
constexpr const char* kTcp = "tcp:";

}  // namespace

void end_with_input() {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);  // for the thread: signals wait while the main thread blocks them
  std::thread([] {
    char skipped[256];
    pollfd input{STDIN_FILENO, POLLIN, 0};
    for (;;) {
      poll(&input, 1, -1);  // the input may be one that does not block
      const ssize_t n = read(STDIN_FILENO, skipped, sizeof skipped);
      if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN)) break;
    }
    kill(getpid(), SIGTERM);
  }).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

bool is_remote(const std::string& address) {
  sockaddr_in a{};
  return address.compare(0, 4, kTcp) == 0 && parse_tcp(address.substr(4), a) &&
         ntohl(a.sin_addr.s_addr) >> 24 != IN_LOOPBACKNET;
}

int listen_once(const std::string& address, const std::string& token, std::string& error) {
  if (address.compare(0, 5, kUnix) == 0) return listen_unix(address.substr(5), token, error);
  if (address.compare(0, 4, kTcp) == 0) return listen_tcp(address.substr(4), token, error);
  error = "address \"" + address + "\": needs unix:/path or tcp:A.B.C.D:port";
  return -1;
}

}  // namespace nictwin
