package apps

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"

	"nictwin/stack/hostnet"
)

// KVServer is a key-value store in host memory: a hash table with linear probing, whose buckets of two cache lines hold
// a key, its use and a value. A lookup loads buckets, a put stores into one. Each flow has a store of its own.
type KVServer struct {
	spec    KVSpec
	seed    uint64
	base    uint64
	buckets uint64 // power of two
	bucket  [kvBucket]byte
	request [PutBytes]byte
	answer  [KVAnswerBytes]byte
	probes  uint64
}

// Layout of a bucket in bytes: 0-15 key, 16 used, 24-87 value.
const (
	kvBucket  = 128
	kvUsed    = 16
	kvValue   = 24
	kvLoaded  = kvValue + ValueBytes
	kvAligned = 128
)

// NewKVServer returns the store for a client with the same seed.
func NewKVServer(seed uint64, s KVSpec) (*KVServer, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	return &KVServer{spec: s, seed: seed, buckets: 2 << bits.Len(uint(s.Pairs-1))}, nil
}

// Probes returns the number of buckets that lookups have loaded.
func (s *KVServer) Probes() uint64 { return s.probes }

// Table returns the address of the hash table, and its length in bytes.
func (s *KVServer) Table() (addr uint64, bytes int) { return s.base, int(s.buckets * kvBucket) }

// Open implements hostnet.Server: it stores version 0 of all pairs.
func (s *KVServer) Open(f *hostnet.Flow) error {
	var err error
	if s.base, err = f.Alloc(s.buckets*kvBucket, kvAligned); err != nil {
		return fmt.Errorf("kv: %w", err)
	}
	empty := make([]byte, kvBucket)
	for i := range s.buckets {
		if err := f.Core().Store(s.base+i*kvBucket, empty); err != nil {
			return err
		}
	}
	var key [KeyBytes]byte
	for i := range s.spec.Pairs {
		keyOf(s.seed, i, key[:])
		at, found := s.lookup(f, key[:])
		if found {
			return fmt.Errorf("kv: pairs have the same key %x: want another seed", key)
		}
		clear(s.bucket[:])
		copy(s.bucket[:], key[:])
		s.bucket[kvUsed] = 1
		valueOf(s.seed, i, 0, s.bucket[kvValue:])
		if err := f.Core().Store(at, s.bucket[:]); err != nil {
			return err
		}
	}
	s.probes = 0
	return nil
}

// lookup loads the bucket of a key into s.bucket and returns its address, or that of the empty bucket for it.
func (s *KVServer) lookup(f *hostnet.Flow, key []byte) (at uint64, found bool) {
	hash := mix(binary.LittleEndian.Uint64(key) ^ binary.LittleEndian.Uint64(key[8:]))
	for i := range s.buckets {
		at = s.base + (hash+i)&(s.buckets-1)*kvBucket
		s.probes++
		if err := f.Core().Load(at, s.bucket[:kvLoaded]); err != nil {
			f.Fail(err)
			return at, false
		}
		if s.bucket[kvUsed] == 0 || bytes.Equal(s.bucket[:KeyBytes], key) {
			return at, s.bucket[kvUsed] != 0
		}
	}
	return at, false // cannot happen: half of the buckets are empty
}

// Take implements hostnet.Server.
func (s *KVServer) Take(f *hostnet.Flow, a *hostnet.Arrival) {
	request := s.request[:min(a.Length, PutBytes)]
	err := f.Core().Load(a.Payload, request)
	f.Release(a.Packet)
	if err != nil {
		f.Fail(err)
		return
	}
	get := a.Length == GetBytes && request[0] == opGet
	if a.Bytes != a.Length || !get && (a.Length != PutBytes || request[0] != opPut) {
		f.Fail(fmt.Errorf("kv: a request of %d bytes, %d of them in its first packet: want a get of %d or a put of %d",
			a.Bytes, a.Length, GetBytes, PutBytes))
		return
	}
	at, found := s.lookup(f, request[kvHeader:GetBytes])
	if found && !get {
		s.put(f, at, request[GetBytes:])
	}
	s.answer[0], s.answer[1] = request[0], kvMissing
	if found {
		s.answer[1] = kvFound
		copy(s.answer[2:], s.bucket[kvValue:])
	}
	f.Answer(a.Message, s.answer[:])
}

// put stores a value in the bucket that was looked up, unless a later version is there.
func (s *KVServer) put(f *hostnet.Flow, at uint64, value []byte) {
	be := binary.BigEndian
	if be.Uint32(value) <= be.Uint32(s.bucket[kvValue:]) {
		return
	}
	copy(s.bucket[kvValue:], value)
	if err := f.Core().Store(at+kvValue, s.bucket[kvValue:kvLoaded]); err != nil {
		f.Fail(err)
	}
}

// Work implements hostnet.Server.
func (s *KVServer) Work(*hostnet.Flow) bool { return false }

// Idle implements hostnet.Server.
func (s *KVServer) Idle() bool { return true }

var (
	_ hostnet.Client = (*KVClient)(nil)
	_ hostnet.Server = (*KVServer)(nil)
)
