// Session of an agent that sends RAN frames with what has happened so far while a quantum takes long, so that its client
// does not take a slow board for a dead one (docs/bridge.md).
#pragma once

#include <cstdint>
#include <utility>

#include "channel.hpp"
#include "events.hpp"
#include "options.hpp"
#include "session.hpp"

namespace nictwin {

template <class Dut>
class Emulated;

// Reporting is a device behind a shell that sends the client partial RAN frames while it runs.
template <class Dut>
class Reporting : public Emulated<Dut> {
 public:
  using Emulated<Dut>::Emulated;

  // Of the session under way; a process has one.
  static inline Channel* client = nullptr;

  uint32_t run(uint32_t n, Recorder& out) {
    RanHead h{};
    h.index = quanta_++;
    h.start = this->cycle();
    h.flags = kRanMore;
    const uint64_t begin = now_ns();
    uint64_t latest = begin;
    return Emulated<Dut>::run(n, out, [&] {
      const uint64_t now = now_ns();
      if (now - latest < kPartNs) return;
      latest = now;
      this->report_held(out);
      h.cycles = uint32_t(this->cycle() - h.start);
      h.rtl_ns = now - begin;
      out.finish(h, this->observed().data());
      client->write(out.data(), out.size());
      out.begin();
    });
  }

 private:
  static constexpr uint64_t kPartNs = 1'000'000'000;  // between two partial frames

  uint64_t quanta_ = 0;  // since START
};

// A session with a device behind a shell.
template <class Dut>
class Session<Emulated<Dut>> : public Session<Reporting<Dut>> {
 public:
  Session(Channel& client, SessionOptions o) : Session<Reporting<Dut>>(client, std::move(o)) {
    Reporting<Dut>::client = &client;
  }

  // Returns the process's exit code: it fails if a trace is missing, which is read when a run ends.
  int serve() {
    const int status = Session<Reporting<Dut>>::serve();
    return Emulated<Dut>::trace_lost ? 1 : status;
  }
};

}  // namespace nictwin
