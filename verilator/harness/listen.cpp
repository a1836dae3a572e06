#include "listen.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace nictwin {

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

// The file of the socket that is listened on: its name, and which file it is, lest another's be removed.
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
  raise(signal);  // takes its usual course when this handler has ended
}

constexpr int kEndings[] = {SIGHUP, SIGINT, SIGTERM};

// Removes the file when a signal ends the process, unless whoever started it has that ignored.
void remove_at_end() {
  struct sigaction now, then{};
  then.sa_handler = remove_and_end;
  then.sa_flags = SA_RESETHAND;
  for (int s : kEndings) {
    if (sigaction(s, nullptr, &now) == 0 && now.sa_handler == SIG_DFL) sigaction(s, &then, nullptr);
  }
}

// Whether the file is a socket that nobody listens on. A datagram socket can tell without being anybody's client: one that
// is listened on is refused as the wrong kind.
bool is_left_behind(const sockaddr_un& at) {
  int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  struct stat is;
  bool left = lstat(at.sun_path, &is) == 0 && S_ISSOCK(is.st_mode) &&
              connect(fd, reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0 && errno == ECONNREFUSED;
  close(fd);
  return left;
}

// Binds a socket to the file, which is removed when a signal ends the process from then on.
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

int listen_unix(const std::string& path, std::string& error) {
  sockaddr_un& a = g_file.at;
  a.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof a.sun_path) {
    error = "unix socket path of " + std::to_string(path.size()) + " bytes: needs 1 to " + std::to_string(sizeof a.sun_path - 1);
    return -1;
  }
  std::memcpy(a.sun_path, path.c_str(), path.size() + 1);
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return fail(error, "socket", fd);
  if (!bind_file(fd)) return fail(error, "bind unix:" + path, fd);
  int client = accept_one(fd, "unix:" + path, error);
  g_file.remove();
  return client;
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
