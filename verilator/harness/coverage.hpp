// Coverage of a run, in builds of variant "coverage": line points by Verilator's counters, bits by toggles.hpp.
#pragma once

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <string>
#include <vector>

#if VM_COVERAGE
#include "toggles.hpp"
#endif

namespace nictwin {

// A file of coverage counts to which processes of one build add: magic, the build's hash, the number of
// counters, then one byte per counter: the highest count since reset of any process, at most 255; then one
// byte per counter for the counts since power-up.
class HitsFile {
 public:
  // Adds counts, those since reset followed by those since power-up; returns a fault, or "".
  static std::string add(const std::string& path, const uint8_t* hash, const std::vector<uint8_t>& counts) {
    HitsFile f(path);
    if (f.fd_ < 0 || flock(f.fd_, LOCK_EX) != 0) return path + ": " + std::strerror(errno);
    std::vector<uint8_t> want(kHead), have(kHead + counts.size() + 1);
    want.insert(want.end(), counts.begin(), counts.end());
    std::memcpy(want.data(), "NTHITS02", 8);
    std::memcpy(want.data() + 8, hash, 32);
    uint64_t n = counts.size() / 2;
    std::memcpy(want.data() + 40, &n, 8);
    ssize_t got = pread(f.fd_, have.data(), have.size(), 0);
    if (got < 0) return path + ": " + std::strerror(errno);
    if (got != 0 && (size_t(got) != want.size() || std::memcmp(have.data(), want.data(), kHead) != 0)) {
      return path + ": is not the coverage of this build";
    }
    for (size_t i = kHead; got != 0 && i < want.size(); i++) want[i] = want[i] > have[i] ? want[i] : have[i];
    if (pwrite(f.fd_, want.data(), want.size(), 0) != ssize_t(want.size())) return path + ": cannot be written";
    return "";
  }

 private:
  static constexpr size_t kHead = 48;
  explicit HitsFile(const std::string& path)
      : fd_(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644)) {}
  ~HitsFile() {
    if (fd_ >= 0) close(fd_);
  }
  int fd_;
};

#if VM_COVERAGE

constexpr bool kHaveCoverage = true;

// The counters of a run: those of line points, then 32 for each word of toggles.
class Coverage {
 public:
  template <class Top>
  void open(Top& top, const std::atomic<uint32_t>* lines, size_t n) {
    lines_ = lines, n_ = n;
    top.trace(&trace_, 99);
    bits().begin();
  }
  // Called once a cycle, when the design has settled and the clock is about to rise: samples the values that
  // registers will take.
  void sample() { bits().sample(); }

  void reset_ends() {
    ToggleWords& w = bits().words();
    for (size_t i = 0; i < n_; i++) at_reset_.push_back(line(i));
    in_reset_ = w;
    std::fill(w.once.begin(), w.once.end(), 0);
    std::fill(w.twice.begin(), w.twice.end(), 0);
  }

  // Returns the counts since reset, then those since power-up.
  std::vector<uint8_t> counts() {
    std::vector<uint8_t> all;
    for (size_t i = 0; i < n_; i++) all.push_back(byte(line(i) - at_reset_[i]));
    words(all, false);
    for (size_t i = 0; i < n_; i++) all.push_back(byte(line(i)));
    words(all, true);
    return all;
  }

  // Prints one line for each signal whose bits are counted: number of its first counter, range of bits, name.
  void print() {
    for (const ToggleSignal& s : bits().signals()) {
      std::printf("%zu\t%d\t%d\t%s\n", n_ + 32 * size_t(s.word), s.msb, s.lsb, s.name.c_str());
    }
  }

 private:
  VerilatedVcd& bits() { return *trace_.spTrace(); }
  uint32_t line(size_t i) const { return lines_[i].load(std::memory_order_relaxed); }
  static uint8_t byte(uint32_t n) { return uint8_t(n < 255 ? n : 255); }

  void words(std::vector<uint8_t>& all, bool reset_too) {
    const ToggleWords& w = bits().words();
    for (size_t i = 0; i < w.value.size(); i++) {
      for (unsigned b = 0; b < 32; b++) {
        all.push_back(uint8_t(w.changes(i, b) + (reset_too ? in_reset_.changes(i, b) : 0)));
      }
    }
  }

  const std::atomic<uint32_t>* lines_ = nullptr;
  size_t n_ = 0;
  std::vector<uint32_t> at_reset_;
  ToggleWords in_reset_;
  VerilatedVcdC trace_;
};

#else

constexpr bool kHaveCoverage = false;

class Coverage {
 public:
  template <class Top>
  void open(Top&, const std::atomic<uint32_t>*, size_t) {}
  void sample() {}
  void reset_ends() {}
  std::vector<uint8_t> counts() { return {}; }
  void print() {}
};

#endif

}  // namespace nictwin
