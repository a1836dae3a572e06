// The frames of docs/bridge.md: constants, decoding of client frames, layout of device frames.
// Nothing here knows a device; the stream table is passed in.
#pragma once

#include <string>

#include "bytes.hpp"

namespace nictwin {

constexpr uint64_t kMagic = 0x004e49575443494eull;  // "NICTWIN\0"
constexpr uint16_t kVersion = 3;
constexpr size_t kFrameHeader = 8;
constexpr size_t kOpenBytes = 48;
constexpr size_t kTokenBytes = 32;
constexpr size_t kHashBytes = 32;
constexpr uint32_t kMaxFrame = 64u << 20;
constexpr uint32_t kMaxStart = 8192;
constexpr uint32_t kMaxData = 1u << 20;  // bytes of one transaction
constexpr uint32_t kMaxSide = 256;
constexpr uint32_t kMaxCycles = 1u << 20;  // cycles of one RUN, at most
constexpr uint32_t kMaxStreams = 64;
constexpr uint32_t kMaxTies = 256;
constexpr uint32_t kMaxClocks = 8;
constexpr uint32_t kMaxErrorText = 8192;
constexpr uint32_t kUnlimited = 0xffffffffu;
constexpr uint64_t kMinPeriod = 2, kMaxPeriod = 1'000'000'000;  // period of a clock, in ps

enum class Frame : uint16_t { kOpen = 1, kHello, kStart, kInput, kRun, kRan, kError, kStop };

enum class Fault : uint32_t {
  kNone = 0,
  kTruncated,  // a field lies past the end of the frame
  kTrailing,   // bytes follow the last field
  kFrameType,  // frame type unknown or not expected here
  kLimit,      // a length or count over its limit
  kValue,      // a field has no legal value
  kStream,     // stream unknown, of the wrong direction, or lengths do not fit it
  kMagicWord,  // not this protocol
  kVersionGap, // no common version
};

inline const char* fault_name(Fault f) {
  static const char* const names[] = {"none",  "truncated", "trailing", "frame-type", "limit",
                                      "value", "stream",    "magic",    "version"};
  return names[static_cast<uint32_t>(f)];
}

// Codes of ERROR frames.
enum class ErrorCode : uint32_t {
  kProtocol = 1,  // the client's frame was not understood
  kVersion = 2,   // no common protocol version
  kToken = 3,     // wrong token
  kLimit = 4,     // a limit was exceeded
  kAssert = 5,    // the design reported $error, $fatal, $stop or a failed assertion
  kFinish = 6,    // the design called $finish
  kInternal = 7,  // the simulation itself failed
  kIdle = 8,      // the design changed in a cycle that could have been skipped
};

struct FrameHead {
  uint32_t length = 0;
  uint16_t type = 0;
};

inline Fault decode_head(const uint8_t* b, FrameHead& h) {
  Reader r(b, kFrameHeader);
  h.length = r.u32();
  h.type = r.u16();
  if (r.u16() != 0) return Fault::kValue;
  if (h.type < uint16_t(Frame::kOpen) || h.type > uint16_t(Frame::kStop)) return Fault::kFrameType;
  if (h.length > kMaxFrame || h.length % 8 != 0) return Fault::kLimit;
  return Fault::kNone;
}

inline void encode_head(uint8_t* at, Frame type, uint32_t length) {
  uint16_t t = static_cast<uint16_t>(type), zero = 0;
  std::memcpy(at, &length, 4);
  std::memcpy(at + 4, &t, 2);
  std::memcpy(at + 6, &zero, 2);
}

struct Open {
  uint16_t version_min = 0, version_max = 0;
  const uint8_t* token = nullptr;
};

inline Fault decode_open(const uint8_t* b, size_t n, Open& o) {
  if (n < kOpenBytes) return Fault::kTruncated;
  if (n > kOpenBytes) return Fault::kTrailing;
  Reader r(b, n);
  if (r.u64() != kMagic) return Fault::kMagicWord;
  o.version_min = r.u16();
  o.version_max = r.u16();
  if (r.u32() != 0) return Fault::kValue;
  o.token = r.padded(kTokenBytes);
  if (o.version_min > kVersion || o.version_max < kVersion) return Fault::kVersionGap;
  return Fault::kNone;
}

// Kinds of streams: packets of one byte or more; packets that may be empty; records, which are groups of
// fields with a handshake; levels, which are such groups without one.
enum class StreamKind : uint8_t { kAxis, kTlp, kRecord, kLevel };

// A signal, or a field of a stream.
struct Signal {
  const char* name;
  uint16_t width;
};

// Describes a stream to the client; the device checks records against it.
struct StreamInfo {
  const char* name;
  StreamKind kind;
  bool out, ready;
  uint8_t keep_unit;
  uint32_t data_bytes;  // bytes of one beat
  uint16_t side_bytes;
  uint8_t clock = 0;
  std::vector<Signal> fields;  // the side bytes' fields
};

struct StreamStart {
  uint8_t stall_percent = 0;
  uint8_t burst_log2 = 0;  // one random draw decides for 2^burst_log2 cycles
  uint32_t credits = kUnlimited;
  uint32_t max_bytes = 0;  // bytes of one transaction, at most
};

// A clock other than the first. Its edges are at phase, phase + period, ... after the end of reset.
struct ClockStart {
  uint64_t period_ps = 0, phase_ps = 0;
};

struct TieValue {
  uint16_t index = 0;
  uint64_t value = 0;
};

struct Start {
  uint64_t seed = 0;
  uint64_t watchdog = 0;  // cycles; 0 switches the hang rules off
  uint64_t period_ps = kMinPeriod;  // period of the first clock
  uint32_t flags = 0;
  std::vector<StreamStart> streams;
  std::vector<ClockStart> clocks;  // all clocks but the first
  std::vector<TieValue> ties;
};

constexpr uint32_t kStartPoison = 1;     // drive noise on idle input pins
constexpr uint32_t kStartSkipIdle = 2;   // skip cycles in which nothing changes
constexpr uint32_t kStartCheckIdle = 4;  // evaluate idle cycles and check that nothing changes
constexpr uint32_t kStartIdle = kStartSkipIdle | kStartCheckIdle;
constexpr uint32_t kStartFlags = kStartPoison | kStartIdle;

inline Fault check_stream_start(const StreamStart& x, const StreamInfo& info) {
  if (x.stall_percent > 100 || x.burst_log2 > 16) return Fault::kValue;
  if (x.max_bytes == 0 || x.max_bytes > kMaxData) return Fault::kLimit;
  if (!info.out && x.credits != kUnlimited) return Fault::kStream;
  if (info.out && !info.ready && (x.credits != kUnlimited || x.stall_percent != 0)) return Fault::kStream;
  return Fault::kNone;
}

inline Fault decode_clocks(Reader& r, size_t n, Start& s) {
  s.clocks.assign(n, ClockStart{});
  for (ClockStart& c : s.clocks) {
    c.period_ps = r.u64();
    c.phase_ps = r.u64();
    if (!r.ok()) return Fault::kTruncated;
    if (c.period_ps < kMinPeriod || c.period_ps > kMaxPeriod || c.phase_ps >= c.period_ps) return Fault::kValue;
  }
  return Fault::kNone;
}

// clocks: the number that the device has; skip_idle: whether the device permits skipping idle cycles.
inline Fault decode_start(const uint8_t* b, size_t n, const std::vector<StreamInfo>& table, size_t clocks, size_t ties,
                          bool skip_idle, Start& s) {
  if (n > kMaxStart) return Fault::kLimit;
  Reader r(b, n);
  s.seed = r.u64();
  s.watchdog = r.u64();
  s.period_ps = r.u64();
  s.flags = r.u32();
  uint32_t n_streams = r.u16(), n_ties = r.u16();
  if (!r.ok()) return Fault::kTruncated;
  if ((s.flags & ~kStartFlags) != 0 || s.period_ps < kMinPeriod || s.period_ps > kMaxPeriod) return Fault::kValue;
  const uint32_t idle = s.flags & kStartIdle;
  if (idle == kStartIdle || (idle != 0 && !skip_idle)) return Fault::kValue;
  if (n_streams != table.size()) return Fault::kStream;
  if (n_ties > kMaxTies) return Fault::kLimit;
  s.streams.assign(n_streams, StreamStart{});
  for (uint32_t i = 0; i < n_streams; i++) {
    StreamStart& x = s.streams[i];
    x.stall_percent = r.u8();
    x.burst_log2 = r.u8();
    uint16_t zero = r.u16();
    x.credits = r.u32();
    x.max_bytes = r.u32();
    uint32_t zero2 = r.u32();
    if (!r.ok()) return Fault::kTruncated;
    if (zero != 0 || zero2 != 0) return Fault::kValue;
    if (Fault f = check_stream_start(x, table[i]); f != Fault::kNone) return f;
  }
  if (Fault f = decode_clocks(r, clocks - 1, s); f != Fault::kNone) return f;
  s.ties.assign(n_ties, TieValue{});
  for (TieValue& t : s.ties) {
    t.index = r.u16();
    uint16_t zero = r.u16();
    uint32_t zero2 = r.u32();
    t.value = r.u64();
    if (!r.ok()) return Fault::kTruncated;
    if (zero != 0 || zero2 != 0 || t.index >= ties) return Fault::kValue;
  }
  return r.left() == 0 ? Fault::kNone : Fault::kTrailing;
}

struct Run {
  uint64_t index = 0, start = 0;
  uint32_t cycles = 0, records = 0;
};

inline Fault decode_run(Reader& r, Run& run) {
  run.index = r.u64();
  run.start = r.u64();
  run.cycles = r.u32();
  run.records = r.u32();
  if (!r.ok()) return Fault::kTruncated;
  if (run.cycles == 0 || run.cycles > kMaxCycles) return Fault::kLimit;
  return Fault::kNone;
}

inline Fault decode_input(Reader& r, uint32_t& records) {
  records = r.u32();
  uint32_t zero = r.u32();
  if (!r.ok()) return Fault::kTruncated;
  return zero == 0 ? Fault::kNone : Fault::kValue;
}

enum class RecordType : uint8_t { kTransaction = 1, kCredit = 2, kReset = 3 };

// One record of a RUN or INPUT frame. side and data point into the frame.
struct Record {
  RecordType type = RecordType::kTransaction;
  uint8_t stream = 0;
  uint64_t cycle = 0;      // earliest cycle in which the transaction may begin
  uint32_t data_len = 0;   // bytes of data; for a credit record: the number of credits
  const uint8_t* side = nullptr;
  const uint8_t* data = nullptr;
};

inline Fault check_transaction(const Record& rec, uint16_t side_len, const StreamInfo& info, uint32_t max_bytes) {
  if (info.out || side_len != info.side_bytes) return Fault::kStream;
  if (rec.data_len > max_bytes) return Fault::kLimit;
  if (rec.data_len == 0) return info.kind == StreamKind::kAxis ? Fault::kStream : Fault::kNone;
  if (info.data_bytes == 0) return Fault::kStream;
  uint32_t unit = info.keep_unit != 0 ? info.keep_unit : info.data_bytes;
  if (rec.data_len % unit != 0) return Fault::kStream;
  return Fault::kNone;
}

inline Fault decode_record(Reader& r, const std::vector<StreamInfo>& table, const Start& start, Record& rec) {
  uint8_t type = r.u8();
  rec.stream = r.u8();
  uint16_t side_len = r.u16();
  rec.data_len = r.u32();
  rec.cycle = r.u64();
  if (!r.ok()) return Fault::kTruncated;
  if (type < uint8_t(RecordType::kTransaction) || type > uint8_t(RecordType::kReset)) return Fault::kValue;
  rec.type = static_cast<RecordType>(type);
  if (rec.type == RecordType::kReset) {
    return rec.stream == 0 && side_len == 0 && rec.data_len == 0 ? Fault::kNone : Fault::kValue;
  }
  if (rec.stream >= table.size()) return Fault::kStream;
  const StreamInfo& info = table[rec.stream];
  const StreamStart& lim = start.streams[rec.stream];
  if (rec.type == RecordType::kCredit) {
    if (!info.out || side_len != 0 || lim.credits == kUnlimited) return Fault::kStream;
    return rec.data_len >= 1 && rec.data_len <= kMaxCycles ? Fault::kNone : Fault::kLimit;
  }
  if (Fault f = check_transaction(rec, side_len, info, lim.max_bytes); f != Fault::kNone) return f;
  rec.side = r.padded(side_len);
  rec.data = r.padded(rec.data_len);
  if (!r.ok()) return Fault::kTruncated;
  return r.padding_clean() ? Fault::kNone : Fault::kValue;
}

// Types of records in a RAN frame.
enum class EventType : uint8_t { kIn = 1, kOut = 2, kViolation = 3, kRest = 4, kHeld = 5 };

constexpr uint8_t kEventBegin = 1;  // flag of kIn: the input's first beat was accepted
constexpr uint8_t kEventEnd = 2;    // flag of kIn: the input's last beat was accepted

constexpr uint32_t kRanQuiet = 1;    // no transaction waits or is in progress
constexpr uint32_t kRanPartial = 2;  // the device stopped inside the quantum; an ERROR frame follows
constexpr uint32_t kRanMore = 4;     // more RAN frames of this quantum follow
constexpr uint32_t kRanStill = 8;    // nothing happens unless a record comes; only if START had an idle flag

enum class Rule : uint8_t {
  kValidDropped = 1,  // tvalid withdrawn before the beat was accepted
  kDataChanged,       // tdata changed while stalled
  kKeepChanged,       // tkeep changed while stalled
  kLastChanged,       // tlast changed while stalled
  kSideChanged,       // a side-band signal changed while stalled
  kKeepGap,           // tkeep is not contiguous from bit 0
  kKeepPartial,       // tkeep is not full before the last beat
  kEmpty,             // a transaction without data on a stream that requires some
  kTooLong,           // a transaction exceeds max_bytes
  kHangIn,            // an offered beat was not accepted for `watchdog` cycles
  kHangOut,           // a transaction was not continued for `watchdog` cycles
  kSideVaried,        // a side-band signal differs between beats of a transaction (streams with side_held)
  kPadding,           // bytes beyond tkeep are not zero (streams with zero_padding)
  kRuleCount
};

struct EventHead {
  EventType type;
  uint8_t stream, flags, rule;
  uint32_t data_len;
  uint64_t ordinal, first, last;
};
static_assert(sizeof(EventHead) == 32, "the head of a RAN record is 32 bytes on the wire");

struct RanHead {
  uint64_t index, start;
  uint32_t cycles, flags;
  uint64_t rtl_ns;
  uint32_t records;
  uint16_t n_observe, zero;
};
static_assert(sizeof(RanHead) == 40, "the head of a RAN frame is 40 bytes on the wire");

struct Observed {
  uint64_t value = 0;
  uint64_t last_nonzero = 0;  // cycle + 1 of the last nonzero sample; 0: never
};

// Writes a whole ERROR frame.
inline void encode_error(Writer& w, ErrorCode code, uint64_t cycle, const std::string& text) {
  uint32_t n = uint32_t(text.size() > kMaxErrorText ? kMaxErrorText : text.size());
  w.clear();
  encode_head(w.extend(kFrameHeader), Frame::kError, uint32_t(16 + pad8(n)));
  w.number(static_cast<uint32_t>(code));
  w.number(n);
  w.number(cycle);
  w.padded(reinterpret_cast<const uint8_t*>(text.data()), n);
}

// The contents of HELLO: a description of the device.
struct DeviceInfo {
  struct Clock {
    const char* name;
    uint64_t period_ps;  // period of the first clock, if START gives none
  };
  const uint8_t* build_hash;
  std::vector<Clock> clocks;
  uint32_t busy;  // index of the observed busy signal; kUnlimited: none
  bool skip_idle;  // the design reads only its state and pins, so idle cycles can be skipped
  std::vector<StreamInfo> streams;
  std::vector<Signal> observe, ties;
};

constexpr uint32_t kSignalSkipIdle = 1;  // flag of the busy signal in HELLO

inline void encode_hello(Writer& w, const DeviceInfo& d) {
  w.clear();
  w.extend(kFrameHeader);
  w.number(kMagic);
  w.number(kVersion);
  w.number(uint16_t(d.streams.size()));
  w.number(uint16_t(d.observe.size()));
  w.number(uint16_t(d.ties.size()));
  w.padded(d.build_hash, kHashBytes);
  w.number(uint64_t(d.clocks.size()));
  w.number(kMaxFrame);
  w.number(d.busy);
  auto name = [&w](const char* s) { w.padded(reinterpret_cast<const uint8_t*>(s), std::strlen(s)); };
  auto signal = [&](const Signal& s, uint32_t flags) {
    w.number(s.width);
    w.number(uint16_t(std::strlen(s.name)));
    w.number(flags);
    name(s.name);
  };
  for (const DeviceInfo::Clock& c : d.clocks) {
    w.number(c.period_ps);
    w.number(uint64_t(std::strlen(c.name)));
    name(c.name);
  }
  for (const StreamInfo& s : d.streams) {
    w.number(uint8_t(s.kind));
    w.number(uint8_t(s.out ? 1 : 0));
    w.number(s.keep_unit);
    w.number(uint8_t(s.ready ? 1 : 0));
    w.number(s.data_bytes);
    w.number(s.side_bytes);
    w.number(uint16_t(std::strlen(s.name)));
    w.number(uint16_t(s.fields.size()));
    w.number(uint16_t(s.clock));
    name(s.name);
    for (const Signal& f : s.fields) signal(f, 0);
  }
  for (const auto* list : {&d.observe, &d.ties}) {
    for (const Signal& s : *list) {
      const bool busy = list == &d.observe && d.busy == uint32_t(&s - list->data());
      signal(s, busy && d.skip_idle ? kSignalSkipIdle : uint32_t(0));
    }
  }
  encode_head(w.data(), Frame::kHello, uint32_t(w.size() - kFrameHeader));
}

}  // namespace nictwin
