#include "program.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "link.hpp"
#include "trace.hpp"

namespace nictwin {

namespace {

constexpr int kWordsFd = STDERR_FILENO + 1;
constexpr unsigned kEndMs = 1000;  // for a program whose link is closed

[[noreturn]] void fail(const std::string& text) { throw SessionError{kLinkError, "board: " + text}; }

// In the new process: becomes the program. The client's descriptors, above all, stay behind.
[[noreturn]] void become(const std::vector<const char*>& argv, int link, int words, int parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  // Both may have the number that the other one gets.
  const int from_link = fcntl(link, F_DUPFD, kWordsFd + 1), from_words = fcntl(words, F_DUPFD, kWordsFd + 1);
  dup2(from_link, STDIN_FILENO);
  dup2(from_link, STDOUT_FILENO);
  dup2(from_words, kWordsFd);
  close_range(kWordsFd + 1, ~0u, 0);
  execv(argv[0], const_cast<char* const*>(argv.data()));
  const std::string fault = char(kLinkError) + std::string(argv[0]) + ": " + std::strerror(errno);
  if (write(kWordsFd, fault.data(), fault.size()) < 0) _exit(126);
  _exit(127);
}

}  // namespace

BoardProgram::BoardProgram(const DeviceOptions& o, uint64_t seed) {
  // As class Device has it; a plusarg may override the seed.
  const std::string seed_arg =
      "+verilator+seed+" + std::to_string((sub_seed(seed, "power-up") & 0x7fffffff) | 1);
  std::vector<const char*> argv{o.board.c_str(), seed_arg.c_str()};
  for (const std::string& a : o.plus_args) {
    if (a.rfind(Trace::kPlusArg, 0) != 0) argv.push_back(a.c_str());
  }
  argv.push_back(nullptr);
  int link[2], words[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, link) != 0 || pipe2(words, O_CLOEXEC | O_NONBLOCK) != 0) {
    fail(std::strerror(errno));
  }
  const int self = getpid();
  pid_ = fork();
  if (pid_ < 0) fail(std::strerror(errno));
  if (pid_ == 0) become(argv, link[1], words[1], self);
  close(link[1]);
  close(words[1]);
  signal(SIGPIPE, SIG_IGN);
  link_ = link[0];
  words_ = words[0];
}

BoardProgram::~BoardProgram() {
  if (!wait(kEndMs)) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  close(words_);
}

bool BoardProgram::wait(unsigned ms) {
  for (unsigned i = 0; pid_ > 0; i++) {
    const int got = waitpid(pid_, &status_, WNOHANG);
    if (got != 0) {
      pid_ = -1;
    } else if (i >= ms) {
      return false;
    } else {
      usleep(1000);
    }
  }
  return true;
}

std::string BoardProgram::last_words() {
  std::string all;
  char text[4096];
  for (ssize_t n; (n = read(words_, text, sizeof text)) > 0;) all.append(text, size_t(n));
  return all;
}

void BoardProgram::explain(const SessionError& error) {
  const bool ended = wait(50);
  const std::string words = last_words();
  if (!words.empty() && ErrorCode(words[0]) == kLinkError) fail(words.substr(1));
  if (!words.empty()) throw SessionError{ErrorCode(words[0]), words.substr(1)};
  SessionError e = error;
  if (ended && WIFSIGNALED(status_)) e.text += "; its program was ended by signal " + std::to_string(WTERMSIG(status_));
  if (ended && WIFEXITED(status_)) {
    e.text += "; its program ended with status " + std::to_string(WEXITSTATUS(status_));
  }
  throw e;
}

}  // namespace nictwin
