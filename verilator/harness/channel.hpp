// A byte stream to the client: a socket that the parent passed on, alone or with shared memory beside it, or one that a
// client connected to.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ring.hpp"

namespace nictwin {

// Thrown when the peer is gone, so that no error can be sent.
struct PeerGone {};

class Channel {
 public:
  explicit Channel(int fd);

  // Sends and receives through shared memory from now on; the socket only wakes a sleeping side. False if the
  // memory cannot be mapped.
  bool share(int memory_fd);

  // Reads at least `min` and at most `max` bytes; returns the number read. Polls before it sleeps, unless
  // recent polling was in vain.
  size_t read(uint8_t* at, size_t min, size_t max);
  void write(const uint8_t* at, size_t n);

  // Ends the process when the peer closes, even if the simulation never returns.
  void watch_peer();

 private:
  size_t poll(uint8_t* at, size_t max);
  size_t spin(uint8_t* at, size_t max);
  size_t sleep(uint8_t* at, size_t max);
  void write_socket(const uint8_t* at, size_t n);
  void ring();
  void await_ring();

  int fd_;
  bool spins_;            // poll before sleeping: there is a second processor
  bool shared_ = false;   // the bytes go through in_ and out_ in shared memory, not through fd_
  uint32_t rest_ = 0;     // number of further reads that must not poll before sleeping
  uint32_t penalty_ = 0;  // what rest_ was set to after polling in vain; halved when polling pays off
  Ring in_, out_;
};

}  // namespace nictwin
