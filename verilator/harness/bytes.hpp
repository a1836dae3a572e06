// Bounded little-endian reading and growable writing of byte sequences.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
              "the harness maps frames and pins to memory as they are: a little-endian host is needed");

namespace nictwin {

constexpr size_t pad8(size_t n) { return (n + 7) & ~size_t{7}; }

// Reads fields from a byte range. Reading past the end yields zeros and clears ok().
class Reader {
 public:
  Reader(const uint8_t* data, size_t size) : p_(data), end_(data + size) {}

  bool ok() const { return ok_; }
  size_t left() const { return size_t(end_ - p_); }

  uint8_t u8() { return number<uint8_t>(); }
  uint16_t u16() { return number<uint16_t>(); }
  uint32_t u32() { return number<uint32_t>(); }
  uint64_t u64() { return number<uint64_t>(); }

  // Returns n bytes and skips their padding to a multiple of 8; nullptr if the range ends before. Padding
  // must be zero.
  const uint8_t* padded(size_t n) {
    size_t whole = pad8(n);
    if (whole < n || left() < whole) {
      ok_ = false;
      return nullptr;
    }
    const uint8_t* start = p_;
    for (size_t i = n; i < whole; i++) {
      if (start[i] != 0) padding_clean_ = false;
    }
    p_ += whole;
    return start;
  }
  bool padding_clean() const { return padding_clean_; }

 private:
  template <class T>
  T number() {
    T v = 0;
    if (left() < sizeof(T)) {
      ok_ = false;
      return v;
    }
    std::memcpy(&v, p_, sizeof(T));
    p_ += sizeof(T);
    return v;
  }

  const uint8_t* p_;
  const uint8_t* end_;
  bool ok_ = true;
  bool padding_clean_ = true;
};

// Appends fields to a buffer that keeps its memory when cleared.
class Writer {
 public:
  const uint8_t* data() const { return buf_.data(); }
  uint8_t* data() { return buf_.data(); }
  size_t size() const { return size_; }
  void clear() { size_ = 0; }

  // Extends the buffer by n bytes, which are not initialised, and returns their address.
  uint8_t* extend(size_t n) {
    if (size_ + n > buf_.size()) buf_.resize((size_ + n) * 2);
    uint8_t* at = buf_.data() + size_;
    size_ += n;
    return at;
  }

  template <class T>
  void number(T v) {
    std::memcpy(extend(sizeof(T)), &v, sizeof(T));
  }

  // Appends n bytes, padded with zeros to a multiple of 8.
  void padded(const uint8_t* src, size_t n) {
    size_t whole = pad8(n);
    uint8_t* at = extend(whole);
    if (n != 0) std::memcpy(at, src, n);
    std::memset(at + n, 0, whole - n);
  }

 private:
  std::vector<uint8_t> buf_ = std::vector<uint8_t>(1 << 16);
  size_t size_ = 0;
};

}  // namespace nictwin
