#include "notice.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

namespace nictwin {

namespace {

// Opens standard error anew where possible, so that O_NONBLOCK does not affect other processes that share it.
// A file needs no O_NONBLOCK. A socket, or a pipe of another user, cannot be reopened and is only polled for
// room.
int open_stderr() {
  struct stat is;
  if (fstat(STDERR_FILENO, &is) != 0 || !(S_ISFIFO(is.st_mode) || S_ISCHR(is.st_mode))) return STDERR_FILENO;
  int fd = open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  return fd < 0 ? STDERR_FILENO : fd;
}

}  // namespace

void notice(const std::string& line) {
  static const int fd = open_stderr();
  pollfd p{fd, POLLOUT, 0};
  if (poll(&p, 1, 0) != 1) return;
  const std::string whole = line + "\n";
  (void)!write(fd, whole.data(), whole.size());
}

}  // namespace nictwin
