package seq

// Bitmap has one bit for each place of a window.
type Bitmap []uint64

// NewBitmap returns a clear Bitmap of n bits; n is a multiple of 64.
func NewBitmap(n int) Bitmap { return make(Bitmap, n/64) }

func (b Bitmap) Has(i int) bool { return b[i>>6]>>(i&63)&1 != 0 }
func (b Bitmap) Set(i int)      { b[i>>6] |= 1 << (i & 63) }
func (b Bitmap) Clear(i int)    { b[i>>6] &^= 1 << (i & 63) }

// Word returns the 64 bits from i on, wrapping at the end.
func (b Bitmap) Word(i int) uint64 {
	lo, hi := b[i>>6], b[(i>>6+1)%len(b)]
	if s := i & 63; s != 0 {
		return lo>>s | hi<<(64-s)
	}
	return lo
}
