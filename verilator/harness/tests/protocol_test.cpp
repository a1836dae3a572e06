// Tests the device's side of the protocol against the byte vectors: decodes a client's frames, encodes a
// device's frames. Usage: protocol_test VECTORS. rtlbridge/vectors_test.go writes the file.

#include <cstdio>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>

#include "digest.hpp"
#include "events.hpp"
#include "pins.hpp"
#include "vectors.hpp"

using namespace nictwin;

namespace {

int g_failures = 0;

void expect(const std::string& what, const std::string& got, const std::string& want) {
  if (got == want) return;
  std::printf("%s:\n  got  %s\n  want %s\n", what.c_str(), got.c_str(), want.c_str());
  g_failures++;
}

std::string hex(const uint8_t* p, size_t n) {
  std::string s;
  char two[3];
  for (size_t i = 0; i < n; i++) {
    std::snprintf(two, sizeof two, "%02x", p[i]);
    s += two;
  }
  return s;
}

// Returns the same bytes as the Go side (rtlbridge/vectors_test.go).
std::vector<uint8_t> pattern(size_t n, int seed) {
  std::vector<uint8_t> b(n);
  for (size_t i = 0; i < n; i++) b[i] = uint8_t(int(i) * 7 + seed * 13 + int(i >> 8));
  return b;
}

// Appends records as text; stops at the first fault.
Fault describe_records(Reader& r, const Start& start, uint32_t n, std::string& s) {
  for (uint32_t i = 0; i < n; i++) {
    Record rec;
    if (Fault f = decode_record(r, test_table(), start, rec); f != Fault::kNone) return f;
    std::string at = std::to_string(rec.stream) + "@" + std::to_string(rec.cycle) + "[";
    if (rec.type == RecordType::kCredit) {
      s += " C" + at + std::to_string(rec.data_len) + "]";
    } else if (rec.type == RecordType::kReset) {
      s += " R@" + std::to_string(rec.cycle);
    } else {
      s += " T" + at + hex(rec.side, test_table()[rec.stream].side_bytes) + "/" + hex(rec.data, rec.data_len) + "]";
    }
  }
  return r.left() == 0 ? Fault::kNone : Fault::kTrailing;
}

Fault describe_start(const uint8_t* body, size_t n, std::string& s) {
  Start x;
  if (Fault f = decode_start(body, n, test_table(), 2, 1, true, x); f != Fault::kNone) return f;
  s = "START seed=" + std::to_string(x.seed) + " watchdog=" + std::to_string(x.watchdog) +
      " period=" + std::to_string(x.period_ps) + " flags=" + std::to_string(x.flags);
  for (const StreamStart& t : x.streams) {
    s += " stream=" + std::to_string(t.stall_percent) + "/" + std::to_string(t.burst_log2) + "/" +
         std::to_string(t.credits) + "/" + std::to_string(t.max_bytes);
  }
  for (const ClockStart& c : x.clocks) s += " clock=" + std::to_string(c.period_ps) + "+" + std::to_string(c.phase_ps);
  for (const TieValue& t : x.ties) s += " tie=" + std::to_string(t.index) + ":" + std::to_string(t.value);
  return Fault::kNone;
}

Fault describe(const std::vector<uint8_t>& b, std::string& s) {
  FrameHead h;
  if (Fault f = decode_head(b.data(), h); f != Fault::kNone) return f;
  const uint8_t* body = b.data() + kFrameHeader;
  size_t n = b.size() - kFrameHeader;
  Reader r(body, n);
  switch (static_cast<Frame>(h.type)) {
    case Frame::kOpen: {
      Open o;
      if (Fault f = decode_open(body, n, o); f != Fault::kNone) return f;
      s = "OPEN versions=" + std::to_string(o.version_min) + "-" + std::to_string(o.version_max) +
          " token=" + hex(o.token, kTokenBytes);
      return Fault::kNone;
    }
    case Frame::kStart: return describe_start(body, n, s);
    case Frame::kRun: {
      Run x;
      if (Fault f = decode_run(r, x); f != Fault::kNone) return f;
      s = "RUN index=" + std::to_string(x.index) + " start=" + std::to_string(x.start) +
          " cycles=" + std::to_string(x.cycles);
      return describe_records(r, test_start(), x.records, s);
    }
    case Frame::kInput: {
      uint32_t records = 0;
      if (Fault f = decode_input(r, records); f != Fault::kNone) return f;
      s = "INPUT";
      return describe_records(r, test_start(), records, s);
    }
    case Frame::kStop: s = "STOP"; return Fault::kNone;
    default: return Fault::kFrameType;
  }
}

std::string encode_test_hello(bool skip_idle) {
  static uint8_t hash[kHashBytes];
  for (size_t i = 0; i < kHashBytes; i++) hash[i] = uint8_t(i);
  DeviceInfo d{hash, {{"clk", 2500}, {"aux", 3333}}, 0, skip_idle, test_table(), {{"busy", 1}}, {{"defect_i", 4}}};
  Writer w;
  encode_hello(w, d);
  return hex(w.data(), w.size());
}

std::string encode_test_ran() {
  Recorder rec(1, [] {});
  rec.begin();
  rec.in(1, kEventBegin | kEventEnd, 7, 193, 193);
  const uint8_t side[] = {1, 2};
  std::vector<uint8_t> data = pattern(77, 5);
  rec.out(2, 8, 200, 203, side, 2, data.data(), 77);
  rec.violation(2, Rule::kKeepGap, 8, 203, 13);
  rec.held(0, 220, 230);
  rec.idle_interval(204, 250);
  rec.held(2, 204, 251);
  Observed o;
  o.value = 1;
  o.last_nonzero = 252;
  RanHead h{};
  h.index = 3;
  h.start = 192;
  h.cycles = 60;
  h.flags = kRanPartial;
  h.rtl_ns = 123456;
  rec.finish(h, &o);
  return hex(rec.data(), rec.size());
}

std::string encode_still_ran() {
  Recorder rec(1, [] {});
  rec.begin();
  Observed o;
  o.last_nonzero = 3;
  RanHead h{};
  h.start = h.cycles = 64;
  h.flags = kRanQuiet | kRanStill;
  rec.finish(h, &o);
  return hex(rec.data(), rec.size());
}

std::string encode_test_error() {
  Writer w;
  encode_error(w, ErrorCode::kAssert, 77, "level above depth");
  return hex(w.data(), w.size());
}

void check_vectors(const std::vector<Vector>& all) {
  const std::map<std::string, std::function<std::string()>> encoders = {
      {"hello", [] { return encode_test_hello(false); }}, {"hello-idle", [] { return encode_test_hello(true); }},
      {"ran", encode_test_ran}, {"ran-still", encode_still_ran}, {"error", encode_test_error}};
  size_t decoded = 0, encoded = 0;
  for (const Vector& v : all) {
    if (v.sender == "client") {
      std::string got;
      Fault f = describe(v.bytes, got);
      if (f != Fault::kNone) got = std::string("!") + fault_name(f);
      expect(v.name, got, v.want);
      decoded++;
    } else if (auto e = encoders.find(v.name); e != encoders.end()) {
      expect(v.name, e->second(), hex(v.bytes.data(), v.bytes.size()));
      encoded++;
    }
  }
  if (decoded < 20 || encoded != encoders.size()) expect("number of vectors", "too few", "enough");
  std::printf("%zu frames decoded, %zu encoded\n", decoded, encoded);
}

// A wide port as Verilator declares it.
struct Wide {
  uint32_t w[5] = {};
};

void check_pins() {
  Wide x;
  pins::put<30, 40>(x, 0xabcdef1234);
  expect("bits across words", std::to_string(pins::get<30, 40>(x)), std::to_string(uint64_t(0xabcdef1234)));
  expect("bits below stay", std::to_string(pins::get<0, 30>(x)), "0");
  expect("bits above stay", std::to_string(pins::get<70, 60>(x)), "0");
  uint8_t in[13], out[13];
  for (int i = 0; i < 13; i++) in[i] = uint8_t(17 * i + 3);
  in[12] &= 0xf;
  pins::put_bytes<7, 100>(x, in);
  pins::get_bytes<7, 100>(x, out);
  expect("bytes at a bit offset", hex(out, 13), hex(in, 13));
  for (unsigned n = 0; n <= 130; n++) {
    pins::put_keep<1, 130>(x, n);
    pins::Keep k = pins::get_keep<1, 130>(x);
    expect("keep", std::to_string(k.units) + (k.contiguous ? "" : " with a gap"), std::to_string(n));
  }
  pins::put<64, 1>(x, 0);
  expect("keep with a gap", pins::get_keep<1, 130>(x).contiguous ? "contiguous" : "gap", "gap");
  uint8_t byte = 0xff;
  pins::put<2, 3>(byte, 0);
  expect("bits of a byte", std::to_string(byte), "227");
}

// Checks the digest of docs/bridge.md; the Go side tests for the same number.
void check_digest() {
  Counter c;
  c.in(1, kEventBegin | kEventEnd, 7, 193, 193);
  const uint8_t side[] = {1, 2};
  std::vector<uint8_t> data = pattern(77, 5);
  c.out(2, 8, 200, 203, side, 2, data.data(), 77);
  c.violation(2, Rule::kKeepGap, 8, 203, 13);
  c.held(0, 220, 230);
  c.idle_interval(204, 250);
  c.held(2, 204, 251);
  char text[20];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(c.digest.value()));
  expect("digest", text, "803620b71f76bc01");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  check_vectors(read_vectors(argv[1]));
  check_pins();
  check_digest();
  return g_failures == 0 ? 0 : 1;
}
