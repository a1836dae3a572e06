package nicspec

// NewTblCmd returns the value of TBL_CMD that starts a command: the operation, its table and the
// entry's index [G6].
func NewTblCmd(op TableOp, t Table, index int) TblCmdReg {
	var c TblCmdReg
	c.SetIndex(uint32(index))
	c.SetTable(uint32(t))
	c.SetOp(uint32(op))
	return c
}
