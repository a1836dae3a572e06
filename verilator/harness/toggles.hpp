// Counts changes of signals' bits, in coverage builds. Verilator's code for waveforms passes every signal that may have
// changed to a trace buffer, word by word; the buffer here counts changes instead of writing them to a file. It
// replaces verilated_vcd_c.h and has its names, in the form of Verilator 5.006: a build with another version fails.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "verilated.h"
#include "verilated_trace.h"

namespace nictwin {

// For each word of the signals' values: the value, the bits that changed, and those that changed more than once.
struct ToggleWords {
  std::vector<uint32_t> value, once, twice;

  void resize(size_t words) {
    for (auto* v : {&value, &once, &twice}) v->resize(words);
  }
  // Returns the number of changes of a bit of word i: 0, 1, or 2 for more.
  uint8_t changes(size_t i, unsigned bit) const { return uint8_t((once[i] >> bit & 1) + (twice[i] >> bit & 1)); }
};

// A signal, or an entry of a memory: its first word, its range of bits (-1: it is no vector), and its name below the
// top: scopes end in a space, fields begin with a dot, entries are in brackets.
struct ToggleSignal {
  uint32_t word;
  int msb, lsb;
  std::string name;
};

}  // namespace nictwin

class VerilatedVcd final {
 public:
  // The generated code passes values to it: those of all signals at first (full*), later those of
  // signals that may have changed (chg*).
  class Buffer final {
   public:
    explicit Buffer(nictwin::ToggleWords& w) : w_(w) {}
    uint32_t* oldp(uint32_t code) { return w_.value.data() + code; }

    void fullBit(uint32_t* at, CData v) { *at = v; }
    void fullCData(uint32_t* at, CData v, int) { *at = v; }
    void fullSData(uint32_t* at, SData v, int) { *at = v; }
    void fullIData(uint32_t* at, IData v, int) { *at = v; }
    void fullQData(uint32_t* at, QData v, int) { at[0] = uint32_t(v), at[1] = uint32_t(v >> 32); }
    void fullWData(uint32_t* at, const WData* v, int bits) { std::memcpy(at, v, size_t(VL_WORDS_I(bits)) * 4); }

    VL_ATTR_ALWINLINE void chgBit(uint32_t* at, CData v) { word(at, v); }
    VL_ATTR_ALWINLINE void chgCData(uint32_t* at, CData v, int) { word(at, v); }
    VL_ATTR_ALWINLINE void chgSData(uint32_t* at, SData v, int) { word(at, v); }
    VL_ATTR_ALWINLINE void chgIData(uint32_t* at, IData v, int) { word(at, v); }
    VL_ATTR_ALWINLINE void chgQData(uint32_t* at, QData v, int) {
      word(at, uint32_t(v));
      word(at + 1, uint32_t(v >> 32));
    }
    VL_ATTR_ALWINLINE void chgWData(uint32_t* at, const WData* v, int bits) {
      if (VL_UNLIKELY(std::memcmp(at, v, size_t(VL_WORDS_I(bits)) * 4) != 0)) wide(at, v, VL_WORDS_I(bits));
    }

   private:
    VL_ATTR_ALWINLINE void word(uint32_t* at, uint32_t v) {
      if (VL_UNLIKELY(*at != v)) change(at, v);
    }
    VL_ATTR_NOINLINE void change(uint32_t* at, uint32_t v) { wide(at, &v, 1); }
    VL_ATTR_NOINLINE void wide(uint32_t* at, const uint32_t* v, int words) {
      uint32_t* once = w_.once.data() + (at - w_.value.data());
      uint32_t* twice = w_.twice.data() + (at - w_.value.data());
      for (int i = 0; i < words; i++) {
        uint32_t d = at[i] ^ v[i];
        twice[i] |= once[i] & d;
        once[i] |= d;
        at[i] = v[i];
      }
    }

    nictwin::ToggleWords& w_;
  };

  using InitCb = void (*)(void*, VerilatedVcd*, uint32_t);
  using DumpCb = void (*)(void*, Buffer*);
  using CleanupCb = void (*)(void*, VerilatedVcd*);

  // The generated code registers itself and names the signals.
  void addModel(VerilatedModel*) {}
  void addInitCb(InitCb f, void* model) { f(model, this, 0); }
  void addFullCb(DumpCb f, void* model) { full_ = f, model_ = model; }
  void addChgCb(DumpCb f, void* model) { chg_ = f, model_ = model; }
  void addCleanupCb(CleanupCb f, void*) { cleanup_ = f; }
  void scopeEscape(char) {}
  void pushNamePrefix(const std::string& s) { prefixes_.push_back(prefix() + s); }
  void popNamePrefix(unsigned n = 1) { prefixes_.resize(prefixes_.size() - n); }
  void declBit(uint32_t word, const char* name, bool array, int entry) { declare(word, name, array, entry, -1, -1, 1); }
  void declBus(uint32_t word, const char* name, bool array, int entry, int msb, int lsb) {
    declare(word, name, array, entry, msb, lsb, std::abs(msb - lsb) + 1);
  }
  void declQuad(uint32_t word, const char* name, bool array, int entry, int msb, int lsb) {
    declBus(word, name, array, entry, msb, lsb);
  }
  void declArray(uint32_t word, const char* name, bool array, int entry, int msb, int lsb) {
    declBus(word, name, array, entry, msb, lsb);
  }

  // Takes the present values as the starting point.
  void begin() {
    Buffer b(words_);
    if (full_) full_(model_, &b);
    if (cleanup_) cleanup_(model_, this);
  }
  // Counts the bits that have changed since the latest sample.
  void sample() {
    Buffer b(words_);
    if (chg_) chg_(model_, &b);
    if (cleanup_) cleanup_(model_, this);
  }

  nictwin::ToggleWords& words() { return words_; }
  const std::vector<nictwin::ToggleSignal>& signals() const { return signals_; }

 private:
  std::string prefix() const { return prefixes_.empty() ? "" : prefixes_.back(); }

  void declare(uint32_t word, const char* name, bool array, int entry, int msb, int lsb, int bits) {
    std::string full = prefix() + name;
    if (array) full += "[" + std::to_string(entry) + "]";
    for (size_t at; (at = full.find("\x86 ")) != std::string::npos;) full.replace(at, 2, ".");  // the mark of structs
    signals_.push_back({word, msb, lsb, full});
    if (words_.value.size() < word + VL_WORDS_I(bits)) words_.resize(word + VL_WORDS_I(bits));
  }

  DumpCb full_ = nullptr, chg_ = nullptr;
  CleanupCb cleanup_ = nullptr;
  void* model_ = nullptr;
  std::vector<std::string> prefixes_;
  std::vector<nictwin::ToggleSignal> signals_;
  nictwin::ToggleWords words_;
};

// The interface with which the generated model registers itself.
class VerilatedVcdC final {
 public:
  bool isOpen() const { return false; }
  VerilatedVcd* spTrace() { return &trace_; }

 private:
  VerilatedVcd trace_;
};
