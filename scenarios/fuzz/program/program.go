package program

import (
	"encoding/json"
	"errors"
	"fmt"

	"nictwin/models/board"
	"nictwin/models/format/tlp"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/shell/files"
)

// Schema is the version of the file format of programs.
const Schema = 1

// Program is a program to play: the board, then the operations in order.
type Program struct {
	Schema int    `json:"schema"`
	Seed   uint64 `json:"seed"` // seed from which the program was derived, for information
	Board  Board  `json:"board"`
	Ops    []Op   `json:"ops"`
}

// Board is everything around the NIC.
type Board struct {
	Ports   int    `json:"ports"`
	Build   string `json:"build,omitempty"`    // name of the NIC's build, see SizesOf
	EthBits int    `json:"eth_bits,omitempty"` // width of a port's stream; 0: that of the build
	Stall   int    `json:"stall,omitempty"`    // percentage of cycles with gaps and back-pressure
	// log2 of the cycles for which gaps and back-pressure last, except for TLPs into the NIC
	Burst  int    `json:"burst,omitempty"`
	Seed   uint64 `json:"seed,omitempty"`    // seed of stalls, jitter and random splits of completions
	MPS    int    `json:"mps"`               // MPS of completions, in bytes
	RCB    int    `json:"rcb"`               // read completion boundary, in bytes
	Random bool   `json:"random,omitempty"`  // completions are split at random
	Jitter int    `json:"jitter,omitempty"`  // ns by which answers to reads are shuffled
	Delay  int    `json:"delay,omitempty"`   // ns from a read to its first completion
	HostAt uint64 `json:"host_at,omitempty"` // first offset in host memory that the program uses; 0: 8 GB
	ArmAt  uint64 `json:"arm_at,omitempty"`  // first offset in Arm memory that Place.High selects; 0: 8 GB
	// TLPs in flight on a link of a plain card, each way; 0: no limit
	Credits int `json:"credits,omitempty"`
	// preset or file of the board that provides the card; empty: a plain card
	Card string `json:"card,omitempty"`
}

// Error reports a fault of a program.
type Error struct {
	Op   int    // number of the operation, or -1
	Kind string // kind of the operation, such as rx_queue; empty if the operation has no kind, or several
	What string
}

func (e *Error) Error() string {
	if e.Op < 0 {
		return "program: " + e.What
	}
	if e.Kind == "" {
		return fmt.Sprintf("program: operation %d: %s", e.Op, e.What)
	}
	return fmt.Sprintf("program: operation %d (%s): %s", e.Op, e.Kind, e.What)
}

// maxProgram bounds a file in bytes: many times the generator's largest program.
const maxProgram = 16 << 20

// Load reads a program from a file.
func Load(path string) (*Program, error) {
	text, err := files.Read(path, maxProgram)
	if err != nil {
		return nil, err
	}
	p, err := Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}

// JSON returns the program as text.
func (p *Program) JSON() ([]byte, error) {
	b, err := json.MarshalIndent(p, "", " ")
	if err != nil {
		return nil, fmt.Errorf("program: %w", err)
	}
	return append(b, '\n'), nil
}

// Validate returns everything that is wrong with the program.
func (p *Program) Validate() error {
	v := validator{op: -1}
	v.board(p)
	for i := range p.Ops {
		v.at(i, &p.Ops[i])
		v.check(&p.Ops[i])
	}
	return errors.Join(v.errs...)
}

// board checks everything but the operations.
func (v *validator) board(p *Program) {
	v.is(p.Schema == Schema, "schema %d: want %d", p.Schema, Schema)
	v.in("board.ports", p.Board.Ports, 1, board.MaxPorts)
	_, err := SizesOf(p.Board.Build)
	v.is(err == nil, "board: %v", err)
	v.is(p.Board.EthBits == 0 || nicspec.ValidEthBits(p.Board.EthBits), "board.eth_bits %d: want %s", p.Board.EthBits,
		nicspec.WantEthBits)
	v.in("board.stall", p.Board.Stall, 0, board.MaxStall)
	v.in("board.burst", p.Board.Burst, 0, board.MaxBurst)
	for _, f := range []struct {
		name   string
		x      int
		limits tlp.Limits // the limits at reset, except the one to be checked, which has the value x
		want   string
	}{
		{"mps", p.Board.MPS, tlp.Limits{MPS: p.Board.MPS, MRRS: 512, RCB: 64}, "128, 256, 512, 1024, 2048 or 4096"},
		{"rcb", p.Board.RCB, tlp.Limits{MPS: 128, MRRS: 512, RCB: p.Board.RCB}, "64 or 128"},
	} {
		v.is(f.limits.Validate() == nil, "board.%s is %d: want %s", f.name, f.x, f.want)
	}
	v.in("board.jitter", p.Board.Jitter, 0, 10_000)
	v.in("board.delay", p.Board.Delay, 0, 10_000)
	v.in("board.credits", p.Board.Credits, 0, maxCredits)
	v.offset("board.host_at", p.Board.HostAt)
	v.offset("board.arm_at", p.Board.ArmAt)
	v.in("operations", len(p.Ops), 0, maxOps)
}
