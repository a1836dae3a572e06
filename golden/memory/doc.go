// Package memory is what the referee keeps of the memory behind the boundary:
// where ranges lie and whose they are (Map), which bytes of a piece were touched
// (Set), and bytes that the device has read (Store).
//
// It knows no rule of the contract and judges nothing. What a range's owner is,
// whoever enters it says.
//
// Invariants: in steady state nothing allocates; what a Map finds on a page comes
// in the order in which it was entered; the intervals of a Set neither meet nor
// touch.
package memory
