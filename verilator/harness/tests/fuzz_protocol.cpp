// Fuzz target for the decoders of client frames. LLVMFuzzerTestOneInput is the usual entry point; main() is a
// driver of its own: seeded mutations of the byte vectors. Usage: fuzz_protocol VECTORS RUNS [SEED].

#include <cstdio>
#include <cstdlib>

#include "random.hpp"
#include "vectors.hpp"

using namespace nictwin;

namespace {

uint64_t g_accepted = 0;

[[noreturn]] void bug(const char* what) {
  std::printf("broken promise: %s\n", what);
  std::abort();
}

// Reads every byte that an accepted record points to; the sanitizer reports those that are not readable.
uint64_t touch(const uint8_t* p, size_t n) {
  uint64_t sum = 0;
  for (size_t i = 0; i < n; i++) sum += p[i];
  return sum;
}

void records(Reader& r, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    Record rec;
    if (decode_record(r, test_table(), test_start(), rec) != Fault::kNone) return;
    g_accepted++;
    if (rec.stream >= test_table().size()) bug("stream out of range");
    if (rec.type == RecordType::kCredit) continue;
    const StreamInfo& s = test_table()[rec.stream];
    if (rec.data_len > test_start().streams[rec.stream].max_bytes || s.out) bug("transaction beyond its limits");
    if (touch(rec.side, s.side_bytes) + touch(rec.data, rec.data_len) == UINT64_MAX) bug("impossible sum");
  }
}

void body(Frame type, const uint8_t* p, size_t n) {
  Reader r(p, n);
  switch (type) {
    case Frame::kOpen: {
      Open o;
      if (decode_open(p, n, o) == Fault::kNone) g_accepted += touch(o.token, kTokenBytes) != 0;
      return;
    }
    case Frame::kStart: {
      Start s;
      if (decode_start(p, n, test_table(), 2, 1, true, s) != Fault::kNone) return;
      g_accepted++;
      if (s.streams.size() != test_table().size() || s.ties.size() > kMaxTies) bug("tables out of range");
      return;
    }
    case Frame::kRun: {
      Run run;
      if (decode_run(r, run) != Fault::kNone) return;
      if (run.cycles == 0 || run.cycles > kMaxCycles) bug("cycles out of range");
      return records(r, run.records);
    }
    case Frame::kInput: {
      uint32_t count = 0;
      if (decode_input(r, count) == Fault::kNone) records(r, count);
      return;
    }
    default: return;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < kFrameHeader) return 0;
  FrameHead h;
  if (decode_head(data, h) != Fault::kNone) return 0;
  // A copy of exactly the frame's size, so that the sanitizer sees every read beyond it.
  std::vector<uint8_t> exact(data + kFrameHeader, data + size);
  exact.shrink_to_fit();
  body(static_cast<Frame>(h.type), exact.data(), exact.size());
  return 0;
}

#ifndef NICTWIN_LIBFUZZER

namespace {

class Mutator {
 public:
  explicit Mutator(uint64_t seed) : seed_(seed) {}
  uint64_t next(uint64_t below) { return noise(seed_, n_++) % below; }

  void mutate(std::vector<uint8_t>& b) {
    for (uint64_t rounds = 1 + next(4); rounds > 0; rounds--) {
      size_t at = kFrameHeader + next(b.size());
      if (at >= b.size()) at = next(b.size());
      switch (next(6)) {
        case 0: b[at] ^= uint8_t(1u << next(8)); break;
        case 1: b[at] = uint8_t(next(256)); break;
        case 2: b[at] = next(2) != 0 ? 0xff : 0; break;
        case 3: b.resize(b.size() - next(b.size() - kFrameHeader + 1)); break;
        case 4: b.insert(b.end(), next(64), uint8_t(next(256))); break;
        case 5: b.insert(b.begin() + std::ptrdiff_t(at), b.begin(), b.begin() + std::ptrdiff_t(next(b.size()))); break;
      }
    }
  }

 private:
  uint64_t seed_, n_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  std::vector<Vector> seeds = read_vectors(argv[1]);
  uint64_t runs = std::strtoull(argv[2], nullptr, 10);
  Mutator m(argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1);
  if (seeds.empty()) return 1;
  for (const Vector& v : seeds) LLVMFuzzerTestOneInput(v.bytes.data(), v.bytes.size());
  for (uint64_t i = 0; i < runs; i++) {
    std::vector<uint8_t> b = seeds[m.next(seeds.size())].bytes;
    m.mutate(b);
    LLVMFuzzerTestOneInput(b.data(), b.size());
  }
  std::printf("%llu mutations, %llu records accepted\n", static_cast<unsigned long long>(runs),
              static_cast<unsigned long long>(g_accepted));
  return g_accepted > runs / 100 ? 0 : 1;  // a target that accepts nothing tests nothing
}

#endif
