// Package ring tracks the descriptors and buffers of one receive ring that several cores share, as ShRing has it.
//
// The NIC fills descriptors in their order. Every core goes through all of them with a cursor of its own, and takes
// those of its flows. A descriptor's place can be posted again once every cursor has passed it: until then a core may
// still have to look at its completion entry. A buffer can be posted again once its packet was processed, in any order.
//
//	        posted again ◀── places that all cores have passed       filled, not yet seen by a core
//	places  ──────────────┬──────────────────────┬─────────────────────┬──────────────────────▶
//	                 slowest cursor         fastest cursor           taken                 posted
//
// The package is pure: it knows neither time, memory nor driver.
//
// Invariants:
//   - Each descriptor is passed by each core once, in the order of the NIC, so packets of a flow keep their order.
//   - Buffers posted + buffers of packets not processed + free buffers = size of the ring.
//   - Descriptors posted and descriptors that a core has not passed never exceed the size of the ring.
package ring
