#include "textflag.h"

// CHECK goes on at next unless a limit of this process (prlimit64) is below least; then text is told.
#define CHECK(which, least, text, next) \
	MOVQ $302, AX \
	XORL DI, DI \
	MOVQ $which, SI \
	XORL DX, DX \
	MOVQ SP, R10 \
	SYSCALL \
	TESTQ AX, AX \
	JNE next \
	MOVQ $least, CX \
	CMPQ 0(SP), CX \
	JCC next \
	MOVQ text(SB), SI \
	MOVQ text+8(SB), DX \
	JMP tell \
next:

// entry is where the program begins when it is linked with -E main.entry: before Go's runtime, which needs address space and
// files to start and ends with a trace and exit code 2 where it gets none. No other code of this program could tell that in
// time. What a run takes is looked at later, by cli.CheckLimits.
TEXT ·entry(SB), NOSPLIT|NOFRAME|TOPFRAME, $0
	SUBQ $16, SP
	CHECK(9, 2147483648, ·noSpace, space)
	CHECK(7, 7, ·noFiles, files)
	ADDQ $16, SP
	JMP _rt0_amd64_linux(SB)

tell:
	MOVQ $1, AX // write
	MOVQ $2, DI
	SYSCALL
	MOVQ $231, AX // exit_group
	MOVQ $3, DI
	SYSCALL
