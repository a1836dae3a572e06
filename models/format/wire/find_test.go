package wire

import (
	"bytes"
	"encoding/binary"
	"testing"
)

// found returns the result of FindRoCE, and checks that VerifyFrameICRC finds a packet in the same
// frames.
func found(t *testing.T, frame []byte) bool {
	p, ok := FindRoCE(frame)
	c := VerifyFrameICRC(frame)
	if ok != (c.Verdict == OK || c.Verdict == Bad) {
		t.Fatalf("%x is found: %v, but the ICRC is %v", frame, ok, c.Verdict)
	}
	if !ok {
		return false
	}
	if got := binary.LittleEndian.Uint32(frame[p.End-ICRCSize:]); got != c.Got {
		t.Fatalf("%x ends at %d: ICRC %#x, want %#x", frame, p.End, got, c.Got)
	}
	if want := udpPayload(frame); len(want) > 0 && !bytes.Equal(frame[p.BTH:p.End], want[:p.End-p.BTH]) {
		t.Fatalf("%x: BTH at %d", frame, p.BTH)
	}
	want := 8
	if frame[p.IP]>>4 == 6 {
		want = 32
	}
	if got := len(Addresses(frame[p.IP:])); got != want {
		t.Fatalf("%x: %d bytes of addresses", frame, got)
	}
	return true
}

func TestFindRoCE(t *testing.T) {
	n := 0
	for _, v := range loadVectors(t) {
		if v.StartsAt != "eth" {
			continue
		}
		if found(t, v.packet) {
			n++
		}
		for cut := range len(v.packet) {
			found(t, v.packet[:cut])
		}
		tagged := append(append(bytes.Clone(v.packet[:12]), 0x81, 0, 0, 5), v.packet[12:]...)
		if _, was := FindRoCE(v.packet); was != found(t, tagged) {
			t.Fatalf("%x: a tag hides it", v.packet)
		}
		if got := testing.AllocsPerRun(10, func() { FindRoCE(v.packet) }); got != 0 {
			t.Fatalf("%v allocations", got)
		}
	}
	if n < 20 {
		t.Fatalf("%d packets are found", n)
	}
}

func FuzzFindRoCE(f *testing.F) {
	for _, v := range loadVectors(f) {
		f.Add(v.packet)
	}
	f.Fuzz(func(t *testing.T, frame []byte) { found(t, frame) })
}
