#include <cstdarg>
#include <cstdio>

#include "stop.hpp"
#include "verilated.h"

namespace nictwin {

Stop g_stop;

namespace {

constexpr size_t kLastWords = 4096;
std::string g_printed;  // the newest text that the design printed

void request(ErrorCode code, const char* file, int line, const char* what) {
  if (g_stop.requested) return;
  g_stop.requested = true;
  g_stop.code = code;
  g_stop.text = g_printed;
  g_stop.text += file != nullptr && file[0] != 0 ? file : "design";
  g_stop.text += ":" + std::to_string(line) + ": " + what;
}

}  // namespace

void reset_stop() {
  g_stop = Stop{};
  g_printed.clear();
}

}  // namespace nictwin

extern "C" int nictwin_printf(const char* format, ...) {
  char text[1024];
  va_list args;
  va_start(args, format);
  int n = std::vsnprintf(text, sizeof text, format, args);
  va_end(args);
  if (n <= 0) return n;
  size_t len = size_t(n) < sizeof text ? size_t(n) : sizeof text - 1;
  std::fwrite(text, 1, len, stderr);
  std::string& printed = nictwin::g_printed;
  printed.append(text, len);
  if (printed.size() > 2 * nictwin::kLastWords) printed.erase(0, printed.size() - nictwin::kLastWords);
  return n;
}

void vl_finish(const char* file, int line, const char*) VL_MT_UNSAFE {
  nictwin::request(nictwin::ErrorCode::kFinish, file, line, "$finish");
}

void vl_stop(const char* file, int line, const char*) VL_MT_UNSAFE {
  nictwin::request(nictwin::ErrorCode::kAssert, file, line, "stopped by $error, $fatal, $stop or a failed assertion");
}

void vl_fatal(const char* file, int line, const char*, const char* msg) VL_MT_UNSAFE {
  nictwin::request(nictwin::ErrorCode::kInternal, file, line, msg);
  throw nictwin::Fatal{};
}
