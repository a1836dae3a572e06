#include "textflag.h"

// entry is where the program begins when it is linked with -E main.entry: before Go's runtime, which needs address space to
// start and ends with a trace and exit code 2 where it gets none. No other code of this program could tell that in time.
TEXT ·entry(SB), NOSPLIT|NOFRAME|TOPFRAME, $0
	SUBQ $16, SP
	MOVQ $302, AX // prlimit64: reads RLIMIT_AS of this process to the stack
	XORL DI, DI
	MOVQ $9, SI
	XORL DX, DX
	MOVQ SP, R10
	SYSCALL
	TESTQ AX, AX
	JNE start
	MOVQ $2147483648, CX // bytes that the runtime surely starts with; cli.CheckLimits looks at what a run takes
	CMPQ 0(SP), CX
	JCC start
	MOVQ $1, AX // write
	MOVQ $2, DI
	MOVQ ·noSpace(SB), SI
	MOVQ ·noSpace+8(SB), DX
	SYSCALL
	MOVQ $231, AX // exit_group
	MOVQ $3, DI
	SYSCALL

start:
	ADDQ $16, SP
	JMP _rt0_amd64_linux(SB)
