package build

import (
	"bytes"
	_ "embed"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"text/template"

	"nictwin/rtlbridge/manifest"
	"nictwin/rtlbridge/protocol"
)

//go:embed dut.hpp.tmpl
var glueText string

var glueTemplate = template.Must(template.New("dut.hpp").Funcs(template.FuncMap{
	"set":      setHandshake,
	"get":      func(f manifest.Field) string { return pinCall("get", f, "t", "") },
	"seen":     seenHandshake,
	"setBytes": func(f manifest.Field, v string) string { return pinCall("put_bytes", f, "t", v) },
	"getBytes": func(f manifest.Field, v string) string { return pinCall("get_bytes", f, "t", v) },
	"setKeep":  func(f manifest.Field, v string) string { return pinCall("put_keep", f, "t", v) },
	"getKeep":  func(f manifest.Field) string { return pinCall("get_keep", f, "t", "") },
	"hash":     cBytes,
	"tieWord":  tieWords,
	"quiet":    func(i int) string { return quietIndex(i) },
	"in":       func(s manifest.BoundStream) bool { return s.Dir == manifest.DirIn },
	"axis":     func(s manifest.BoundStream) bool { return s.Kind == protocol.KindAxis },
	"level":    func(s manifest.BoundStream) bool { return s.Kind == protocol.KindLevel },
	"packets":  func(s manifest.BoundStream) bool { return s.Packets() },
	"kind":     func(s manifest.BoundStream) string { return kindConstants[s.Kind] },
	"other":    otherStream,
	"list":     listStreams,
	// for the glue of an agent
	"pinType":       pinType,
	"beatBytes":     func(s manifest.BoundStream) int { return BeatLayout(&s).Bytes },
	"lastOffset":    func(s manifest.BoundStream) int { return BeatLayout(&s).Last },
	"sideOffset":    func(s manifest.BoundStream, f manifest.Field) int { return BeatLayout(&s).Side + f.Offset },
	"resetBytes":    func(g glueData) int { return bytesOf(len(g.Resets)) },
	"observedBytes": func(g glueData) int { _, n := ObservedLayout(g.Binding); return n },
	"observedAt":    observedFields,
	"bytes":         bytesOf,
}).Parse(glueText))

type glueData struct {
	*manifest.Binding
	Prefix   string
	Hash     [32]byte
	Counters int         // number of coverage counters
	Agent    *ShellShape // nil: the glue is for a verilated design
	AllPorts []manifest.PinPort
}

// glue renders the generated part of the harness.
func glue(g glueData) ([]byte, error) {
	var out bytes.Buffer
	g.Prefix = classPrefix
	if err := glueTemplate.Execute(&out, g); err != nil {
		return nil, fmt.Errorf("generating the harness glue: %w", err)
	}
	return out.Bytes(), nil
}

// ResetCycles returns the number of cycles before cycle 0.
func (g glueData) ResetCycles() int {
	n := 0
	for _, r := range g.Resets {
		n = max(n, r.Cycles)
	}
	return n
}

// Answers reports whether some stream's ready is a response to its valid in the same cycle (ready_answers).
func (g glueData) Answers() bool {
	return slices.ContainsFunc(g.Streams, func(s manifest.BoundStream) bool { return s.ReadyAnswers })
}

// Coupled reports whether some stream waits for another one (after, with).
func (g glueData) Coupled() bool {
	return slices.ContainsFunc(g.Streams, func(s manifest.BoundStream) bool {
		return s.AfterIdx >= 0 ||
			s.WithIdx >= 0
	})
}

var kindConstants = map[string]string{protocol.KindAxis: "kAxis", protocol.KindTLP: "kTlp",
	protocol.KindRecord: "kRecord", protocol.KindLevel: "kLevel"}

// otherStream formats the index of the stream that another one waits for, or the value for none.
func otherStream(i int) string {
	if i < 0 {
		return "nictwin::kNoStream"
	}
	return fmt.Sprint(i)
}

func pinCall(op string, f manifest.Field, top, arg string) string {
	if arg != "" {
		arg = ", " + arg
	}
	return fmt.Sprintf("pins::%s<%d, %d>(%s.%s%s)", op, f.Lsb, f.Width, top, f.Member, arg)
}

// setHandshake returns the statement that drives a valid, a ready or tlast.
func setHandshake(f manifest.Field, v string) string {
	if f.Low {
		v = "!" + v
	}
	return pinCall("put", f, "t", v)
}

// seenHandshake returns the expression that is true while a valid, a ready or tlast is active.
func seenHandshake(f manifest.Field) string {
	if f.Low {
		return pinCall("get", f, "t", "") + " == 0"
	}
	return pinCall("get", f, "t", "") + " != 0"
}

func cBytes(h [32]byte) string {
	var s strings.Builder
	for i, b := range h {
		if i > 0 {
			s.WriteString(", ")
		}
		fmt.Fprintf(&s, "0x%02x", b)
	}
	return s.String()
}

func quietIndex(i int) string {
	if i < 0 {
		return "nictwin::kUnlimited"
	}
	return fmt.Sprint(i)
}

// tieWords returns the statements that put a constant on a port, 32 bits at a time.
func tieWords(t manifest.TieOff) string {
	var s strings.Builder
	mask := big.NewInt(0xffffffff)
	for lsb := 0; lsb < t.Width; lsb += 32 {
		word := new(big.Int).And(new(big.Int).Rsh(t.Value, uint(lsb)), mask)
		f := manifest.Field{Member: t.Member, Lsb: lsb, Width: min(32, t.Width-lsb)}
		s.WriteString(pinCall("put", f, "t", fmt.Sprintf("0x%xu", word)) + "; ")
	}
	return strings.TrimSpace(s.String())
}

// listStreams returns the types in the tuple of sources or sinks: wrap<StreamN> for each stream of a direction.
func listStreams(ss []manifest.BoundStream, dir, wrap string) string {
	var parts []string
	for _, s := range ss {
		if s.Dir == dir {
			parts = append(parts, fmt.Sprintf("nictwin::%s<Stream%d>", wrap, s.Index))
		}
	}
	return strings.Join(parts, ", ")
}
