// A file of coverage counts that processes of one build add to: magic, the build's hash, the number of counters, then a byte
// for each: the most that any process counted since reset, 255 at most; then a byte for each that counts from power-up on.
#pragma once

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <string>
#include <vector>

namespace nictwin {

class HitsFile {
 public:
  // Adds the counters; returns a fault, or "".
  static std::string add(const std::string& path, const uint8_t* hash, const std::atomic<uint32_t>* counts,
                         const std::vector<uint32_t>& at_reset, size_t n) {
    HitsFile f(path);
    if (f.fd_ < 0 || flock(f.fd_, LOCK_EX) != 0) return path + ": " + std::strerror(errno);
    std::vector<uint8_t> want(kHead + 2 * n), have(kHead + 2 * n + 1);
    std::memcpy(want.data(), "NTHITS02", 8);
    std::memcpy(want.data() + 8, hash, 32);
    uint64_t size = n;
    std::memcpy(want.data() + 40, &size, 8);
    ssize_t got = pread(f.fd_, have.data(), have.size(), 0);
    if (got < 0) return path + ": " + std::strerror(errno);
    if (got != 0 && (size_t(got) != want.size() || std::memcmp(have.data(), want.data(), kHead) != 0)) {
      return path + ": is not the coverage of this build";
    }
    for (size_t i = 0; i < 2 * n; i++) {
      uint32_t c = counts[i % n].load(std::memory_order_relaxed) - (i < n ? at_reset[i] : 0);
      uint8_t most = uint8_t(c < 255 ? c : 255), old = got != 0 ? have[kHead + i] : uint8_t(0);
      want[kHead + i] = most > old ? most : old;
    }
    if (pwrite(f.fd_, want.data(), want.size(), 0) != ssize_t(want.size())) return path + ": cannot be written";
    return "";
  }

 private:
  static constexpr size_t kHead = 48;
  explicit HitsFile(const std::string& path) : fd_(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {}
  ~HitsFile() {
    if (fd_ >= 0) close(fd_);
  }
  int fd_;
};

}  // namespace nictwin
