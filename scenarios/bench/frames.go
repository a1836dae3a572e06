package bench

import (
	"encoding/binary"
	"math/rand/v2"

	"nictwin/models/format/wire"
	"nictwin/models/nic/nicspec"
)

// Offsets of the headers and the payload in the frames that Frames returns, and the length of the shortest frame.
const (
	ipAt     = 14
	udpAt    = ipAt + 20
	bthAt    = udpAt + 8
	bodyAt   = bthAt + wire.BTHSize
	minFrame = nicspec.FrameMin
)

// Frames returns n valid RoCEv2 frames of `size` bytes: reliable SEND middle packets to queue pairs 0, 1, ... in
// turn, with random payload, ICRC, UDP and IPv4 checksums. Bytes beyond whole words are Ethernet padding.
func Frames(n, size int, seed uint64) ([][]byte, error) {
	const stream = 0x62656e63 // makes payloads differ from those of other generators with the same seed
	rng := rand.New(rand.NewPCG(seed, stream))
	frames := make([][]byte, n)
	for i := range frames {
		f, err := frame(uint32(i), max(size, minFrame), rng)
		if err != nil {
			return nil, err
		}
		frames[i] = f
	}
	return frames, nil
}

func frame(i uint32, size int, rng *rand.Rand) ([]byte, error) {
	be := binary.BigEndian
	f := make([]byte, size)
	copy(f, []byte{2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0})
	body := (size - bodyAt - wire.ICRCSize) &^ 3
	end := bodyAt + body + wire.ICRCSize
	ip := f[ipAt:]
	ip[0], ip[8], ip[9] = 0x45, 64, 17
	be.PutUint16(ip[2:], uint16(end-ipAt))
	be.PutUint16(ip[4:], uint16(i))
	copy(ip[12:], []byte{10, 0, 0, 2, 10, 0, 0, 1})
	be.PutUint16(f[udpAt:], 0xc000|uint16(i&0x3fff))
	be.PutUint16(f[udpAt+2:], wire.Port)
	be.PutUint16(f[udpAt+4:], uint16(end-udpAt))
	bth := wire.BTHFields{Opcode: wire.RCSendMiddle, PKey: 0xffff, DestQP: i & 0xffffff, PSN: i & 0xffffff}
	if err := bth.Encode(f[bthAt:]); err != nil {
		return nil, err
	}
	for at := bodyAt; at < bodyAt+body; at += 4 {
		be.PutUint32(f[at:], rng.Uint32())
	}
	return f, wire.SealFrame(f, true)
}
