package nic

import "hash/fnv"

// stall decides for each cycle whether a stream stands still. It is a pure
// function of seed, stream and cycle, so that no other stream and no skipped
// cycle changes it.
type stall struct {
	seed    uint64
	percent uint64
}

func newStall(s Stall, stream string, percent int) stall {
	h := fnv.New64a()
	h.Write([]byte(stream))
	return stall{seed: s.Seed ^ h.Sum64(), percent: uint64(percent)}
}

// at reports whether the stream stands still in a cycle.
func (s *stall) at(cycle int64) bool {
	return s.percent != 0 && mix(s.seed+uint64(cycle))%100 < s.percent
}

// from returns the first cycle from the given one on in which the stream moves.
func (s *stall) from(cycle int64) int64 {
	for s.at(cycle) {
		cycle++
	}
	return cycle
}

// beats returns the cycle of the last of n beats of which the first may move
// in the given cycle.
func (s *stall) beats(cycle int64, n int) int64 {
	if s.percent == 0 {
		return cycle + int64(n) - 1
	}
	for {
		cycle = s.from(cycle)
		if n--; n == 0 {
			return cycle
		}
		cycle++
	}
}

// mix is the finaliser of SplitMix64.
func mix(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
