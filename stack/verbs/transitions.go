package verbs

// transition is a pair of states between which ModifyQP can move a queue pair, with the attributes that it takes
// besides the state.
type transition struct {
	from, to State
	masks    [4]masks // by QPType.column: RC and Solar, UC, UD, raw
}

// masks holds the attributes that must be given, and those that may be given.
type masks struct{ required, optional AttrMask }

const (
	connectedInit = QPPKeyIndex | QPPort | QPAccess
	datagramInit  = QPPKeyIndex | QPPort | QPQKey

	connectedRTR = QPAV | QPPathMTU | QPDestQPN | QPRQPSN
	reliableRTR  = connectedRTR | QPMaxDestRdAtomic | QPMinRNRTimer
	optionalRTR  = QPAltPath | QPAccess | QPPKeyIndex

	reliableRTS = QPTimeout | QPRetryCnt | QPRNRRetry | QPSQPSN | QPMaxRdAtomic

	runningUC  = QPCurState | QPAltPath | QPAccess | QPPathMigState
	runningRC  = runningUC | QPMinRNRTimer
	runningUD  = QPCurState | QPQKey
	changingUC = QPAV | QPAltPath | QPAccess | QPPKeyIndex | QPPathMigState
	changingRC = changingUC | QPPort | QPTimeout | QPRetryCnt | QPRNRRetry | QPMaxRdAtomic | QPMaxDestRdAtomic |
		QPMinRNRTimer
)

// transitions are the rows of IBTA 11.2.5.2, table 100, with the attribute masks of ibv_modify_qp(3) and, where that
// page lists none, those of Linux (ib_modify_qp_is_ok). RESET and ERR, which every state leads to, take no attributes;
// see CheckModify.
var transitions = []transition{
	{QPSReset, QPSInit, [4]masks{{required: connectedInit}, {required: connectedInit}, {required: datagramInit},
		{required: QPPort}}},
	{QPSInit, QPSInit, [4]masks{{optional: connectedInit}, {optional: connectedInit}, {optional: datagramInit}, {}}},
	{QPSInit, QPSRTR, [4]masks{
		{reliableRTR, optionalRTR}, {connectedRTR, optionalRTR}, {optional: QPPKeyIndex | QPQKey}, {},
	}},
	{QPSRTR, QPSRTS, [4]masks{{reliableRTS, runningRC}, {QPSQPSN, runningUC}, {QPSQPSN, runningUD}, {}}},
	{QPSRTS, QPSRTS, [4]masks{{optional: runningRC}, {optional: runningUC}, {optional: runningUD}, {}}},
	{QPSRTS, QPSSQD, [4]masks{{optional: QPEnSQDNotify}, {optional: QPEnSQDNotify}, {optional: QPEnSQDNotify}, {}}},
	{QPSSQD, QPSRTS, [4]masks{{optional: runningRC}, {optional: runningUC}, {optional: runningUD}, {}}},
	{QPSSQD, QPSSQD, [4]masks{{optional: changingRC}, {optional: changingUC}, {optional: QPPKeyIndex | QPQKey}, {}}},
	{QPSSQE, QPSRTS, [4]masks{{}, {optional: QPCurState | QPAccess}, {optional: runningUD}, {}}},
}

// column returns the index in transition.masks for a type, or -1 for an unknown one.
func (t QPType) column() int {
	switch t {
	case QPTRC, QPTSolar:
		return 0
	case QPTUC:
		return 1
	case QPTUD:
		return 2
	case QPTRawPacket:
		return 3
	}
	return -1
}

// Transition returns the attributes that ModifyQP requires and allows, besides QPState, for a transition of a queue
// pair type; ok is false if the transition does not exist.
func Transition(t QPType, from, to State) (required, optional AttrMask, ok bool) {
	col := t.column()
	switch {
	case col < 0 || from > QPSErr || to > QPSErr:
		return 0, 0, false
	case to == QPSReset, to == QPSErr && from != QPSReset:
		return 0, 0, true
	case from == QPSSQE && t.column() == 0: // RC and Solar never enter SQE: errors lead to ERR, or leave the state
		return 0, 0, false
	}
	for i := range transitions {
		if x := &transitions[i]; x.from == from && x.to == to {
			return x.masks[col].required, x.masks[col].optional, true
		}
	}
	return 0, 0, false
}

// CheckModify checks the arguments of ModifyQP, and returns the new state.
func CheckModify(t QPType, current State, a *QPAttr, mask AttrMask, dev *DeviceAttr) (State, error) {
	const verb = "modify_qp"
	if mask&QPCurState != 0 {
		switch a.CurState {
		case QPSRTR, QPSRTS, QPSSQD, QPSSQE:
		default:
			return 0, Errorf(verb, EINVAL, "the current state is given as %v: want RTR, RTS, SQD or SQE", a.CurState)
		}
		if a.CurState != current {
			return 0, Errorf(verb, EINVAL, "the current state is given as %v: it is %v", a.CurState, current)
		}
	}
	next := current
	if mask&QPState != 0 {
		next = a.State
	}
	required, optional, ok := Transition(t, current, next)
	if !ok {
		return 0, Errorf(verb, EINVAL, "%v from %v to %v: no such transition", t, current, next)
	}
	if missing := required &^ mask; missing != 0 {
		return 0, Errorf(verb, EINVAL, "%v from %v to %v: want %v, too", t, current, next, missing)
	}
	if extra := mask &^ (required | optional | QPState); extra != 0 {
		return 0, Errorf(verb, EINVAL, "%v from %v to %v: %v may not be given", t, current, next, extra)
	}
	if unsupported := mask & unsupportedAttrs; unsupported != 0 {
		return 0, Errorf(verb, EOPNOTSUPP, "attributes %v: not supported by any stack here", unsupported)
	}
	if err := checkFeatures(current, next, dev); err != nil {
		return 0, err
	}
	return next, checkValues(a, mask, dev)
}

// checkFeatures returns an error if a transition needs a feature that the device lacks.
func checkFeatures(from, to State, dev *DeviceAttr) error {
	need, what := Feature(0), ""
	switch {
	case to == QPSErr || to == QPSReset:
		need, what = FeatureError, "going to ERR or RESET"
	case to == QPSSQD || from == QPSSQD:
		need, what = FeatureDrain, "SQD"
	case from == to:
		need, what = FeatureModifyInState, "changing attributes within a state"
	}
	if !dev.Has(need) {
		return Errorf("modify_qp", EOPNOTSUPP, "%s: the device lacks it", what)
	}
	return nil
}

// Limits of fields (IBTA 9.7.5.2.8, 9.7.6.1.3, table 45; 11.2.5.2).
const (
	maxTimer  = 31
	maxRetry  = 7
	max24     = 1<<24 - 1
	maxAccess = AccessLocalWrite | AccessRemoteWrite | AccessRemoteRead | AccessRemoteAtomic
)

// checkValues checks the values of the attributes selected by mask.
func checkValues(a *QPAttr, mask AttrMask, dev *DeviceAttr) error {
	for _, f := range []struct {
		attr   AttrMask
		is, to uint64
	}{
		{QPTimeout, uint64(a.Timeout), maxTimer}, {QPMinRNRTimer, uint64(a.MinRNRTimer), maxTimer},
		{QPRetryCnt, uint64(a.RetryCnt), maxRetry}, {QPRNRRetry, uint64(a.RNRRetry), maxRetry},
		{QPSQPSN, uint64(a.SQPSN), max24}, {QPRQPSN, uint64(a.RQPSN), max24}, {QPDestQPN, uint64(a.DestQPN), max24},
		{QPMaxRdAtomic, uint64(a.MaxRdAtomic), uint64(dev.MaxQPInitRdAtom)},
		{QPMaxDestRdAtomic, uint64(a.MaxDestRdAtomic), uint64(dev.MaxQPRdAtom)},
		{QPPKeyIndex, uint64(a.PKeyIndex), 0}, {QPAccess, uint64(a.Access), uint64(maxAccess)},
	} {
		if mask&f.attr != 0 && f.is > f.to {
			return Errorf("modify_qp", EINVAL, "%v is %d: want %d at most", f.attr, f.is, f.to)
		}
	}
	if mask&QPPort != 0 && (a.Port < 1 || int(a.Port) > dev.Ports) {
		return Errorf("modify_qp", EINVAL, "PORT is %d: want 1 to %d", a.Port, dev.Ports)
	}
	if mask&QPAV != 0 && (a.AH.Port < 1 || int(a.AH.Port) > dev.Ports) {
		return Errorf("modify_qp", EINVAL, "the port of AV is %d: want 1 to %d", a.AH.Port, dev.Ports)
	}
	if mask&QPPathMTU != 0 && !a.PathMTU.Valid() {
		return Errorf("modify_qp", EINVAL, "PATH_MTU is %d: want 256, 512, 1024, 2048, 4096 or 8192", a.PathMTU)
	}
	return nil
}

// Valid reports whether this stack supports the MTU.
func (m MTU) Valid() bool {
	switch m {
	case MTU256, MTU512, MTU1024, MTU2048, MTU4096, MTU8192:
		return true
	}
	return false
}

// Merge copies the attributes selected by mask from b; for QPState it copies the state.
func (a *QPAttr) Merge(b *QPAttr, mask AttrMask) {
	kept := *a
	*a = *b
	for _, f := range []struct {
		attr    AttrMask
		restore func()
	}{
		{QPState, func() { a.State = kept.State }}, {QPCurState, func() { a.CurState = kept.CurState }},
		{QPEnSQDNotify, func() { a.EnSQDNotify = kept.EnSQDNotify }}, {QPAccess, func() { a.Access = kept.Access }},
		{QPPKeyIndex, func() { a.PKeyIndex = kept.PKeyIndex }}, {QPPort, func() { a.Port = kept.Port }},
		{QPQKey, func() { a.QKey = kept.QKey }}, {QPAV, func() { a.AH = kept.AH }},
		{QPPathMTU, func() { a.PathMTU = kept.PathMTU }},
		{QPTimeout, func() { a.Timeout = kept.Timeout }}, {QPRetryCnt, func() { a.RetryCnt = kept.RetryCnt }},
		{QPRNRRetry, func() { a.RNRRetry = kept.RNRRetry }}, {QPRQPSN, func() { a.RQPSN = kept.RQPSN }},
		{QPMaxRdAtomic, func() { a.MaxRdAtomic = kept.MaxRdAtomic }},
		{QPMinRNRTimer, func() { a.MinRNRTimer = kept.MinRNRTimer }},
		{QPSQPSN, func() { a.SQPSN = kept.SQPSN }},
		{QPMaxDestRdAtomic, func() { a.MaxDestRdAtomic = kept.MaxDestRdAtomic }},
		{QPDestQPN, func() { a.DestQPN = kept.DestQPN }},
	} {
		if mask&f.attr == 0 {
			f.restore()
		}
	}
}
