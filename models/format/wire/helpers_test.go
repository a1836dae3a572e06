package wire

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/gopacket/pcapgo"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"
)

const capturesDir = "../../../scenarios/captures"

type captureRow struct {
	File      string `yaml:"file"`
	Frames    int    `yaml:"frames"`
	OK        int    `yaml:"icrc_ok"`
	Bad       int    `yaml:"icrc_bad"`
	Truncated int    `yaml:"truncated"`
	Sidecar   string `yaml:"sidecar"`
}

func loadManifest(t testing.TB) []captureRow {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(capturesDir, "manifest.yaml"))
	require.NoError(t, err)
	var m struct {
		Captures []captureRow `yaml:"captures"`
	}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	require.NoError(t, dec.Decode(&m))
	require.NotEmpty(t, m.Captures)
	return m.Captures
}

func loadCapture(t testing.TB, file string) [][]byte {
	t.Helper()
	f, err := os.Open(filepath.Join(capturesDir, file))
	require.NoError(t, err)
	defer f.Close()
	r, err := pcapgo.NewReader(f)
	require.NoError(t, err, file)
	var frames [][]byte
	for {
		data, _, err := r.ReadPacketData()
		if err == io.EOF {
			return frames
		}
		require.NoError(t, err, file)
		frames = append(frames, data)
	}
}

type vector struct {
	Name     string `json:"name"`
	Family   string `json:"family"`
	StartsAt string `json:"starts_at"`
	Hex      string `json:"packet_hex"`
	Wire     string `json:"icrc_wire_bytes"`
	Opcode   string `json:"bth_opcode"`
	Valid    bool   `json:"valid"`
	Expected string `json:"expected_if_invalid"`

	packet []byte
}

func loadVectors(t testing.TB) []vector {
	t.Helper()
	text, err := os.ReadFile("testdata/icrc_vectors.json")
	require.NoError(t, err)
	var m struct {
		Count   int      `json:"count"`
		Vectors []vector `json:"vectors"`
	}
	require.NoError(t, json.Unmarshal(text, &m))
	require.Len(t, m.Vectors, m.Count)
	for i := range m.Vectors {
		m.Vectors[i].packet = unhex(t, m.Vectors[i].Hex)
	}
	return m.Vectors
}

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	require.NoError(t, err)
	return b
}

// udpPayload returns the UDP payload of a frame, which is the RoCE packet, or nil.
func udpPayload(frame []byte) []byte {
	ip, f := frameIP(frame)
	if f != faultNone {
		return nil
	}
	d, f := findUDP(ip, Port, udpSize)
	if f != faultNone {
		return nil
	}
	return ip[d.l4+udpSize : d.end]
}

type feedback struct{ truncated bool }

func (f *feedback) SetTruncated() { f.truncated = true }
