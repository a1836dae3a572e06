// Package seq provides the counters of transports: packet sequence numbers, bitmaps over a window of them, and a
// tracker of copies that end in any order.
//
// It knows no packet and no time.
//
// Invariants:
//   - PSNs have 24 bits; a PSN is before another if it is less than half of the space behind it.
//   - Nothing allocates, but for NewBitmap and the growth of an Order.
package seq
