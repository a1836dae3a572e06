// Which client gets the session of a device that listens.
#pragma once

#include <cstddef>
#include <string>

namespace nictwin {

// A client has this long, from being accepted to the last byte of its OPEN frame.
constexpr int kOpenSeconds = 5;

// Clients whose OPEN frame is waited for at the same time. One more takes the place of the oldest.
constexpr size_t kMaxApplicants = 16;

// Accepts clients of a listening socket until one sends an OPEN frame with the token (kTokenBytes), and returns its socket.
// Every other client gets an ERROR frame, is named on standard error and is closed; clients do not wait for each other.
// Returns -1 with `error` set if the socket cannot be listened on any more.
int admit(int listening, const std::string& token, std::string& error);

}  // namespace nictwin
