// Package seq has what transports count with: packet sequence numbers, bitmaps over a window of them, and the order in
// which copies that end in any order are over.
//
// It knows no packet and no time.
//
// Invariants:
//   - PSNs have 24 bits, and the later half of the space counts as before.
//   - Nothing allocates, but for NewBitmap and the growth of an Order.
package seq
