package apps

import (
	"cmp"
	"encoding/binary"
	"fmt"

	"nictwin/models/sim/field"
	"nictwin/stack/apps/kind"
	"nictwin/stack/hostnet"
)

// Sizes of the usual key-value store in bytes (ce.kv): a put with these and its header makes a frame of 144 B over
// IPv4.
const (
	KeyBytes   = 16
	ValueBytes = 64
	kvHeader   = 6
	GetBytes   = kvHeader + KeyBytes
	PutBytes   = GetBytes + ValueBytes

	// KVAnswerBytes is the length of an answer: operation, status, and the value that is stored after the operation.
	KVAnswerBytes = kvStatus + ValueBytes

	kvStatus = 2
)

// Operations, and their results.
const (
	opGet = 1
	opPut = 2

	kvFound   = 0
	kvMissing = 1
)

// A request is, in bytes: 0 operation, 1 zero, 2-5 version of the value of a put (big-endian), then key and value: of
// the usual lengths 6-21 and 22-85. Values carry their version, so that a client can tell whether an answer may be
// right: the server keeps the highest version of a key, and a put that comes twice changes nothing.

// KVSpec describes a store and the requests to it. Lengths of 0 are KeyBytes and ValueBytes.
type KVSpec kind.KVSpec

// DefaultKV returns 1,000 pairs, and as many gets as puts (ce.kv).
func DefaultKV() KVSpec { return KVSpec(kind.DefaultKV()) }

// Validate returns every error of the spec.
func (s *KVSpec) Validate() error {
	whole := kind.KVSpec(*s)
	whole.Key, whole.Value = s.lengths()
	return field.Under("kv", whole.Validate())
}

// lengths returns the lengths of keys and values.
func (s *KVSpec) lengths() (key, value int) {
	return cmp.Or(s.Key, KeyBytes), cmp.Or(s.Value, ValueBytes)
}

// RequestBytes returns the lengths of gets and puts.
func (s *KVSpec) RequestBytes() (get, put int) {
	key, value := s.lengths()
	return kvHeader + key, kvHeader + key + value
}

// AnswerBytes returns the length of an answer: operation, status, and the value that is stored after the operation.
func (s *KVSpec) AnswerBytes() int {
	_, value := s.lengths()
	return kvStatus + value
}

// keyOf writes the key of a pair.
func keyOf(seed uint64, pair int, b []byte) { pattern(seed^0x6b6579, uint32(pair), 0, b) }

// valueOf writes a version of a pair's value: the version, and a pattern of it.
func valueOf(seed uint64, pair int, version uint32, b []byte) {
	pattern(seed+uint64(version)<<20, uint32(pair), 0, b)
	binary.BigEndian.PutUint32(b, version)
}

// KVClient asks for values and puts new ones. It checks that the value of each answer is a version that the key could
// have between request and answer.
type KVClient struct {
	schedule
	spec     KVSpec
	seed     uint64
	pending  []kvRequest // by number modulo their count
	issued   []uint32    // highest version put, by pair
	stored   []uint32    // highest version that an answer showed, by pair
	want     []byte      // a value
	request  []byte
	OnAnswer func(queued, answered Ps) // if set, called for each answer
	stats    KVStats
}

// KVStats counts a client's answers.
type KVStats struct{ Gets, Puts uint64 }

// kvRequest is a request without an answer.
type kvRequest struct {
	pair    int
	put     bool
	version uint32 // of a put; of a get, the lowest one that the answer may have
}

// NewKVClient returns a client with at most the given number of requests without an answer.
func NewKVClient(seed uint64, s KVSpec, outstanding int, l Load) (*KVClient, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	if err := l.Validate(); err != nil {
		return nil, fmt.Errorf("kv: %w", err)
	}
	if outstanding < 1 {
		return nil, fmt.Errorf("kv: %d requests outstanding: want 1 or more", outstanding)
	}
	_, put := s.RequestBytes()
	_, value := s.lengths()
	return &KVClient{schedule: schedule{Load: l}, spec: s, seed: seed,
		pending: make([]kvRequest, hostnet.Places(outstanding)), issued: make([]uint32, s.Pairs),
		stored: make([]uint32, s.Pairs), want: make([]byte, value), request: make([]byte, put)}, nil
}

// Stats returns the counters.
func (c *KVClient) Stats() KVStats { return c.stats }

func (c *KVClient) at(id uint32) *kvRequest { return &c.pending[id%uint32(len(c.pending))] }

// Next implements hostnet.Client. The client's seed and the request's id determine the key-value pair and the
// operation.
func (c *KVClient) Next(now Ps, id uint32) (bytes int, ok bool) {
	if !c.due(now) {
		return 0, false
	}
	draw := mix(c.seed ^ uint64(id)<<16)
	get, put := c.spec.RequestBytes()
	r := c.at(id)
	*r = kvRequest{pair: int(draw % uint64(c.spec.Pairs)),
		put: int(draw>>32%uint64(c.spec.Gets+c.spec.Puts)) >= c.spec.Gets}
	if !r.put {
		r.version = c.stored[r.pair]
		return get, true
	}
	c.issued[r.pair]++
	r.version = c.issued[r.pair]
	return put, true
}

// Fill implements hostnet.Client.
func (c *KVClient) Fill(id uint32, offset int, b []byte) {
	get, _ := c.spec.RequestBytes()
	request, r := c.request, c.at(id)
	clear(request)
	request[0] = opGet
	keyOf(c.seed, r.pair, request[kvHeader:get])
	if r.put {
		request[0] = opPut
		binary.BigEndian.PutUint32(request[2:], r.version)
		valueOf(c.seed, r.pair, r.version, request[get:])
	}
	copy(b, request[offset:])
}

// Answered implements hostnet.Client.
func (c *KVClient) Answered(now, queued Ps, id uint32, b []byte) error {
	r := c.at(id)
	want := byte(opGet)
	if r.put {
		want = opPut
	}
	if n := c.spec.AnswerBytes(); len(b) != n || b[0] != want || b[1] != kvFound {
		return fmt.Errorf("kv: %d bytes, operation %d, status %d: want %d bytes, operation %d, status %d", len(b), b[0],
			b[min(1, len(b)-1)], n, want, kvFound)
	}
	value := b[kvStatus:]
	version := binary.BigEndian.Uint32(value)
	if version < r.version || version > c.issued[r.pair] {
		return fmt.Errorf("kv: version %d of pair %d: want %d to %d", version, r.pair, r.version, c.issued[r.pair])
	}
	valueOf(c.seed, r.pair, version, c.want)
	if err := compare("kv: value", 0, value, c.want); err != nil {
		return err
	}
	c.stored[r.pair] = max(c.stored[r.pair], version)
	if r.put {
		c.stats.Puts++
	} else {
		c.stats.Gets++
	}
	if c.OnAnswer != nil {
		c.OnAnswer(queued, now)
	}
	return nil
}
