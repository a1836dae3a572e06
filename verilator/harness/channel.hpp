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

  // Reads at least `min` and at most `max` bytes; returns how many. Spins for a while first if that has paid of late.
  size_t read(uint8_t* at, size_t min, size_t max);
  void write(const uint8_t* at, size_t n);

  // Ends the process when the peer closes, even if the simulation never returns.
  void watch_peer();

 private:
  bool spin(uint8_t* at, size_t max, size_t& got);

  int fd_;
  int64_t budget_ns_;  // how long to spin
  uint32_t rest_ = 0;  // exchanges to go without spinning
};

// Waits for one client at "unix:/path" or "tcp:A.B.C.D:port" and returns its socket; -1 with `error` set on failure.
// The bound address (the port may have been 0) is printed as one line on standard output.
int listen_once(const std::string& address, std::string& error);

}  // namespace nictwin
