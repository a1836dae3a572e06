// The digest of an event stream (docs/bridge.md, "Digest"): 64 bits, order-sensitive, made for speed, not for secrecy.
#pragma once

#include "bytes.hpp"

namespace nictwin {

class Digest {
 public:
  uint64_t value() const { return h_; }

  // Adds n bytes, padded with zeros to whole blocks of 32.
  void add(const uint8_t* p, size_t n) {
    for (; n >= 32; p += 32, n -= 32) block(p);
    if (n != 0) {
      uint8_t last[32] = {};
      std::memcpy(last, p, n);
      block(last);
    }
  }

 private:
  static uint64_t fold(uint64_t a, uint64_t b) {
    unsigned __int128 m = static_cast<unsigned __int128>(a) * b;
    return uint64_t(m) ^ uint64_t(m >> 64);
  }
  void block(const uint8_t* p) {
    uint64_t w[4];
    std::memcpy(w, p, 32);
    h_ = ((h_ << 23) | (h_ >> 41)) ^ fold(w[0] ^ 0xa0761d6478bd642full, w[1] ^ 0xe7037ed1a0b428dbull) ^
         fold(w[2] ^ 0x8ebc6af09c88c6e3ull, w[3] ^ h_);
  }
  uint64_t h_ = 0x589965cc75374cc3ull;
};

}  // namespace nictwin
