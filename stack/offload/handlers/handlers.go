// Package handlers contains the handlers shipped with the engine, and their clients' side: the walk of a linked list
// and the batched READ of FN 3.5 and 5.6.
package handlers

import (
	"encoding/binary"
	"errors"
	"fmt"

	"nictwin/stack/offload"
)

// Codes of the shipped handlers. 0x1234 is the paper's example of a batched READ (FN A.3).
const (
	CodeBatch uint16 = 0x1234
	CodeList  uint16 = 0x1235
)

// Offsets and sizes of a list node: key, value, address of the next node or 0.
const (
	ValueBytes = 64
	NodeBytes  = 8 + ValueBytes + 8
	nextAt     = 8 + ValueBytes
)

// MaxHops limits a walk: a longer or circular list ends it with an error.
const MaxHops = 1 << 16

// MaxBatch is the most addresses of a batched READ, whose values fit into a handler's memory.
const MaxBatch = 512

const prefix = 8 // header before the arguments of a request, and before the data of a response

// EncodeNode encodes a node of a list.
func EncodeNode(b []byte, key uint64, value []byte, next uint64) {
	binary.LittleEndian.PutUint64(b, key)
	copy(b[8:nextAt], value)
	binary.LittleEndian.PutUint64(b[nextAt:], next)
}

func begin(b []byte, code uint16, number uint32) {
	binary.LittleEndian.PutUint16(b, code)
	binary.LittleEndian.PutUint16(b[2:], 0)
	binary.LittleEndian.PutUint32(b[4:], number)
}

// ListRequestBytes is the length of a request for a walk.
const ListRequestBytes = prefix + 24

// EncodeList encodes a request: the first node's address, the key to search for, and the most nodes to read.
func EncodeList(b []byte, number uint32, head, key uint64, hops uint32) {
	begin(b, CodeList, number)
	binary.LittleEndian.PutUint64(b[prefix:], head)
	binary.LittleEndian.PutUint64(b[prefix+8:], key)
	binary.LittleEndian.PutUint32(b[prefix+16:], hops)
	binary.LittleEndian.PutUint32(b[prefix+20:], 0)
}

// BatchRequestBytes is the length of a request for n values.
func BatchRequestBytes(n int) int { return prefix + 8 + 8*n }

// EncodeBatch encodes a request for the values at addresses.
func EncodeBatch(b []byte, number uint32, addrs []uint64) {
	begin(b, CodeBatch, number)
	binary.LittleEndian.PutUint64(b[prefix:], uint64(len(addrs)))
	for i, a := range addrs {
		binary.LittleEndian.PutUint64(b[prefix+8+8*i:], a)
	}
}

// Response is a handler's response to a client.
type Response struct {
	Code   uint16
	Status offload.Status
	Number uint32
	Data   []byte // the message behind its header
}

// Decode reads a response.
func Decode(b []byte) (r Response, err error) {
	if len(b) < prefix {
		return r, fmt.Errorf("handlers: a response of %d B: want %d or more", len(b), prefix)
	}
	r.Code, r.Status = binary.LittleEndian.Uint16(b), offload.Status(binary.LittleEndian.Uint16(b[2:]))
	r.Number, r.Data = binary.LittleEndian.Uint32(b[4:]), b[prefix:]
	return r, nil
}

// ListResult is the result of a walk: the number of nodes read, and the value; nil if no node has the key.
type ListResult struct {
	Hops  uint32
	Value []byte
}

// DecodeList reads the data of a walk's response.
func DecodeList(b []byte) (r ListResult, err error) {
	if len(b) != 8+ValueBytes {
		return r, fmt.Errorf("handlers: the response of a walk has %d B: want %d", len(b), 8+ValueBytes)
	}
	r.Hops = binary.LittleEndian.Uint32(b)
	if binary.LittleEndian.Uint32(b[4:]) != 0 {
		r.Value = b[8:]
	}
	return r, nil
}

var errShort = errors.New("the request is shorter than its arguments")

// List walks a list in host memory, with one DMA per node.
func List(c *offload.Context) error {
	at, n := c.Args()
	var args [ListRequestBytes - prefix]byte
	if n < len(args) {
		return errShort
	}
	c.Load(at, args[:])
	next, key := binary.LittleEndian.Uint64(args[:]), binary.LittleEndian.Uint64(args[8:])
	most := min(binary.LittleEndian.Uint32(args[16:]), MaxHops)
	buf := c.Alloc(NodeBytes)
	resp := c.AllocResp(8 + ValueBytes)
	var node [NodeBytes]byte
	var out [8 + ValueBytes]byte
	hops := uint32(0)
	for next != 0 && hops < most {
		if err := c.WaitDMA(c.SubmitDMA(offload.FromHost, next, buf, NodeBytes)); err != nil {
			return err
		}
		hops++
		c.Load(buf, node[:])
		if binary.LittleEndian.Uint64(node[:]) == key {
			binary.LittleEndian.PutUint32(out[4:], 1)
			copy(out[8:], node[8:nextAt])
			break
		}
		next = binary.LittleEndian.Uint64(node[nextAt:])
	}
	binary.LittleEndian.PutUint32(out[:], hops)
	c.Store(resp, out[:])
	c.SubmitResp(resp, len(out))
	return nil
}

// Batch reads the values at many addresses of host memory, with as many DMAs in flight as a handler may have.
func Batch(c *offload.Context) error {
	at, n := c.Args()
	var word [8]byte
	if n < len(word) {
		return errShort
	}
	c.Load(at, word[:])
	count := binary.LittleEndian.Uint64(word[:])
	if count < 1 || count > MaxBatch || uint64(n) < 8+8*count {
		return fmt.Errorf("%d addresses in %d B: want 1 to %d, and their bytes", count, n, MaxBatch)
	}
	addrs := make([]byte, 8*count)
	c.Load(at+8, addrs)
	resp := c.AllocResp(ValueBytes * int(count))
	most := c.DMAs()
	for first := 0; first < int(count); first += most {
		last := min(first+most, int(count))
		var ids []int
		for i := first; i < last; i++ {
			ids = append(ids, c.SubmitDMA(offload.FromHost, binary.LittleEndian.Uint64(addrs[8*i:]),
				resp+uint64(ValueBytes*i), ValueBytes))
		}
		for _, id := range ids {
			if err := c.WaitDMA(id); err != nil {
				return err
			}
		}
	}
	c.SubmitResp(resp, ValueBytes*int(count))
	return nil
}
