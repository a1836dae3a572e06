package rtlbridge

import (
	"encoding/binary"
	"errors"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/rtlbridge/build"
	"nictwin/rtlbridge/manifest"
	"nictwin/rtlbridge/protocol"
)

// traffic is the list of transactions sent into one stream.
type traffic struct {
	side, data [][]byte
	taken      int // number of transactions that have come back
}

// random returns one transaction that fits a stream; the side-band bits beyond width stay zero.
func random(r *rand.Rand, s *protocol.StreamInfo, sideBits int) (side, data []byte) {
	side = make([]byte, s.SideBytes)
	r.Read(side)
	if n := sideBits % 8; n != 0 {
		side[len(side)-1] &= 1<<n - 1
	}
	n := 1 + r.Intn(5*s.DataBytes)
	if s.Kind == protocol.KindTLP {
		n = 4 * r.Intn(2*s.DataBytes/4)
	}
	data = make([]byte, n)
	r.Read(data)
	return side, data
}

// TestIdentity checks that frames leave a FIFO unchanged, with every kind of stream, through stalls and
// noise on idle pins, and that the harness reports no violation.
func TestIdentity(t *testing.T) {
	for _, x := range []struct {
		manifest string
		sideBits int
	}{{"dut.yaml", 32}, {"tlp.yaml", 128}, {"lanes.yaml", 10}} {
		t.Run(x.manifest, func(t *testing.T) {
			m, err := manifest.Load(filepath.Join(filepath.Dir(fifoManifest), x.manifest))
			require.NoError(t, err)
			d, err := build.Build(m, build.Options{Variant: build.VariantDebug, Log: os.Stderr})
			require.NoError(t, err)
			c := launch(t, d, LaunchOptions{})
			for seed := range uint64(3) {
				s := c.NewStart(seed)
				s.Poison = seed > 0
				for i := range s.Streams {
					s.Streams[i].StallPercent, s.Streams[i].BurstLog2 = int(seed)*30, int(seed)
				}
				require.NoError(t, c.Start(s))
				identity(t, c, rand.New(rand.NewSource(int64(seed))), x.sideBits)
			}
			require.NoError(t, c.Close())
		})
	}
}

func identity(t *testing.T, c *Conn, r *rand.Rand, sideBits int) {
	const perStream, quantum = 60, 200
	sent := map[string]*traffic{}
	streams := c.Hello().Streams
	for q := uint64(0); q < 400; q++ {
		for i := range streams {
			s := &streams[i]
			if s.Out {
				continue
			}
			if sent[s.Name] == nil {
				sent[s.Name] = &traffic{}
			}
			for x := sent[s.Name]; len(x.data) < perStream && r.Intn(3) > 0; {
				side, data := random(r, s, sideBits)
				x.side, x.data = append(x.side, side), append(x.data, data)
				require.NoError(t, c.Add(i, q*quantum+uint64(r.Intn(100)), side, data))
			}
		}
		require.NoError(t, c.SendRun(quantum))
		ran, err := c.Recv()
		require.NoError(t, err)
		checkOutputs(t, c, ran, sent)
		if ran.Flags&protocol.RanQuiet != 0 && ran.Observed[c.Hello().Busy].Value == 0 && allTaken(sent, perStream) {
			return
		}
	}
	t.Fatal("transactions were lost")
}

func checkOutputs(t *testing.T, c *Conn, ran *protocol.Ran, sent map[string]*traffic) {
	var rec protocol.Record
	for {
		ok, err := c.Next(ran, &rec)
		require.NoError(t, err)
		if !ok {
			return
		}
		name := c.Hello().Streams[rec.Stream].Name
		require.NotEqual(t, protocol.EventViolation, rec.Kind, "%s: %v", name, rec.Rule)
		if rec.Kind != protocol.EventOut {
			continue
		}
		x := sent[strings.Replace(name, "out", "in", 1)]
		require.Less(t, x.taken, len(x.data))
		require.Equal(t, x.side[x.taken], rec.Side)
		require.Equal(t, len(x.data[x.taken]), len(rec.Data))
		require.Equal(t, string(x.data[x.taken]), string(rec.Data))
		x.taken++
	}
}

func allTaken(sent map[string]*traffic, n int) bool {
	for _, x := range sent {
		if x.taken != n {
			return false
		}
	}
	return true
}

// TestVariants checks that the variants that write files do so, and that other variants refuse to.
func TestVariants(t *testing.T) {
	dir := t.TempDir()
	for _, x := range []struct {
		variant build.Variant
		o       LaunchOptions
		file    string
		mark    string
	}{
		{build.VariantWaves, LaunchOptions{Wave: filepath.Join(dir, "w.fst"), WaveFrom: 10, WaveTo: 50}, "w.fst", ""},
		{build.VariantCoverage, LaunchOptions{Coverage: filepath.Join(dir, "c.dat")}, "c.dat", "NTHITS02"},
	} {
		c := launch(t, fifo(t, x.variant), x.o)
		require.NoError(t, c.Start(c.NewStart(1)))
		require.NoError(t, c.Add(0, 5, make([]byte, 4), frame(900, 1)))
		require.NoError(t, c.SendRun(100))
		_, err := c.Recv()
		require.NoError(t, err)
		require.NoError(t, c.Close())
		b, err := os.ReadFile(filepath.Join(dir, x.file))
		require.NoError(t, err)
		require.Greater(t, len(b), 300)
		require.Contains(t, string(b), x.mark)
		_, err = Launch(fifo(t, build.VariantSpeed), x.o)
		require.ErrorContains(t, err, "build the variant "+string(x.variant))
	}
}

// TestDeviceSurvivesNonsense sends damaged frames to a real device: it must refuse them with an ERROR frame and
// end cleanly, or accept them; it must never crash.
func TestDeviceSurvivesNonsense(t *testing.T) {
	d := fifo(t, build.VariantSpeed)
	r := rand.New(rand.NewSource(5))
	refused := 0
	for range 150 {
		c := launch(t, d, LaunchOptions{})
		require.NoError(t, c.Start(c.NewStart(1)))
		b := append([]byte(nil), c.out[:protocol.HeadBytes+protocol.RunBytes]...)
		for i := range 1 + r.Intn(4) {
			b = protocol.AppendTransaction(b, 0, uint64(i), make([]byte, 4), frame(1+r.Intn(200), i))
			binary.LittleEndian.PutUint32(b[protocol.HeadBytes+20:], uint32(i+1))
		}
		protocol.PutHead(b, protocol.FrameRun, len(b)-protocol.HeadBytes)
		protocol.PutRun(b[protocol.HeadBytes:], 0, 0, 64, binary.LittleEndian.Uint32(b[protocol.HeadBytes+20:]))
		for range 1 + r.Intn(3) {
			b[r.Intn(len(b))] = byte(r.Intn(256))
		}
		// a header with a wrong length would only make the device wait for more bytes
		binary.LittleEndian.PutUint32(b, uint32(len(b)-protocol.HeadBytes))
		c.t.arm(0)
		require.NoError(t, c.t.write(b))
		typ, body, err := c.receive()
		require.NoError(t, err)
		if typ == protocol.FrameError {
			refused++
			_, err := protocol.DecodeError(body)
			require.NoError(t, err)
			require.True(t, c.proc.ended(DefaultTimeout))
			require.Equal(t, "exit status 1", c.proc.exit)
		} else {
			require.Equal(t, protocol.FrameRan, typ)
			require.NoError(t, c.Close())
		}
	}
	require.Greater(t, refused, 20)
}

// TestErrorsNameACycleThatWasReached checks that an error from before the first cycle names no cycle.
func TestErrorsNameACycleThatWasReached(t *testing.T) {
	e := &protocol.InfraError{Device: "nic", Op: "launch", Err: errors.New("no such file")}
	require.EqualError(t, e, "device nic, launch: no such file")
	e.Cycle = 12
	require.EqualError(t, e, "device nic, launch at cycle 12: no such file")
}
