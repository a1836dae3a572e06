// Plays a recorded input stream (the client's START, INPUT and RUN frames) from memory: the device's raw speed, without
// sockets and without serialised outputs, under exactly the stimulus of a bridged run.
#pragma once

#include <cinttypes>
#include <memory>

#include "events.hpp"
#include "files.hpp"
#include "idle.hpp"
#include "open.hpp"
#include "options.hpp"
#include "source.hpp"
#include "stop.hpp"

namespace nictwin {

// Device runs the design, as in Session.
template <class Device>
class Playback {
  using Dut = typename Device::Glue;

 public:
  // Returns the process's exit code; prints one JSON object on standard output.
  int play(const std::string& path, const DeviceOptions& options) {
    if (std::string why = read_file(path, SIZE_MAX, false, home_.bytes); !why.empty()) return fail(why);
    try {
      if (std::string why = load(options); !why.empty()) return fail(path + ": " + why);
    } catch (const SessionError& e) {
      return fail(e.text);
    }
    Counter counter;
    uint64_t begin = now_ns();
    try {
      for (uint64_t left = cycles_; left > 0 && !g_stop.requested;) {
        uint32_t n = left > kMaxCycles ? kMaxCycles : uint32_t(left);
        left -= device_->run(n, counter);
      }
    } catch (const Fatal&) {
    } catch (const IdleFault& f) {
      return fail(idle_fault(f));
    } catch (const SessionError& e) {
      return fail(e.text);
    }
    uint64_t wall = now_ns() - begin;
    std::printf("{\"cycles\":%" PRIu64 ",\"wall_ns\":%" PRIu64 ",\"digest\":\"%016" PRIx64
                "\",\"inputs\":%" PRIu64 ",\"outputs\":%" PRIu64 ",\"violations\":%" PRIu64 ",\"skipped\":%" PRIu64
                ",\"stopped\":%s}\n",
                device_->cycle(), wall, counter.digest.value(), counter.inputs, counter.outputs, counter.violations,
                device_->skipped(), g_stop.requested ? "true" : "false");
    return 0;
  }

 private:
  static int fail(const std::string& why) {
    std::fprintf(stderr, "playback: %s\n", why.c_str());
    return 2;
  }

  // Decodes the whole recording, so that playing it does nothing but simulate. Returns a fault, or "".
  std::string load(const DeviceOptions& options) {
    const std::vector<uint8_t>& b = home_.bytes;
    for (size_t at = 0; at < b.size();) {
      FrameHead h;
      if (b.size() - at < kFrameHeader || decode_head(b.data() + at, h) != Fault::kNone ||
          b.size() - at - kFrameHeader < h.length) {
        return "no whole frame at byte " + std::to_string(at);
      }
      Fault f = frame(h, b.data() + at + kFrameHeader, options);
      if (f != Fault::kNone) return "frame at byte " + std::to_string(at) + ": " + fault_name(f);
      at += kFrameHeader + h.length;
    }
    return device_ ? "" : "no START frame";
  }

  Fault frame(const FrameHead& h, const uint8_t* body, const DeviceOptions& options) {
    const std::vector<StreamInfo>& table = Dut::info().streams;
    Frame type = static_cast<Frame>(h.type);
    if (type == Frame::kStart && !device_) {
      Fault f = decode_start(body, h.length, table, Dut::info().clocks.size(), Dut::info().ties.size(),
                             Dut::info().skip_idle, start_);
      if (f == Fault::kNone) device_ = std::make_unique<Device>(start_, options);
      return f;
    }
    if (!device_ || (type != Frame::kRun && type != Frame::kInput)) return Fault::kFrameType;
    Reader r(body, h.length);
    Run run;
    Fault f = type == Frame::kRun ? decode_run(r, run) : decode_input(r, run.records);
    for (uint32_t i = 0; i < run.records && f == Fault::kNone; i++) {
      Record rec;
      f = decode_record(r, table, start_, rec);
      if (f == Fault::kNone) device_->push(rec, &home_);
    }
    cycles_ += run.cycles;
    return f;
  }

  Buffer home_;
  Start start_;
  uint64_t cycles_ = 0;
  std::unique_ptr<Device> device_;
};

}  // namespace nictwin
