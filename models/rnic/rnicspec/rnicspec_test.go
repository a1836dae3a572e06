package rnicspec

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Decoding must return every encoded field unchanged.
func TestEntries(t *testing.T) {
	b := make([]byte, 64)
	for _, c := range []struct {
		t QPType
		w WQE
	}{
		{RC, WQE{Opcode: Write, Flags: FlagSignalled, ID: 1 << 60, Imm: 7, Length: 9, RemoteVA: 1 << 50, RemoteKey: 5,
			LocalVA: 1 << 57, LocalKey: 6}},
		{RC, WQE{Opcode: CmpSwap, ID: 3, Length: 8, RemoteVA: 8, RemoteKey: 5, LocalVA: 16, LocalKey: 6,
			SwapAdd: 1 << 63, Compare: 12}},
		{RC, WQE{Opcode: Send, Flags: FlagInline, Length: 32, Inline: [32]byte{0: 1, 31: 255}}},
		{UD, WQE{Opcode: SendImm, ID: 3, Length: 8, DestQP: 77, Handle: 4, QKey: 0x11111111, LocalVA: 16, LocalKey: 6}},
	} {
		var back WQE
		c.w.Encode(c.t, b)
		back.Decode(c.t, b)
		require.Equal(t, c.w, back)
	}
	r, rb := RecvWQE{1, 1 << 57, 3, 4}, RecvWQE{}
	r.Encode(b)
	rb.Decode(b)
	require.Equal(t, r, rb)
	q, qb := CQE{1, 2, 3, 4, 5, RecvWrite, Flushed, true, true, 6, 7, 8}, CQE{}
	q.Encode(b)
	qb.Decode(b)
	require.Equal(t, q, qb)
}

func TestCommands(t *testing.T) {
	mac, ip := [6]byte{1, 2, 3, 4, 5, 6}, [16]byte{0: 9, 15: 8}
	for i, cmd := range []Command{
		&SetPort{1, true, mac, ip}, &SetContext{64, 1 << 30}, &CreateCQ{3, 10, 1 << 56},
		&CreateMR{1, AllAccess, 21, 2, 3, 1 << 34},
		&DestroyMR{9}, &CreateAH{4, 1, true, mac, ip, 0xc000, 1, 64},
		&CreateQP{5, UD, 6, 7, 8, 9, 1 << 56, 1 << 40, 0x11, 1, 3},
		&ModifyQP{1, RTS, 2, 3, 4, 5, 4096, RemoteRead, 16, 1, 7, 6, 14}, &DestroyQP{3}, &QueryQP{4},
		&CreateSRQ{5, 6, 1 << 56, 7}, &ModifySRQ{8, 9}, &DestroySRQ{10},
		&SetAccount{11, 12, 13, true, 1 << 56, 14, 15, 16, 17},
	} {
		b := make([]byte, CmdBytes)
		EncodeCommand(cmd, uint16(i+1), b)
		back, seq, err := DecodeCommand(b)
		require.NoError(t, err)
		require.Equal(t, cmd, back)
		require.EqualValues(t, i+1, seq)
		require.EqualValues(t, CmdSetPort+Cmd(i), cmd.Cmd())
	}
	_, _, err := DecodeCommand(make([]byte, CmdBytes))
	require.ErrorContains(t, err, "command is 0: want 1 to 14")
	for _, s := range []AccountState{{}, {MaxCredits, true, 1 << 31}, {1, false, 2}} {
		require.Equal(t, s, AccountStateOf(s.Word()))
	}
	c := Credit{5, false, true}
	require.Equal(t, c, CreditOf(c.Word()))
	r := Result{1, 2, 3}
	require.Equal(t, r, ResultOf(r.Word()))
}

func TestNames(t *testing.T) {
	require.Equal(t, "WRITE_IMM", WriteImm.String())
	require.Equal(t, "Opcode(99)", Opcode(99).String())
	for typ, want := range map[QPType][]Opcode{
		RC: {Send, SendImm, Write, WriteImm, Read, CmpSwap, FetchAdd}, UC: {Send, SendImm, Write, WriteImm},
		UD: {Send, SendImm}, Raw: {Send},
	} {
		var got []Opcode
		for o := range NumOpcodes {
			if typ.Allows(o) {
				got = append(got, o)
			}
		}
		require.Equal(t, want, got, typ)
	}
}

// Random bytes must decode to a command or fail; a decoded command must encode to the same bytes.
func FuzzCommands(f *testing.F) {
	for i := range 12 {
		b := make([]byte, CmdBytes)
		b[0], b[5], b[20] = byte(i), 7, 0xff
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		b = append(b, make([]byte, CmdBytes)...)
		cmd, seq, err := DecodeCommand(b)
		if err != nil {
			return
		}
		again := make([]byte, CmdBytes)
		EncodeCommand(cmd, seq, again)
		back, n, err := DecodeCommand(again)
		require.NoError(t, err)
		require.Equal(t, cmd, back)
		require.Equal(t, seq, n)
	})
}
