package flexins

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"nictwin/models/format/wire"
)

// arriving is a flow that ends on the Arm cores of server 0: packets of queue pairs that the card does not have enter
// its ports as a capture does (scenarios: background). A core takes each into the cache, reads its headers and
// invalidates its buffer, and copies nothing to the host.
type arriving struct {
	first, cores int // data cores that take the packets, by turns
	payload      int // of a packet
}

// Offsets in a RoCEv2 packet over IPv4, and its parts that only name lengths and protocols.
const (
	etherAt, ipAt, udpAt, bthAt, payloadAt = 0, 14, 34, 42, 54
	icrcBytes                              = 4
	strangers                              = 0xffff00 // queue pairs that no card has; the low bits select a core
)

// frame returns the packet for a core, with the addresses of a port.
func (a *arriving) frame(core, port int) ([]byte, error) {
	b := make([]byte, payloadAt+a.payload+icrcBytes)
	to, from := [6]byte{2, 0, 0, 0, byte(port), 1}, [6]byte{2, 0, 0, 0, byte(port), 2}
	copy(b[etherAt:], to[:])
	copy(b[etherAt+len(to):], from[:])
	be := binary.BigEndian
	be.PutUint16(b[12:], 0x0800)
	ip := b[ipAt:]
	ip[0], ip[8], ip[9] = 0x45, 64, 17
	be.PutUint16(ip[2:], uint16(len(ip)))
	copy(ip[12:], []byte{10, 0, byte(port), 2, 10, 0, byte(port), 1})
	udp := b[udpAt:]
	be.PutUint16(udp, 0xc000)
	be.PutUint16(udp[2:], wire.Port)
	be.PutUint16(udp[4:], uint16(len(udp)))
	h := wire.BTHFields{Opcode: wire.UCWriteMiddle, PKey: 0xffff, DestQP: strangers + uint32(core)}
	if err := h.Encode(b[bthAt:]); err != nil {
		return nil, err
	}
	return b, wire.SealFrame(b, false)
}

// capture writes a pcap file with a packet for each core.
func (a *arriving) capture(path string, port int) error {
	const magic, version, snap, ethernet = 0xa1b2c3d4, 4<<16 | 2, 1 << 16, 1
	le := binary.LittleEndian
	var file []byte
	for _, v := range []uint32{magic, version, 0, 0, snap, ethernet} {
		file = le.AppendUint32(file, v)
	}
	for i := range a.cores {
		f, err := a.frame(a.first+i, port)
		if err != nil {
			return err
		}
		for _, v := range []uint32{0, uint32(i), uint32(len(f)), uint32(len(f))} {
			file = le.AppendUint32(file, v)
		}
		file = append(file, f...)
	}
	return os.WriteFile(path, file, 0o600)
}

// captures writes the flow's captures, one for each port, to a new folder, which the caller must remove.
func (a *arriving) captures() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "flexins"); err != nil {
		return "", err
	}
	for port := range 2 {
		err = errors.Join(err, a.capture(captureOf(dir, port), port))
	}
	return dir, err
}

func captureOf(dir string, port int) string {
	return filepath.Join(dir, fmt.Sprintf("port%d.pcap", port))
}
