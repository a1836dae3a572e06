// Speaks the protocol of docs/bridge.md with one client and runs the device for it.
#pragma once

#include <cstdio>
#include <memory>

#include "channel.hpp"
#include "events.hpp"
#include "idle.hpp"
#include "open.hpp"
#include "options.hpp"
#include "source.hpp"
#include "stop.hpp"

namespace nictwin {

struct SessionOptions {
  bool opened = false;  // the client's OPEN frame has been read and checked
  DeviceOptions device;
  std::string coverage;
};

// Provides memory for frames that queued transactions may keep pointing into.
class BufferPool {
 public:
  static constexpr size_t kMaxTotal = size_t{1} << 30;

  Buffer* get() {
    for (auto& b : all_) {
      if (b->users == 0) return b.get();
    }
    all_.push_back(std::make_unique<Buffer>());
    grow(*all_.back(), 1 << 16);
    return all_.back().get();
  }

  void grow(Buffer& b, size_t n) {
    if (n <= b.bytes.size()) return;
    total_ += n - b.bytes.size();
    if (total_ > kMaxTotal) throw SessionError{ErrorCode::kLimit, "inputs that wait for their cycle exceed 1 GiB"};
    b.bytes.resize(n);
  }

  // Frees all buffers: no transaction points into any of them any more.
  void release_all() {
    for (auto& b : all_) b->users = 0;
  }

 private:
  std::vector<std::unique_ptr<Buffer>> all_;
  size_t total_ = 0;
};

// Device runs the design: class Device, or one with the same constructor and functions (push, run, report_held, idle,
// stands_still, observed, cycle, cover). It is a template parameter, so that no cycle has a virtual call.
template <class Device>
class Session {
  using Dut = typename Device::Glue;

 public:
  Session(Channel& ch, SessionOptions o)
      : ch_(ch), options_(std::move(o)), recorder_(Dut::kObserve, [this] { flush_part(); }) {}

  // Serves until STOP, the end of the connection or an error; returns the process's exit code.
  int serve() {
    try {
      open();
      while (next_frame()) handle();
      return end_device() ? 0 : 1;
    } catch (const SessionError& e) {
      std::fprintf(stderr, "%s\n", e.text.c_str());
      Writer w;
      encode_error(w, e.code, device_ ? device_->cycle() : 0, e.text);
      ch_.write(w.data(), w.size());
      end_device();
      return 1;
    }
  }

 private:
  void open() {
    if (!options_.opened) {
      uint8_t b[kOpenFrame];
      ch_.read(b, sizeof b, sizeof b);
      check_open(b, nullptr);
    }
    Writer w;
    encode_hello(w, Dut::info());
    ch_.write(w.data(), w.size());
  }

  // Reads one whole frame into a new buffer; bytes read beyond it become the beginning of the next frame.
  // False after STOP.
  bool next_frame() {
    Buffer* old = frame_;
    size_t carried = have_ - frame_end();
    frame_ = pool_.get();
    pool_.grow(*frame_, carried);
    if (carried != 0) std::memmove(frame_->bytes.data(), old->bytes.data() + frame_end(), carried);
    have_ = carried;
    head_.length = 0;
    fill(kFrameHeader);
    if (Fault f = decode_head(frame_->bytes.data(), head_); f != Fault::kNone) {
      throw SessionError{ErrorCode::kProtocol, std::string("frame header refused: ") + fault_name(f)};
    }
    fill(frame_end());
    return head_.type != uint16_t(Frame::kStop);
  }

  size_t frame_end() const { return frame_ == nullptr ? 0 : kFrameHeader + head_.length; }

  void fill(size_t n) {
    if (have_ >= n) return;
    pool_.grow(*frame_, n);
    have_ += ch_.read(frame_->bytes.data() + have_, n - have_, frame_->bytes.size() - have_);
  }

  void handle() {
    const uint8_t* body = frame_->bytes.data() + kFrameHeader;
    Frame type = static_cast<Frame>(head_.type);
    if (type == Frame::kStart) return start(body);
    if (type != Frame::kRun && type != Frame::kInput) refuse(type, Fault::kFrameType, "not for a device");
    if (!device_) refuse(type, Fault::kFrameType, "before START");
    Reader r(body, head_.length);
    if (type == Frame::kInput) {
      uint32_t n = 0;
      if (Fault f = decode_input(r, n); f != Fault::kNone) refuse(type, f);
      return records(type, r, n);
    }
    Run run;
    if (Fault f = decode_run(r, run); f != Fault::kNone) refuse(type, f);
    if (run.index != index_ || run.start != device_->cycle()) {
      refuse(type, Fault::kValue,
             "quantum " + std::to_string(run.index) + " at cycle " + std::to_string(run.start) + " where quantum " +
                 std::to_string(index_) + " at cycle " + std::to_string(device_->cycle()) + " was due");
    }
    records(type, r, run.records);
    execute(run);
  }

  void start(const uint8_t* body) {
    Start s;
    const DeviceInfo& d = Dut::info();
    Fault f = decode_start(body, head_.length, d.streams, d.clocks.size(), d.ties.size(), d.skip_idle, s);
    if (f != Fault::kNone) {
      refuse(Frame::kStart, f);
    }
    end_device();
    pool_.release_all();
    start_ = s;
    device_ = std::make_unique<Device>(start_, options_.device);
    recorder_ = Recorder(Dut::kObserve, [this] { flush_part(); });
    index_ = 0;
  }

  void records(Frame type, Reader& r, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
      Record rec;
      Fault f = decode_record(r, Dut::info().streams, start_, rec);
      if (f != Fault::kNone) refuse(type, f, "record " + std::to_string(i));
      if (rec.cycle < device_->cycle()) {
        refuse(type, Fault::kValue, "record " + std::to_string(i) + " is stamped cycle " + std::to_string(rec.cycle) +
                                        ", the device is at " + std::to_string(device_->cycle()));
      }
      device_->push(rec, frame_);
    }
    if (r.left() != 0) refuse(type, Fault::kTrailing);
  }

  void execute(const Run& run) {
    run_ = run;
    recorder_.begin();
    bool failed = false;
    began_ns_ = now_ns();
    try {
      device_->run(run.cycles, recorder_);
    } catch (const Fatal&) {
      failed = true;
    } catch (const IdleFault& f) {
      throw SessionError{ErrorCode::kIdle, idle_fault(f)};
    }
    device_->report_held(recorder_);
    index_++;
    bool stopped = g_stop.requested || failed;
    send_ran((device_->idle() ? kRanQuiet : 0) | (device_->stands_still() ? kRanStill : 0) |
             (stopped ? kRanPartial : 0));
    if (stopped) throw SessionError{g_stop.code, g_stop.text};
  }

  void flush_part() {
    device_->report_held(recorder_);
    send_ran(kRanMore);
    recorder_.begin();
  }

  void send_ran(uint32_t flags) {
    RanHead h{};
    h.index = run_.index;
    h.start = run_.start;
    h.cycles = uint32_t(device_->cycle() - run_.start);
    h.flags = flags;
    h.rtl_ns = now_ns() - began_ns_;
    recorder_.finish(h, device_->observed().data());
    ch_.write(recorder_.data(), recorder_.size());
  }

  // Returns false if the coverage counts cannot be written.
  bool end_device() {
    std::string fault;
    if (device_ && !options_.coverage.empty()) fault = device_->cover(options_.coverage);
    if (!fault.empty()) std::fprintf(stderr, "coverage: %s\n", fault.c_str());
    device_.reset();
    return fault.empty();
  }

  Channel& ch_;
  SessionOptions options_;
  BufferPool pool_;
  Buffer* frame_ = nullptr;
  size_t have_ = 0;  // bytes read into frame_
  FrameHead head_;
  Start start_;
  Run run_;
  uint64_t index_ = 0, began_ns_ = 0;
  std::unique_ptr<Device> device_;
  Recorder recorder_;
};

}  // namespace nictwin
