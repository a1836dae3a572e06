// Seeded noise as a function of the cycle: no state, so a pattern cannot depend on traffic or on the quantum.
#pragma once

#include <cstdint>
#include <string_view>

namespace nictwin {

inline uint64_t mix64(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

// Derives a sub-seed from a seed and a name.
inline uint64_t sub_seed(uint64_t seed, std::string_view name) {
  uint64_t h = 0xcbf29ce484222325ull;
  for (char c : name) h = (h ^ uint8_t(c)) * 0x100000001b3ull;
  return mix64(seed ^ mix64(h));
}

inline uint64_t noise(uint64_t key, uint64_t n) { return mix64(key + n * 0x9e3779b97f4a7c15ull); }

// Decides in which cycles a stream stalls: `percent` of all cycles, one draw for every 2^burst_log2 of them.
class Stall {
 public:
  Stall() = default;
  Stall(uint64_t key, unsigned percent, unsigned burst_log2) : key_(key), percent_(percent), burst_(burst_log2) {}
  bool none() const { return percent_ == 0; }
  bool operator()(uint64_t cycle) const {
    if (percent_ == 0) return false;
    return ((noise(key_, cycle >> burst_) >> 32) * 100) >> 32 < percent_;
  }

 private:
  uint64_t key_ = 0;
  unsigned percent_ = 0, burst_ = 0;
};

}  // namespace nictwin
