// Access to bit ranges of Verilator's port variables (CData … QData and VlWide), all offsets known at compile time.
#pragma once

#include <type_traits>

#include "bytes.hpp"

namespace nictwin::pins {

constexpr uint64_t ones(unsigned n) { return n >= 64 ? ~uint64_t{0} : (uint64_t{1} << n) - 1; }

// Returns the 32-bit words of a wide port.
template <class Pin>
inline uint32_t* words(Pin& pin) {
  return reinterpret_cast<uint32_t*>(&pin);
}
template <class Pin>
inline const uint32_t* words(const Pin& pin) {
  return reinterpret_cast<const uint32_t*>(&pin);
}

// Returns bits [Lsb, Lsb + Bits) as a number; Bits is at most 64.
template <unsigned Lsb, unsigned Bits, class Pin>
inline uint64_t get(const Pin& pin) {
  static_assert(Bits >= 1 && Bits <= 64);
  if constexpr (std::is_integral_v<Pin>) {
    return (uint64_t(pin) >> Lsb) & ones(Bits);
  } else {
    const uint32_t* w = words(pin);
    uint64_t v = 0;
    for (unsigned done = 0; done < Bits;) {
      unsigned bit = Lsb + done, off = bit % 32, n = Bits - done < 32 - off ? Bits - done : 32 - off;
      v |= ((uint64_t(w[bit / 32]) >> off) & ones(n)) << done;
      done += n;
    }
    return v;
  }
}

// Sets bits [Lsb, Lsb + Bits) to the low bits of v and leaves the others; Bits is at most 64.
template <unsigned Lsb, unsigned Bits, class Pin>
inline void put(Pin& pin, uint64_t v) {
  static_assert(Bits >= 1 && Bits <= 64);
  if constexpr (std::is_integral_v<Pin>) {
    constexpr uint64_t mask = ones(Bits) << Lsb;
    pin = Pin((uint64_t(pin) & ~mask) | ((v << Lsb) & mask));
  } else {
    uint32_t* w = words(pin);
    for (unsigned done = 0; done < Bits;) {
      unsigned bit = Lsb + done, off = bit % 32, n = Bits - done < 32 - off ? Bits - done : 32 - off;
      uint32_t mask = uint32_t(ones(n) << off);
      w[bit / 32] = (w[bit / 32] & ~mask) | (uint32_t((v >> done) << off) & mask);
      done += n;
    }
  }
}

// Copies bits [Lsb, Lsb + Bits) to dst as bytes, lowest first; dst takes (Bits + 7) / 8 bytes.
template <unsigned Lsb, unsigned Bits, class Pin>
inline void get_bytes(const Pin& pin, uint8_t* dst) {
  if constexpr (Lsb % 8 == 0 && Bits % 8 == 0) {
    std::memcpy(dst, reinterpret_cast<const uint8_t*>(&pin) + Lsb / 8, Bits / 8);
  } else {
    constexpr unsigned n = Bits < 64 ? Bits : 64;
    uint64_t v = get<Lsb, n>(pin);
    std::memcpy(dst, &v, (n + 7) / 8);
    if constexpr (Bits > 64) get_bytes<Lsb + 64, Bits - 64>(pin, dst + 8);
  }
}

// Sets bits [Lsb, Lsb + Bits) from bytes, the reverse of get_bytes.
template <unsigned Lsb, unsigned Bits, class Pin>
inline void put_bytes(Pin& pin, const uint8_t* src) {
  if constexpr (Lsb % 8 == 0 && Bits % 8 == 0) {
    std::memcpy(reinterpret_cast<uint8_t*>(&pin) + Lsb / 8, src, Bits / 8);
  } else {
    constexpr unsigned n = Bits < 64 ? Bits : 64;
    uint64_t v = 0;
    std::memcpy(&v, src, (n + 7) / 8);
    put<Lsb, n>(pin, v);
    if constexpr (Bits > 64) put_bytes<Lsb + 64, Bits - 64>(pin, src + 8);
  }
}

// Sets the low `units` bits of a keep field and clears the others.
template <unsigned Lsb, unsigned Bits, class Pin>
inline void put_keep(Pin& pin, unsigned units) {
  constexpr unsigned n = Bits < 64 ? Bits : 64;
  put<Lsb, n>(pin, ones(units < n ? units : n));
  if constexpr (Bits > 64) put_keep<Lsb + 64, Bits - 64>(pin, units > 64 ? units - 64 : 0);
}

struct Keep {
  unsigned units = 0;      // keep units up to the highest keep bit that is set
  bool contiguous = true;  // no gap below it
};

// Reads a keep field.
template <unsigned Lsb, unsigned Bits, class Pin>
inline Keep get_keep(const Pin& pin) {
  constexpr unsigned n = Bits < 64 ? Bits : 64;
  uint64_t v = get<Lsb, n>(pin);
  Keep k;
  k.units = v == 0 ? 0 : 64 - unsigned(__builtin_clzll(v));
  k.contiguous = (v & (v + 1)) == 0;
  if constexpr (Bits > 64) {
    Keep high = get_keep<Lsb + 64, Bits - 64>(pin);
    if (high.units != 0) {
      k.contiguous = high.contiguous && v == ones(64);
      k.units = high.units + 64;
    }
  }
  return k;
}

}  // namespace nictwin::pins
