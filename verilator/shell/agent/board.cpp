#include "board.hpp"

#include "notice.hpp"
#include "open.hpp"

namespace nictwin {

namespace {

constexpr uint8_t kRepDone = 0x80, kRepIdent = 0x81, kRepFault = 0x82, kVersion8 = 1;
constexpr uint16_t kSlotMask = 0xfff;

[[noreturn]] void fail(const std::string& text) { throw SessionError{kLinkError, "board: " + text}; }

std::string hex(const uint8_t* p, size_t n) {
  std::string s;
  for (size_t i = 0; i < n; i++) {
    s += "0123456789abcdef"[p[i] >> 4];
    s += "0123456789abcdef"[p[i] & 15];
  }
  return s;
}

}  // namespace

Board::Board(const DeviceOptions& o, uint64_t seed, size_t word)
    : program_(o, seed),
      link_(program_.link(), program_.link(), word, LinkFaults(o.link_faults)),
      tell_faults_(o.link_faults != 0) {
  guarded([&] { link_.begin(); });
  identify(o.board_hash);
}

// The program ends when its link does.
Board::~Board() {
  if (tell_faults_) {
    notice("link: " + std::to_string(link_.faults()) + " frames lost, doubled or damaged, " +
           std::to_string(link_.repeated()) + " sent again");
  }
}

void Board::identify(const std::string& hash) {
  uint8_t m[34];
  get(m, sizeof m);
  if (m[0] != kRepIdent) fail("it does not say what it is");
  if (m[1] != kVersion8) {
    fail("its shell has version " + std::to_string(m[1]) + ", this agent speaks " + std::to_string(kVersion8));
  }
  if (const std::string have = hex(m + 2, 32); have != hash) {
    fail("it was built from something else: its hash is " + have + ", this agent's is " + hash);
  }
}

size_t Board::read(std::vector<ShellEvents>& events) {
  uint8_t head[3];
  get(head, 1);
  if (head[0] == kRepDone) return kDone;
  if (head[0] == kRepFault) fail("it did not understand a message");
  if (head[0] >= events.size()) fail("a message of kind " + std::to_string(head[0]) + ", which there is not");
  get(head + 1, 2);
  ShellEvents& e = events[head[0]];
  const uint16_t word = uint16_t(head[1] | head[2] << 8);
  ShellEvent x{uint16_t(word & kSlotMask), uint8_t(word >> 12), e.bytes.size()};
  if (!e.list.empty() && x.slot <= e.list.back().slot) fail("events of a stream are out of order");
  if ((x.flags & ShellEvent::kPayload) != 0) {
    e.bytes.resize(x.at + e.payload);
    get(e.bytes.data() + x.at, e.payload);
  }
  e.list.push_back(x);
  return head[0];
}

}  // namespace nictwin
