package verbs

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var allStates = []State{QPSReset, QPSInit, QPSRTR, QPSRTS, QPSSQD, QPSSQE, QPSErr}

// transitionTable lists the transitions in the notation of ibv_modify_qp(3) and of Linux's table: type, from, to,
// required attributes: optional ones. A pair that is not listed, and leads neither to RESET nor to ERR, is not a
// transition.
const transitionTable = `
RC  RESET INIT  PKEY_INDEX PORT ACCESS_FLAGS    : -
UC  RESET INIT  PKEY_INDEX PORT ACCESS_FLAGS    : -
UD  RESET INIT  PKEY_INDEX PORT QKEY            : -
RAW RESET INIT  PORT                            : -
RC  INIT  INIT  -                               : PKEY_INDEX PORT ACCESS_FLAGS
UC  INIT  INIT  -                               : PKEY_INDEX PORT ACCESS_FLAGS
UD  INIT  INIT  -                               : PKEY_INDEX PORT QKEY
RAW INIT  INIT  -                               : -
RC  INIT  RTR   AV PATH_MTU DEST_QPN RQ_PSN MAX_DEST_RD_ATOMIC MIN_RNR_TIMER : ALT_PATH ACCESS_FLAGS PKEY_INDEX
UC  INIT  RTR   AV PATH_MTU DEST_QPN RQ_PSN     : ALT_PATH ACCESS_FLAGS PKEY_INDEX
UD  INIT  RTR   -                               : PKEY_INDEX QKEY
RAW INIT  RTR   -                               : -
RC  RTR   RTS   SQ_PSN MAX_QP_RD_ATOMIC RETRY_CNT RNR_RETRY TIMEOUT : ` +
	`CUR_STATE ALT_PATH ACCESS_FLAGS MIN_RNR_TIMER PATH_MIG_STATE
UC  RTR   RTS   SQ_PSN                          : CUR_STATE ALT_PATH ACCESS_FLAGS PATH_MIG_STATE
UD  RTR   RTS   SQ_PSN                          : CUR_STATE QKEY
RAW RTR   RTS   -                               : -
RC  RTS   RTS   -                               : CUR_STATE ACCESS_FLAGS ALT_PATH PATH_MIG_STATE MIN_RNR_TIMER
UC  RTS   RTS   -                               : CUR_STATE ACCESS_FLAGS ALT_PATH PATH_MIG_STATE
UD  RTS   RTS   -                               : CUR_STATE QKEY
RAW RTS   RTS   -                               : -
RC  RTS   SQD   -                               : EN_SQD_ASYNC_NOTIFY
UC  RTS   SQD   -                               : EN_SQD_ASYNC_NOTIFY
UD  RTS   SQD   -                               : EN_SQD_ASYNC_NOTIFY
RAW RTS   SQD   -                               : -
RC  SQD   RTS   -                               : CUR_STATE ALT_PATH ACCESS_FLAGS MIN_RNR_TIMER PATH_MIG_STATE
UC  SQD   RTS   -                               : CUR_STATE ALT_PATH ACCESS_FLAGS PATH_MIG_STATE
UD  SQD   RTS   -                               : CUR_STATE QKEY
RAW SQD   RTS   -                               : -
RC  SQD   SQD   - : PORT AV TIMEOUT RETRY_CNT RNR_RETRY MAX_QP_RD_ATOMIC MAX_DEST_RD_ATOMIC ` +
	`ALT_PATH ACCESS_FLAGS PKEY_INDEX MIN_RNR_TIMER PATH_MIG_STATE
UC  SQD   SQD   -                               : AV ALT_PATH ACCESS_FLAGS PKEY_INDEX PATH_MIG_STATE
UD  SQD   SQD   -                               : PKEY_INDEX QKEY
RAW SQD   SQD   -                               : -
UC  SQE   RTS   -                               : CUR_STATE ACCESS_FLAGS
UD  SQE   RTS   -                               : CUR_STATE QKEY
RAW SQE   RTS   -                               : -
`

type cell struct {
	t        QPType
	from, to State
}

func parseTable(t *testing.T) map[cell]masks {
	types := map[string]QPType{"RC": QPTRC, "UC": QPTUC, "UD": QPTUD, "RAW": QPTRawPacket}
	states := map[string]State{}
	for _, s := range allStates {
		states[s.String()] = s
	}
	bits := map[string]AttrMask{"-": 0}
	for i, n := range attrNames {
		bits[n] = 1 << i
	}
	mask := func(words []string) (m AttrMask) {
		for _, w := range words {
			b, ok := bits[w]
			require.True(t, ok, w)
			m |= b
		}
		return m
	}
	table := map[cell]masks{}
	for line := range strings.Lines(strings.TrimSpace(transitionTable)) {
		required, optional, _ := strings.Cut(line, ":")
		w := strings.Fields(required)
		table[cell{types[w[0]], states[w[1]], states[w[2]]}] = masks{mask(w[3:]), mask(strings.Fields(optional))}
	}
	require.Len(t, table, 35)
	return table
}

// TestTransitions checks for every type, pair of states and attribute whether it must be given, may be given, or is
// refused.
func TestTransitions(t *testing.T) {
	table := parseTable(t)
	cells := 0
	for _, typ := range []QPType{QPTRC, QPTUC, QPTUD, QPTRawPacket} {
		for _, from := range allStates {
			for _, to := range allStates {
				cells++
				want, ok := table[cell{typ, from, to}]
				if to == QPSReset || to == QPSErr && from != QPSReset {
					ok = true
				}
				checkCell(t, cell{typ, from, to}, want, ok)
			}
		}
	}
	require.Equal(t, 4*7*7, cells)
	_, _, ok := Transition(QPType(5), QPSReset, QPSInit)
	require.False(t, ok)
	_, _, ok = Transition(QPTRC, QPSErr+1, QPSReset)
	require.False(t, ok)
}

var everything = DeviceAttr{Ports: 2, Features: AllFeatures, MaxQPRdAtom: 16, MaxQPInitRdAtom: 16}

// legal returns attributes with valid values only.
func legal(to, cur State) QPAttr {
	return QPAttr{State: to, CurState: cur, Port: 1, AH: AHAttr{Port: 2}, PathMTU: MTU1024}
}

// checkCell checks Transition and CheckModify for a type and a pair of states.
func checkCell(t *testing.T, c cell, want masks, ok bool) {
	t.Helper()
	required, optional, is := Transition(c.t, c.from, c.to)
	require.Equal(t, ok, is, "%v", c)
	require.Equal(t, want, masks{required, optional}, "%v", c)
	a := legal(c.to, c.from)
	check := func(mask AttrMask) error {
		_, err := CheckModify(c.t, c.from, &a, mask|QPState, &everything)
		return err
	}
	if !ok {
		require.ErrorIs(t, check(0), EINVAL, "%v", c)
		return
	}
	require.NoError(t, check(required), "%v", c)
	for i := range attrNames {
		bit := AttrMask(1) << i
		switch err := check(required ^ bit&^QPState); {
		case bit == QPState:
		case required&bit != 0:
			require.ErrorContains(t, err, "want "+attrNames[i]+", too", "%v", c)
		case optional&bit&unsupportedAttrs != 0:
			require.ErrorIs(t, err, EOPNOTSUPP, "%v %v", c, bit)
		case optional&bit != 0:
			require.NoError(t, err, "%v %v", c, bit)
		case bit == QPCurState && (c.from < QPSRTR || c.from > QPSSQE):
			require.ErrorContains(t, err, "want RTR, RTS, SQD or SQE", "%v", c)
		default:
			require.ErrorContains(t, err, attrNames[i]+" may not be given", "%v", c)
		}
	}
}

// TestModifyValues checks that values out of range are refused by name, but only if the mask selects them.
func TestModifyValues(t *testing.T) {
	for _, c := range []struct {
		set  func(*QPAttr)
		says string
	}{
		{func(a *QPAttr) { a.Timeout = 32 }, "TIMEOUT is 32: want 31 at most"},
		{func(a *QPAttr) { a.RetryCnt = 8 }, "RETRY_CNT is 8: want 7 at most"},
		{func(a *QPAttr) { a.RNRRetry = 8 }, "RNR_RETRY is 8: want 7 at most"},
		{func(a *QPAttr) { a.MinRNRTimer = 32 }, "MIN_RNR_TIMER is 32: want 31 at most"},
		{func(a *QPAttr) { a.MaxRdAtomic = 17 }, "MAX_QP_RD_ATOMIC is 17: want 16 at most"},
		{func(a *QPAttr) { a.MaxDestRdAtomic = 17 }, "MAX_DEST_RD_ATOMIC is 17: want 16 at most"},
		{func(a *QPAttr) { a.AH.Port = 3 }, "the port of AV is 3: want 1 to 2"},
		{func(a *QPAttr) { a.Port = 0 }, "PORT is 0: want 1 to 2"},
		{func(a *QPAttr) { a.Access = 16 }, "ACCESS_FLAGS is 16: want 15 at most"},
		{func(a *QPAttr) { a.PKeyIndex = 1 }, "PKEY_INDEX is 1: want 0 at most"},
	} {
		a := legal(QPSSQD, QPSSQD)
		c.set(&a)
		_, err := CheckModify(QPTRC, QPSSQD, &a, changingRC&^unsupportedAttrs, &everything)
		require.ErrorContains(t, err, c.says)
		require.ErrorIs(t, err, EINVAL)
		_, err = CheckModify(QPTRC, QPSSQD, &a, 0, &everything)
		require.NoError(t, err)
	}
	for mask, set := range map[AttrMask]func(*QPAttr){
		QPSQPSN:   func(a *QPAttr) { a.SQPSN = 1 << 24 },
		QPPathMTU: func(a *QPAttr) { a.PathMTU = 1000 },
		QPRQPSN:   func(a *QPAttr) { a.RQPSN = 1 << 24 },
		QPDestQPN: func(a *QPAttr) { a.DestQPN = 1 << 24 },
	} {
		a := legal(QPSRTR, QPSInit)
		set(&a)
		require.ErrorIs(t, checkValues(&a, mask, &everything), EINVAL, "%v", mask)
	}
	a := legal(QPSRTS, QPSSQD)
	_, err := CheckModify(QPTRC, QPSRTS, &a, QPState|QPCurState, &everything)
	require.ErrorContains(t, err, "the current state is given as SQD: it is RTS")
}

// TestModifyLacks checks that features that the device lacks are refused as such.
func TestModifyLacks(t *testing.T) {
	for _, c := range []struct {
		from, to State
		lacks    Feature
	}{{QPSRTS, QPSSQD, FeatureDrain}, {QPSRTS, QPSErr, FeatureError}, {QPSRTS, QPSReset, FeatureError},
		{QPSInit, QPSInit, FeatureModifyInState}} {
		dev := everything
		a := legal(c.to, c.from)
		_, err := CheckModify(QPTRC, c.from, &a, QPState, &dev)
		require.NoError(t, err)
		dev.Features &^= c.lacks
		_, err = CheckModify(QPTRC, c.from, &a, QPState, &dev)
		require.ErrorIs(t, err, EOPNOTSUPP)
	}
}

// TestMerge checks that Merge takes each attribute of the mask, and no other.
func TestMerge(t *testing.T) {
	b := QPAttr{QPSErr, QPSSQE, true, 1, 2, 3, 4, AHAttr{Port: 5}, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}
	seen := map[QPAttr]bool{}
	for i := range attrNames {
		bit := AttrMask(1) << i
		var a, all QPAttr
		a.Merge(&b, bit)
		require.Equal(t, bit&unsupportedAttrs != 0, a == QPAttr{}, "%v", bit)
		if bit&unsupportedAttrs == 0 {
			require.False(t, seen[a], "%v: taken by another attribute, too", bit)
			seen[a] = true
		}
		all.Merge(&b, ^bit)
		all.Merge(&a, bit)
		require.Equal(t, b, all)
	}
}

// TestUDPSourcePort checks that ports are dynamic ones (0xc000 or more), and that both the low 14 and the high 6 bits
// of a flow label change them.
func TestUDPSourcePort(t *testing.T) {
	require.EqualValues(t, 0xc000, UDPSourcePort(0))
	require.EqualValues(t, 0xc001, UDPSourcePort(1))
	require.EqualValues(t, 0xc001, UDPSourcePort(1<<14))
	require.EqualValues(t, 0xffff&(0xc000|(0x3fff^0x3f)), UDPSourcePort(0xfffff))
}
