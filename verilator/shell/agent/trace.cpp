#include "trace.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "open.hpp"

namespace nictwin {

namespace {

[[noreturn]] void fail(const std::string& file) {
  throw SessionError{kLinkError, "trace: " + file + ": " + std::strerror(errno)};
}

// Removes the text up to a separator from the front, and returns it.
std::string cut(std::string& text, char separator) {
  const size_t at = text.find(separator);
  const std::string first = text.substr(0, at);
  text = at == std::string::npos ? "" : text.substr(at + 1);
  return first;
}

uint64_t number(const std::string& text) { return std::strtoull(text.c_str(), nullptr, 10); }

// Returns the short name of the n-th signal: digits of base 94.
std::string code(size_t n) {
  std::string s;
  do s += char('!' + n % 94);
  while ((n /= 94) != 0);
  return s;
}

// Appends a value change: of a vector, from its bytes, the lowest first.
void change(std::string& out, const uint8_t* value, uint32_t width, size_t n) {
  if (width > 1) out += 'b';
  for (uint32_t i = width; i-- > 0;) out += (value[i / 8] >> i % 8 & 1) != 0 ? '1' : '0';
  if (width > 1) out += ' ';
  out += code(n) + '\n';
}

}  // namespace

Trace::Trace(const std::vector<std::string>& plus_args) {
  for (const std::string& arg : plus_args) {
    if (arg.rfind(kPlusArg, 0) != 0) continue;
    std::string rest = arg.substr(std::strlen(kPlusArg));
    from_ = number(cut(rest, '+'));
    depth_ = number(cut(rest, '+'));
    for (std::string all = cut(rest, '+'); !all.empty();) {
      std::string one = cut(all, ',');
      const std::string name = cut(one, ':');
      signals_.push_back({name, uint32_t(number(one))});
    }
    file_ = rest;
    draft_ = file_ + "." + std::to_string(getpid());
    save("");
    std::remove(draft_.c_str());
  }
}

size_t Trace::bytes() const {
  size_t n = 0;
  for (const Signal& s : signals_) n += (s.width + 7) / 8;
  return n;
}

std::string Trace::header() const {
  std::string out = "$timescale 1ps $end\n$scope module device $end\n";
  for (size_t i = 0; i < signals_.size(); i++) {
    const Signal& s = signals_[i];
    out += "$var wire " + std::to_string(s.width) + " " + code(i) + " " + s.name;
    if (s.width > 1) out += " [" + std::to_string(s.width - 1) + ":0]";
    out += " $end\n";
  }
  return out + "$upscope $end\n$enddefinitions $end\n";
}

void Trace::write(const ShellEvents& samples, uint64_t period_ps) {
  written_ = true;
  std::string out = header();
  for (size_t k = 0; k < samples.list.size(); k++) {
    const uint8_t *now = samples.bytes.data() + samples.list[k].at, *before = k == 0 ? nullptr : now - bytes();
    std::string changes;
    size_t at = 0;
    for (size_t i = 0; i < signals_.size(); i++) {
      const size_t n = (signals_[i].width + 7) / 8;
      const bool same = before != nullptr && std::memcmp(now + at, before + at, n) == 0;
      if (!same) change(changes, now + at, signals_[i].width, i);
      at += n;
    }
    if (!changes.empty()) out += "#" + std::to_string((from_ + k) * period_ps) + "\n" + changes;
  }
  out += "#" + std::to_string((from_ + samples.list.size()) * period_ps) + "\n";
  save(out);
  if (std::rename(draft_.c_str(), file_.c_str()) != 0) fail(file_);
}

void Trace::save(const std::string& text) const {
  std::FILE* f = std::fopen(draft_.c_str(), "w");
  if (f == nullptr) fail(file_);
  const bool whole = std::fwrite(text.data(), 1, text.size(), f) == text.size();
  if (std::fclose(f) != 0 || !whole) fail(file_);
}

}  // namespace nictwin
