// One direction of the memory that a parent shares with a device (docs/bridge.md, "Transport").
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>

namespace nictwin {

constexpr size_t kRingBytes = 256u << 10;
constexpr size_t kRingControl = 4096;  // bytes before the data
constexpr size_t kSharedBytes = kRingControl + 2 * kRingBytes;

// A byte ring with one writer and one reader; head and tail count the bytes ever written and ever read.
class Ring {
 public:
  Ring() = default;
  Ring(uint8_t* shared, size_t index)
      : head_(word<uint64_t>(shared, index, 0)),
        tail_(word<uint64_t>(shared, index, 64)),
        reader_asleep_(word<uint32_t>(shared, index, 128)),
        writer_asleep_(word<uint32_t>(shared, index, 192)),
        data_(shared + kRingControl + index * kRingBytes) {}

  // Writes as much as fits; only the writer calls this.
  size_t put(const uint8_t* p, size_t n) {
    if (kRingBytes - (mine_ - theirs_) < n) theirs_ = tail_->load(std::memory_order_acquire);
    n = std::min(n, kRingBytes - size_t(mine_ - theirs_));
    size_t at = mine_ % kRingBytes, k = std::min(n, kRingBytes - at);
    std::memcpy(data_ + at, p, k);
    std::memcpy(data_, p + k, n - k);
    if (n != 0) head_->store(mine_ += n);
    return n;
  }

  // Reads available bytes, at most n; only the reader calls this.
  size_t get(uint8_t* p, size_t n) {
    if (theirs_ == mine_) theirs_ = head_->load(std::memory_order_acquire);
    n = std::min(n, size_t(theirs_ - mine_));
    size_t at = mine_ % kRingBytes, k = std::min(n, kRingBytes - at);
    std::memcpy(p, data_ + at, k);
    std::memcpy(p + k, data_, n - k);
    if (n != 0) tail_->store(mine_ += n);
    return n;
  }

  // The reader announces that it will sleep. Returns true if it may: nothing has come meanwhile.
  bool reader_sleeps() {
    reader_asleep_->store(1);
    return head_->load() == mine_;
  }
  bool writer_sleeps() {
    writer_asleep_->store(1);
    return tail_->load() == theirs_;
  }
  // Returns true, once per sleep, if the reader sleeps and must be woken.
  bool reader_to_wake() { return reader_asleep_->load() != 0 && reader_asleep_->exchange(0) != 0; }
  bool writer_to_wake() { return writer_asleep_->load() != 0 && writer_asleep_->exchange(0) != 0; }

 private:
  template <class T>
  static std::atomic<T>* word(uint8_t* shared, size_t index, size_t at) {
    static_assert(sizeof(std::atomic<T>) == sizeof(T) && std::atomic<T>::is_always_lock_free);
    return reinterpret_cast<std::atomic<T>*>(shared + 256 * index + at);
  }

  std::atomic<uint64_t>*head_ = nullptr, *tail_ = nullptr;
  std::atomic<uint32_t>*reader_asleep_ = nullptr, *writer_asleep_ = nullptr;
  uint8_t* data_ = nullptr;
  uint64_t mine_ = 0;    // this side's counter: head for the writer, tail for the reader
  uint64_t theirs_ = 0;  // the other side's counter, as last read
};

}  // namespace nictwin
