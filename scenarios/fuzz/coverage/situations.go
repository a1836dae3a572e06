package coverage

import (
	"nictwin/models/nic/nicspec"
)

// LongCopy is the length in bytes from which on copies have bins of their own, as have the lengths next to it.
const LongCopy = 64 << 10

// Words used in the names of bins for situations.
var (
	FrameHangs   = "a frame hangs"
	BehindCopies = []string{"a frame behind", "a failed copy and a frame behind",
		"a failed copy of another queue behind"}
	BehindFailed    = []string{"little was posted behind", "much was posted behind"}
	longCopyWords   = []string{"64 KB", "up to 512 KB", "up to 1 MB"}
	longCopyEndings = []string{"up to a line less", "a multiple of 64 KB", "up to a line more"}
)

// LongCopyClass classifies a long copy by its length.
func LongCopyClass(n int) string {
	switch {
	case n <= LongCopy+nicspec.LineBytes:
		return longCopyWords[0]
	case n <= 8*LongCopy+nicspec.LineBytes:
		return longCopyWords[1]
	}
	return longCopyWords[2]
}

// LongCopyEnd says how close a length is to a multiple of 64 KB; empty: not close.
func LongCopyEnd(n int) string {
	switch beyond := n % LongCopy; {
	case beyond == 0:
		return longCopyEndings[1]
	case beyond <= nicspec.LineBytes:
		return longCopyEndings[2]
	case LongCopy-beyond <= nicspec.LineBytes:
		return longCopyEndings[0]
	}
	return ""
}

// situations adds the groups for sequences that random operations rarely produce, and that the generator therefore
// inserts.
func (u *Universe) situations() {
	if u.sizes.Has(nicspec.PartCopy) {
		u.add("long copies", longCopyWords, mpsWords)
		u.add("ends of long copies", longCopyEndings)
		u.add("copies held back", BehindCopies)
	}
	u.add("failing reads of work entries", BehindFailed)
	u.add("frames older than their queue", splitWords)
}
