// Which client gets the session of a device that listens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace nictwin {

// A client has this long, from being accepted to the last byte of its OPEN frame.
constexpr int kOpenSeconds = 5;

// Clients whose OPEN frame is waited for at the same time. One more takes the place of the oldest.
constexpr size_t kMaxApplicants = 16;

// So many clients that are refused are named on standard error; later ones are only counted.
constexpr uint64_t kNamedRefusals = 32;

// Accepts clients of a listening socket until one sends an OPEN frame with the token (kTokenBytes), and returns its socket.
// Every other client gets an ERROR frame and is closed, and standard error tells of it if it can; clients do not wait for each
// other, nor for whoever reads that.
// Returns -1 with `error` set if the socket cannot be listened on any more.
int admit(int listening, const std::string& token, std::string& error);

}  // namespace nictwin
