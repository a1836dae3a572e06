// Package shard divides the work of a command among processes: shard I of N has every N-th item, beginning with the
// I-th. Items are numbered the same in all shards, so that N shards together have every item once.
package shard

import (
	"fmt"
	"strconv"
	"strings"
)

// Max bounds the number of shards.
const Max = 10_000

// Shard selects one part of a list that is divided into equal parts. The zero value selects the whole list.
type Shard struct {
	Index int // number of the part, from 1
	Of    int // number of parts
}

// Set parses I/N, such as 2/4.
func (s *Shard) Set(text string) error {
	first, rest, _ := strings.Cut(text, "/")
	i, errI := strconv.Atoi(first)
	n, errN := strconv.Atoi(rest)
	if errI != nil || errN != nil || n < 1 || n > Max || i < 1 || i > n {
		return fmt.Errorf("%q: want %s", text, Want)
	}
	*s = Shard{i, n}
	return nil
}

// Want describes the values that Set accepts.
const Want = "I/N with I from 1 to N, and N up to 10000, such as 2/4"

// String returns I/N; empty for the whole list.
func (s *Shard) String() string {
	if s.Of == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d", s.Index, s.Of)
}

// Type names the flag's type.
func (s *Shard) Type() string { return "shard" }

// At returns the number in the whole list of the shard's item k, both from 0.
func (s Shard) At(k int) int {
	if s.Of == 0 {
		return k
	}
	return s.Index - 1 + k*s.Of
}

// Len returns how many of n items the shard has.
func (s Shard) Len(n int) int {
	if s.Of == 0 {
		return n
	}
	return max(0, (n-s.Index+s.Of)/s.Of)
}

// Check returns an error if some shard would have none of n items: a run that checks nothing fails.
func (s Shard) Check(n int, items string) error {
	if s.Of > n {
		return fmt.Errorf("--shard %v: there are %d %s: want at most %d shards", &s, n, items, n)
	}
	return nil
}

// Of returns the shard's items of a list.
func Of[T any](s Shard, list []T) []T {
	part := make([]T, 0, s.Len(len(list)))
	for k := range s.Len(len(list)) {
		part = append(part, list[s.At(k)])
	}
	return part
}
