// The shell's trace buffer on the host's side: which signals it holds, from which cycle on, and the file that they are
// written to, a VCD (docs/emulation.md).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "board.hpp"

namespace nictwin {

class Trace {
 public:
  // Plusarg of an agent whose shell has a trace buffer; FROM+DEPTH+NAME:WIDTH,NAME:WIDTH,...+FILE follows. The board does
  // not get it.
  static constexpr const char* kPlusArg = "+nictwin+trace+";

  // Throws SessionError if a plusarg asks for a trace whose file cannot be written.
  explicit Trace(const std::vector<std::string>& plus_args);

  bool enabled() const { return !signals_.empty(); }
  // Returns the cycle of the first sample.
  uint64_t from() const { return from_; }
  // Returns the bytes of a sample in a message.
  size_t bytes() const;
  // Returns whether there are samples to read at the start of a cycle: a full buffer, or at the end any.
  bool due(uint64_t cycle, bool at_end) const {
    return enabled() && !written_ && cycle > from_ && (at_end || cycle - from_ >= depth_);
  }
  // Nothing can be read any more.
  void give_up() { written_ = true; }
  // Writes the file: the events are the samples of consecutive cycles. Throws SessionError.
  void write(const ShellEvents& samples, uint64_t period_ps);

 private:
  struct Signal {
    std::string name;
    uint32_t width;
  };

  std::string header() const;
  // Writes a file beside the trace's, so that programs with the same file do not mix. Throws SessionError.
  void save(const std::string& text) const;

  std::vector<Signal> signals_;
  uint64_t from_ = 0, depth_ = 0;
  std::string file_, draft_;
  bool written_ = false;
};

}  // namespace nictwin
