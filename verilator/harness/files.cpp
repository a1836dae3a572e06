#include "files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>

namespace nictwin {

namespace {

// Returns why an open file must not be read, or "".
std::string unfit(const struct stat& is, size_t limit, bool secret) {
  if (S_ISDIR(is.st_mode)) return "is a folder; a regular file is needed";
  if (S_ISFIFO(is.st_mode)) return "is a pipe; a regular file is needed";
  if (!S_ISREG(is.st_mode)) return "is a device or a socket; a regular file is needed";
  if (secret && (is.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    char mode[8];
    std::snprintf(mode, sizeof mode, "%04o", unsigned(is.st_mode & 07777));
    return std::string("has mode ") + mode + ": only its owner may have access to it; run: chmod 600";
  }
  if (size_t(is.st_size) > limit) return "is longer than " + std::to_string(limit) + " bytes";
  return "";
}

// Reads to the end. It asks for one byte more than the file's size, to notice a file that has grown.
std::string read_all(int fd, size_t size, size_t limit, std::vector<uint8_t>& bytes) {
  bytes.resize(size + 1);
  for (size_t have = 0;;) {
    ssize_t n = read(fd, bytes.data() + have, bytes.size() - have);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return std::strerror(errno);
    have += size_t(n);
    if (have > limit) return "is longer than " + std::to_string(limit) + " bytes";
    if (n == 0) {
      bytes.resize(have);
      return "";
    }
    if (have == bytes.size()) bytes.resize(2 * have);
  }
}

}  // namespace

std::string read_file(const std::string& path, size_t limit, bool secret, std::vector<uint8_t>& bytes) {
  int fd = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd < 0) return path + ": " + std::strerror(errno);
  struct stat is{};
  std::string why = fstat(fd, &is) != 0 ? std::strerror(errno) : unfit(is, limit, secret);
  try {
    if (why.empty()) why = read_all(fd, size_t(is.st_size), limit, bytes);
  } catch (const std::exception&) {
    why = "no memory for its " + std::to_string(is.st_size) + " bytes";
  }
  close(fd);
  return why.empty() ? "" : path + ": " + why;
}

}  // namespace nictwin
