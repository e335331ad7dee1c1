#include "textflag.h"

// caught is the handler of signals that are to do nothing.
TEXT caught<>(SB), NOSPLIT|NOFRAME, $0-0
	RET

DATA ·caughtAddress+0(SB)/8, $caught<>(SB)
GLOBL ·caughtAddress(SB), RODATA|NOPTR, $8
