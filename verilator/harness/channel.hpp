// A byte stream to the client: a socket that the parent passed on, or one that a client connected to.
#pragma once

#include <cstdint>
#include <string>

namespace nictwin {

// Thrown when the peer is gone; there is nobody to tell.
struct PeerGone {};

class Channel {
 public:
  explicit Channel(int fd);

  // Reads at least `min` and at most `max` bytes; returns how many. Spins first where that pays: for twice the usual wait,
  // unless that is long or the processor was taken away during a spin of late.
  size_t read(uint8_t* at, size_t min, size_t max);
  void write(const uint8_t* at, size_t n);

  // Ends the process when the peer closes, even if the simulation never returns.
  void watch_peer();

 private:
  bool spin(uint8_t* at, size_t max, int64_t begin, size_t& got);

  int fd_;
  bool spins_;             // there is a second processor
  int64_t usual_ns_ = 0;   // average wait of late
  uint32_t rest_ = 0;      // reads to go without spinning
};

// Waits for one client at "unix:/path" or "tcp:A.B.C.D:port" and returns its socket; -1 with `error` set on failure.
// The bound address (the port may have been 0) is printed as one line on standard output.
int listen_once(const std::string& address, std::string& error);

}  // namespace nictwin
