// Admits one client to the session of a listening device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace nictwin {

// A client has this long, from being accepted to the last byte of its OPEN frame.
constexpr int kOpenSeconds = 5;

// The number of clients whose OPEN frames are awaited at the same time. One more replaces the oldest.
constexpr size_t kMaxApplicants = 16;

// The number of refused clients that are named on standard error; later ones are only counted.
constexpr uint64_t kNamedRefusals = 32;

// Accepts clients of a listening socket until one sends an OPEN frame with the token (kTokenBytes), and returns its
// socket. Every other client gets an ERROR frame, is closed, and is reported on standard error if that does not block;
// clients wait neither for each other nor for the reader of standard error.
// Returns -1 with `error` set if the socket can no longer be listened on.
int admit(int listening, const std::string& token, std::string& error);

}  // namespace nictwin
