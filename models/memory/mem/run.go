package mem

// Runner is a Target that takes runs: a core's writes of several consecutive lines in one access
// with Access.Line set. A run takes the same time, leaves the same state and counts the same
// statistics as one write for each line, issued back to back. The first and the last line may be
// partial.
//
// Line is called when a line has taken effect, in order and never during Access; for the last line,
// Done is called instead. more is set if the next line ends right afterwards, with no other event
// in between.
type Runner interface {
	Target

	// TakesRun reports whether a run of n bytes at addr may be issued at this moment. If not, the
	// initiator issues its lines as single writes.
	TakesRun(addr uint64, n int) bool
}

// TakesRun reports whether a target takes a run of n bytes at addr at this moment.
func TakesRun(t Target, addr uint64, n int) bool {
	r, ok := t.(Runner)
	return ok && r.TakesRun(addr, n)
}

// InLine returns how many of n bytes at addr lie in the line of addr.
func InLine(addr uint64, n int) int { return min(n, LineBytes-int(addr%LineBytes)) }

// Lines returns how many lines n bytes at addr touch; n is 1 or more.
func Lines(addr uint64, n int) uint64 { return (addr+uint64(n)-1)/LineBytes - addr/LineBytes + 1 }
