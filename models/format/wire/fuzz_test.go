package wire

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/gopacket"
)

// addSeeds seeds a fuzz target with the RoCE packets of all vectors, from header h onwards, and
// with the parts of one packet cut at different lengths.
func addSeeds(f *testing.F, h Header) {
	f.Add([]byte{})
	for _, v := range loadVectors(f) {
		p := udpPayload(v.packet)
		if v.StartsAt != "eth" || len(p) < BTHSize {
			continue
		}
		off := 0
		if h != HeaderNone {
			if off = BTH(p).Opcode().Info().Offset(h); off < 0 {
				continue
			}
		}
		f.Add(p[off:])
		f.Add(p[off : len(p)-5])
	}
}

// fuzzHeader checks a decoder with arbitrary bytes. It either returns an error naming the
// incomplete part, or splits its input without loss and encodes it to the same bytes.
func fuzzHeader(f *testing.F, c codec) {
	addSeeds(f, c.header)
	f.Fuzz(func(t *testing.T, data []byte) {
		before := bytes.Clone(data)
		l := newExt(c.header, nil)
		var df feedback
		err := l.DecodeFromBytes(data, &df)
		var cut *TruncatedError
		if len(data) < c.size {
			if !errors.As(err, &cut) || cut.Header != c.name() || cut.Need != c.size || cut.Have != len(data) ||
				!df.truncated {
				t.Fatalf("%d bytes: %v", len(data), err)
			}
			return
		}
		if err != nil || df.truncated {
			t.Fatal(err)
		}
		if got := append(bytes.Clone(l.LayerContents()), l.LayerPayload()...); !bytes.Equal(got, data) {
			t.Fatalf("%x split into %x", data, got)
		}
		buf := gopacket.NewSerializeBuffer()
		if err := l.(gopacket.SerializableLayer).SerializeTo(buf, gopacket.SerializeOptions{}); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(buf.Bytes(), data[:c.size]) || !bytes.Equal(data, before) {
			t.Fatalf("%x encoded as %x", before, buf.Bytes())
		}
	})
}

// codecOf returns the codec of a header; codecs are in the order of Header.
func codecOf(h Header) codec { return codecs[h] }

func FuzzRETH(f *testing.F)         { fuzzHeader(f, codecOf(HeaderRETH)) }
func FuzzAETH(f *testing.F)         { fuzzHeader(f, codecOf(HeaderAETH)) }
func FuzzDETH(f *testing.F)         { fuzzHeader(f, codecOf(HeaderDETH)) }
func FuzzImmDt(f *testing.F)        { fuzzHeader(f, codecOf(HeaderImmDt)) }
func FuzzIETH(f *testing.F)         { fuzzHeader(f, codecOf(HeaderIETH)) }
func FuzzAtomicETH(f *testing.F)    { fuzzHeader(f, codecOf(HeaderAtomicETH)) }
func FuzzAtomicAckETH(f *testing.F) { fuzzHeader(f, codecOf(HeaderAtomicAckETH)) }
func FuzzCNP(f *testing.F)          { fuzzHeader(f, codecOf(HeaderCNP)) }

// FuzzBTH decodes whole RoCE packets: BTH, the headers of its opcode, pad and ICRC.
func FuzzBTH(f *testing.F) {
	addSeeds(f, HeaderNone)
	f.Fuzz(func(t *testing.T, data []byte) {
		before := bytes.Clone(data)
		var l BTHLayer
		err := l.DecodeFromBytes(data, gopacket.NilDecodeFeedback)
		p := gopacket.NewPacket(data, LayerTypeBTH, gopacket.NoCopy)
		if err != nil {
			var cut *TruncatedError
			if !errors.As(err, &cut) || cut.Have >= cut.Need || cut.Have < 0 || cut.Header == "" {
				t.Fatal(err)
			}
			if len(data) > 0 && (p.ErrorLayer() == nil || p.ErrorLayer().Error().Error() != err.Error()) {
				t.Fatalf("packet says %v, layer %v", p.ErrorLayer(), err)
			}
			return
		}
		if p.ErrorLayer() != nil {
			t.Fatal(p.ErrorLayer().Error())
		}
		buf := gopacket.NewSerializeBuffer()
		if err := gopacket.SerializeLayers(buf, gopacket.SerializeOptions{}, &l,
			gopacket.Payload(l.Payload)); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(buf.Bytes(), before) || !bytes.Equal(data, before) {
			t.Fatalf("%x became %x", before, buf.Bytes())
		}
	})
}

// FuzzFrame calls every function that takes a frame or an IP packet with arbitrary bytes.
func FuzzFrame(f *testing.F) {
	for _, v := range loadVectors(f) {
		if v.StartsAt == "eth" {
			f.Add(v.packet)
			f.Add(v.packet[:len(v.packet)-3])
		}
	}
	for _, frame := range loadCapture(f, "synthetic/fuzz_roce_v4.pcap")[:100] {
		f.Add(frame)
	}
	s := newStack()
	f.Fuzz(func(t *testing.T, frame []byte) {
		before := bytes.Clone(frame)
		_ = s.parser.DecodeLayers(frame, &s.found)
		c := VerifyFrameICRC(frame)
		ip, fault := frameIP(frame)
		if fault == faultNone {
			VerifyIPv4Header(ip)
			VerifyUDPChecksum(ip)
		}
		crc, err := FrameICRC(frame)
		if !bytes.Equal(frame, before) {
			t.Fatal("reading changed the frame")
		}
		if hasCRC := c.Verdict == OK || c.Verdict == Bad; hasCRC != (err == nil) ||
			(c.Err() == nil) != (c.Verdict == OK) {
			t.Fatalf("%v, but %v", c, err)
		}
		if err != nil {
			if InsertFrameICRC(frame) == nil || SealFrame(frame, true) == nil || !bytes.Equal(frame, before) {
				t.Fatal("an ICRC was put where there is no place for it")
			}
			return
		}
		d, _ := findUDP(ip, Port, minRoCEUDP)
		if want := naiveICRC(ip, d.l4, d.end-ICRCSize); crc != want || c.Want != want {
			t.Fatalf("%08x and %08x, want %08x", crc, c.Want, want)
		}
		if err := SealFrame(frame, true); err != nil {
			t.Fatal(err)
		}
		if VerifyFrameICRC(frame).Verdict != OK || VerifyUDPChecksum(ip) != OK || VerifyIPv4Header(ip) == Bad {
			t.Fatalf("sealed frame fails its checks: %x", frame)
		}
	})
}
