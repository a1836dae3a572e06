package wire

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"testing"
	"time"

	"github.com/google/gopacket"
	"github.com/stretchr/testify/require"
)

func TestHotPathsDoNotAllocate(t *testing.T) {
	for _, v6 := range []bool{false, true} {
		frame := buildFrame(t, v6, bytes.Repeat([]byte{1}, 1024))
		require.NoError(t, SealFrame(frame, true))
		cut := frame[:len(frame)-9]
		ip, _ := frameIP(frame)
		s := newStack()
		f := BTH(udpPayload(frame)).Fields()
		buf := gopacket.NewSerializeBuffer()
		for name, fn := range map[string]func(){
			"verify":       func() { VerifyFrameICRC(frame) },
			"verify cut":   func() { VerifyFrameICRC(cut) },
			"insert":       func() { _ = InsertFrameICRC(frame) },
			"seal":         func() { _ = SealFrame(frame, true) },
			"udp":          func() { VerifyUDPChecksum(ip) },
			"ip":           func() { VerifyIPv4Header(ip) },
			"crc32c":       func() { CRC32C(frame) },
			"fields":       func() { f = BTH(udpPayload(frame)).Fields() },
			"encode":       func() { _ = f.Encode(udpPayload(frame)) },
			"layers":       func() { _ = s.parser.DecodeLayers(frame, &s.found) },
			"info":         func() { _ = f.Opcode.Info().Has(HeaderRETH) },
			"serialise":    func() { serialiseOnce(buf, s) },
			"opcode names": func() { _ = f.Opcode.String() },
		} {
			require.Zero(t, testing.AllocsPerRun(100, fn), "%s, IPv6 %v", name, v6)
		}
	}
}

func serialiseOnce(buf gopacket.SerializeBuffer, s *stack) {
	_ = buf.Clear()
	_ = s.roce.RETH.SerializeTo(buf, gopacket.SerializeOptions{})
	_ = s.roce.BTH.SerializeTo(buf, gopacket.SerializeOptions{FixLengths: true})
}

func BenchmarkVerifyICRC(b *testing.B) {
	for _, n := range []int{0, 64, 256, 1024, 4096} {
		for _, v6 := range []bool{false, true} {
			name := fmt.Sprintf("v4/payload%d", n)
			if v6 {
				name = fmt.Sprintf("v6/payload%d", n)
			}
			frame := buildFrame(b, v6, bytes.Repeat([]byte{0x5a}, n))
			require.NoError(b, SealFrame(frame, false))
			b.Run(name, func(b *testing.B) {
				b.SetBytes(int64(len(frame)))
				b.ReportAllocs()
				for b.Loop() {
					if VerifyFrameICRC(frame).Verdict != OK {
						b.Fatal("bad")
					}
				}
			})
		}
	}
}

// BenchmarkICRCOverCRC measures the cost of masking: the ratio of the time of an ICRC to that of a
// plain CRC over as many bytes, in one run.
func BenchmarkICRCOverCRC(b *testing.B) {
	frame := buildFrame(b, false, bytes.Repeat([]byte{0x5a}, 1024))
	require.NoError(b, SealFrame(frame, false))
	ip, _ := frameIP(frame)
	const batch = 1000
	var plain, icrc time.Duration
	for b.Loop() {
		start := time.Now()
		for range batch {
			crc32.ChecksumIEEE(ip)
		}
		middle := time.Now()
		for range batch {
			VerifyICRC(ip)
		}
		plain, icrc = plain+middle.Sub(start), icrc+time.Since(middle)
	}
	b.ReportMetric(float64(icrc)/float64(plain), "icrc/crc")
	b.ReportMetric(0, "ns/op") // it would be the time of both checks, which says nothing
}

func BenchmarkChecksum(b *testing.B) {
	for _, n := range []int{20, 64, 1024, 4096} {
		data := bytes.Repeat([]byte{0x5a}, n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.SetBytes(int64(n))
			b.ReportAllocs()
			for b.Loop() {
				Checksum(data)
			}
		})
	}
}

func BenchmarkCRC32C(b *testing.B) {
	data := make([]byte, 4096)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		CRC32C(data)
	}
}

func BenchmarkDecodeLayers(b *testing.B) {
	frame := buildFrame(b, false, bytes.Repeat([]byte{0x5a}, 1024))
	s := newStack()
	b.ReportAllocs()
	for b.Loop() {
		if err := s.parser.DecodeLayers(frame, &s.found); err != nil {
			b.Fatal(err)
		}
	}
}
