// The board at the other end of the link: messages to its shell, and the events that come back.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "link.hpp"
#include "options.hpp"
#include "program.hpp"

namespace nictwin {

// Something that a transactor saw in a slot of the grant.
struct ShellEvent {
  static constexpr uint8_t kValid = 1, kTaken = 2, kPayload = 4;
  uint16_t slot = 0;
  uint8_t flags = 0;
  size_t at = 0;  // offset of its payload in ShellEvents::bytes
};

// The events of a transactor in a grant, in order.
struct ShellEvents {
  size_t payload = 0;  // bytes of an event's payload
  size_t next = 0;     // first event that has not been replayed
  std::vector<ShellEvent> list;
  std::vector<uint8_t> bytes;

  void clear() {
    next = 0;
    list.clear();
    bytes.clear();
  }
  // Returns the next event and removes it if it is of the slot; else nullptr.
  const ShellEvent* take(uint16_t slot) {
    return next < list.size() && list[next].slot == slot ? &list[next++] : nullptr;
  }
};

class Board {
 public:
  // Starts the program that simulates a board, and begins a session. seed: for the design's $random; word: bytes of a
  // word of the link. Throws SessionError, as read and flush do, if board or link fail or the design stops itself.
  Board(const DeviceOptions& o, uint64_t seed, size_t word);
  ~Board();

  void write(const std::vector<uint8_t>& message) { link_.write(message.data(), message.size()); }
  void flush() {
    guarded([&] { link_.flush(); });
  }

  // Has a function called while a message is waited for; none from the start. From its first call on, a board may be
  // silent for longer: kLinkLimitNs.
  void while_waiting(std::function<void()> f) { link_.while_waiting(std::move(f)); }
  // The session is about to end: see Link.
  void ending() { link_.ending(); }

  // Reads the next message. Returns the index of the transactor whose event it was, or kDone.
  static constexpr size_t kDone = SIZE_MAX;
  size_t read(std::vector<ShellEvents>& events);

 private:
  void identify(const std::string& hash);
  void get(uint8_t* p, size_t n) {
    guarded([&] { link_.read(p, n); });
  }
  // Says why the link failed if the board's program knows.
  template <class F>
  void guarded(F&& use) {
    try {
      use();
    } catch (const SessionError& e) {
      program_.explain(e);
    }
  }

  BoardProgram program_;
  Link link_;
  bool tell_faults_;
};

}  // namespace nictwin
