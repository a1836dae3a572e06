// The first frame of a client, and how a client is refused.
#pragma once

#include "protocol.hpp"

namespace nictwin {

// Thrown to end the session with an ERROR frame.
struct SessionError {
  ErrorCode code;
  std::string text;
};

[[noreturn]] inline void refuse(Frame type, Fault f, const std::string& detail = "") {
  static const char* const names[] = {"", "OPEN", "HELLO", "START", "INPUT", "RUN", "RAN", "ERROR", "STOP"};
  std::string text = std::string(names[uint16_t(type)]) + " frame refused: " + fault_name(f);
  if (!detail.empty()) text += " (" + detail + ")";
  ErrorCode code = ErrorCode::kProtocol;
  if (f == Fault::kVersionGap) code = ErrorCode::kVersion;
  if (f == Fault::kLimit) code = ErrorCode::kLimit;
  throw SessionError{code, text};
}

constexpr size_t kOpenFrame = kFrameHeader + kOpenBytes;

// Compares two tokens in a time that does not depend on where they differ.
inline bool same_token(const uint8_t* a, const uint8_t* b) {
  volatile uint8_t diff = 0;
  for (size_t i = 0; i < kTokenBytes; i++) diff = uint8_t(diff | (a[i] ^ b[i]));
  return diff == 0;
}

// Checks the header of an OPEN frame; throws SessionError.
inline void check_open_head(const uint8_t* frame) {
  FrameHead h;
  Fault f = decode_head(frame, h);
  if (f == Fault::kNone && (h.type != uint16_t(Frame::kOpen) || h.length != kOpenBytes)) f = Fault::kFrameType;
  if (f != Fault::kNone) refuse(Frame::kOpen, f);
}

// Checks an OPEN frame of kOpenFrame bytes; throws SessionError. A client with a wrong token learns nothing
// else. With token nullptr, no token is required.
inline void check_open(const uint8_t* frame, const uint8_t* token) {
  check_open_head(frame);
  Open o;
  Fault f = decode_open(frame + kFrameHeader, kOpenBytes, o);
  if (o.token == nullptr) refuse(Frame::kOpen, f);
  if (token != nullptr && !same_token(o.token, token)) throw SessionError{ErrorCode::kToken, "wrong token"};
  if (f == Fault::kVersionGap) {
    refuse(Frame::kOpen, f, "the client speaks " + std::to_string(o.version_min) + " to " +
                                std::to_string(o.version_max) + ", this device " + std::to_string(kVersion));
  }
  if (f != Fault::kNone) refuse(Frame::kOpen, f);
}

}  // namespace nictwin
