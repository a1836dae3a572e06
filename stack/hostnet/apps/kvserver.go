package apps

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"

	"nictwin/stack/hostnet"
)

// KVServer is a key-value store in host memory: a hash table with linear probing, whose buckets hold a key, its use and
// a value; with the usual lengths they are two cache lines. A lookup loads buckets, a put stores into one. Each flow
// has a store of its own.
type KVServer struct {
	spec    KVSpec
	seed    uint64
	base    uint64
	buckets uint64 // power of two
	bucket  []byte // the latest one that was loaded
	request []byte
	answer  []byte
	probes  uint64

	// Layout of a bucket: the key from 0 on, then whether it is in use, and the value up to end. With the usual
	// lengths: 0-15, 16, 24-87. Buckets are whole cache lines.
	getBytes    int // length of a get
	putBytes    int // length of a put
	used, value int
	end         int
}

// NewKVServer returns the store for a client with the same seed.
func NewKVServer(seed uint64, s KVSpec) (*KVServer, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	key, value := s.lengths()
	const word, line = 8, 64
	x := &KVServer{spec: s, seed: seed, buckets: 2 << bits.Len(uint(s.Pairs-1)), used: key,
		value: key/word*word + word}
	x.end = x.value + value
	x.getBytes, x.putBytes = s.RequestBytes()
	x.bucket, x.request = make([]byte, (x.end+line-1)/line*line), make([]byte, x.putBytes)
	x.answer = make([]byte, s.AnswerBytes())
	return x, nil
}

// Probes returns the number of buckets that lookups have loaded.
func (s *KVServer) Probes() uint64 { return s.probes }

// Table returns the address of the hash table, and its length in bytes.
func (s *KVServer) Table() (addr uint64, bytes int) { return s.base, int(s.buckets) * len(s.bucket) }

// Open implements hostnet.Server: it stores version 0 of all pairs.
func (s *KVServer) Open(f *hostnet.Flow) error {
	var err error
	const aligned = 128
	n := uint64(len(s.bucket))
	if s.base, err = f.Alloc(s.buckets*n, aligned); err != nil {
		return fmt.Errorf("kv: %w", err)
	}
	empty := make([]byte, n)
	for i := range s.buckets {
		if err := f.Core().Store(s.base+i*n, empty); err != nil {
			return err
		}
	}
	key := make([]byte, s.used)
	for i := range s.spec.Pairs {
		keyOf(s.seed, i, key)
		at, found := s.lookup(f, key)
		if found {
			return fmt.Errorf("kv: pairs have the same key %x: want another seed", key)
		}
		clear(s.bucket)
		copy(s.bucket, key)
		s.bucket[s.used] = 1
		valueOf(s.seed, i, 0, s.bucket[s.value:s.end])
		if err := f.Core().Store(at, s.bucket); err != nil {
			return err
		}
	}
	s.probes = 0
	return nil
}

// lookup loads the bucket of a key into s.bucket and returns its address, or that of the empty bucket for it.
func (s *KVServer) lookup(f *hostnet.Flow, key []byte) (at uint64, found bool) {
	const word = 8
	hash := binary.LittleEndian.Uint64(key)
	if len(key) > word {
		hash ^= binary.LittleEndian.Uint64(key[len(key)-word:])
	}
	hash = mix(hash)
	for i := range s.buckets {
		at = s.base + (hash+i)&(s.buckets-1)*uint64(len(s.bucket))
		s.probes++
		if err := f.Core().Load(at, s.bucket[:s.end]); err != nil {
			f.Fail(err)
			return at, false
		}
		if s.bucket[s.used] == 0 || bytes.Equal(s.bucket[:s.used], key) {
			return at, s.bucket[s.used] != 0
		}
	}
	return at, false // cannot happen: half of the buckets are empty
}

// Take implements hostnet.Server.
func (s *KVServer) Take(f *hostnet.Flow, a *hostnet.Arrival) {
	request := s.request[:min(a.Length, s.putBytes)]
	err := f.Core().Load(a.Payload, request)
	f.Release(a.Packet)
	if err != nil {
		f.Fail(err)
		return
	}
	get := a.Length == s.getBytes && request[0] == opGet
	if a.Bytes != a.Length || !get && (a.Length != s.putBytes || request[0] != opPut) {
		f.Fail(fmt.Errorf("kv: a request of %d bytes, %d of them in its first packet: want a get of %d or a put of %d",
			a.Bytes, a.Length, s.getBytes, s.putBytes))
		return
	}
	at, found := s.lookup(f, request[kvHeader:s.getBytes])
	if found && !get {
		s.put(f, at, request[s.getBytes:])
	}
	s.answer[0], s.answer[1] = request[0], kvMissing
	if found {
		s.answer[1] = kvFound
		copy(s.answer[kvStatus:], s.bucket[s.value:s.end])
	}
	f.Answer(a.Message, s.answer)
}

// put stores a value in the bucket that was looked up, unless a later version is there.
func (s *KVServer) put(f *hostnet.Flow, at uint64, value []byte) {
	be := binary.BigEndian
	if be.Uint32(value) <= be.Uint32(s.bucket[s.value:]) {
		return
	}
	copy(s.bucket[s.value:s.end], value)
	if err := f.Core().Store(at+uint64(s.value), s.bucket[s.value:s.end]); err != nil {
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
