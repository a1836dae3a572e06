// Package boardtest draws boards with slow parts, for tests: a board may be arbitrarily slow, and
// its slowness is never a fault of the NIC on it.
//
// Nothing outside tests imports it.
package boardtest
