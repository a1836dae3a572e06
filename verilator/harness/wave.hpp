// A waveform of a window of cycles, in builds that were made for it (variant "waves").
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#if VM_TRACE
#include "verilated_fst_c.h"
#endif

namespace nictwin {

struct WaveOptions {
  std::string file;  // empty: no waveform
  uint64_t from = 0, to = UINT64_MAX;  // cycles, inclusive
  bool enabled() const { return !file.empty(); }
};

#if VM_TRACE

constexpr bool kHaveWaves = true;

class Wave {
 public:
  ~Wave() {
    if (fst_) fst_->close();
  }
  template <class Top>
  void open(Top& top, const WaveOptions& o) {
    if (!o.enabled()) return;
    options_ = o;
    fst_ = std::make_unique<VerilatedFstC>();
    top.trace(fst_.get(), 99);
    fst_->set_time_unit("1ps");
    fst_->set_time_resolution("1ps");
    fst_->open(o.file.c_str());
  }
  void dump(uint64_t time, uint64_t cycle) {
    if (!fst_ || cycle < options_.from || cycle > options_.to) return;
    fst_->dump(time);
    if (cycle == options_.to) fst_->flush();
  }

 private:
  WaveOptions options_;
  std::unique_ptr<VerilatedFstC> fst_;
};

#else

constexpr bool kHaveWaves = false;

class Wave {
 public:
  template <class Top>
  void open(Top&, const WaveOptions&) {}
  void dump(uint64_t, uint64_t) {}
};

#endif

}  // namespace nictwin
