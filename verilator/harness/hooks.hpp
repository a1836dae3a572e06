// Functions that verilated code calls when it prints, stops, finishes or fails. Included before everything else in
// every translation unit of a build, see VL_PRINTF and VL_USER_* in verilated.h.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif
// Prints to standard error and remembers the text for the ERROR frame.
int nictwin_printf(const char* format, ...) __attribute__((format(printf, 1, 2)));
#ifdef __cplusplus
}
#endif

#define VL_PRINTF nictwin_printf
#define VL_USER_FINISH
#define VL_USER_STOP
#define VL_USER_FATAL
