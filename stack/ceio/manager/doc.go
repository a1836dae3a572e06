// Package manager decides for every flow of a server which of its packets go to host memory at once and which wait in
// the NIC's memory (CEIO sections 4.1 and 4.2): the credit controller, the lazy release of credits, the slow path with
// its copies, and the timers of inactive flows.
//
// A flow has a fast receive ring, with buffers in host memory, and a slow one, with buffers in the NIC's memory. The
// caller reports what happened (completions of both rings, copies that ended, processed packets, the time) and the
// manager says through NIC what to do: add or take credits, resume the fast path, copy a run of slow packets to the
// host. The package is pure: it knows neither clocks, memory nor drivers.
//
// A flow is in one of these states:
//
//	Fast      the NIC delivers to the fast ring
//	Slow      the flow ran out of credits: the NIC delivers to the slow ring until it is resumed
//	Draining  a receive call or Drain asked for slow packets: they are copied, in runs
//	Resuming  all of them have been copied, and the NIC is directed to use the fast ring again: frames that were on
//	          their way still come slow and are copied, too
//	Inactive  as Slow or Draining, without a share of the credits
//
// # Credits in the NIC
//
// With controller `nic`, the NIC holds the balances (accounts of docs/nic.md, [A1] to [A5]) and draws on them before
// software sees the packet's completion. The ledger learns of a draw only then. So for each flow, except while credits
// are being taken from accounts:
//
//	credits in the NIC + draws that the ledger does not know + credits not yet added = balance in the ledger
//
// Credits are not added while the fast ring lacks descriptors for them, so that a frame with a credit is not dropped.
// With Algorithm 1 as printed, the ledger itself loses credits, and the equation does not hold.
//
// To take up to s credits from a flow exactly, the manager takes s from the account, which stops at 0, then reads how
// many credits were drawn so far, and enters the draws into the ledger. If the account had fewer than s, so has the
// ledger now, and it gives what the account gave. Releases and additions wait meanwhile. Only then do other flows get
// the credits.
//
// With controller `arm`, software on a core of the card polls how often the flow's rule was hit, and rewrites the rule
// when the credits are used up. Packets that came fast beyond the credits are counted as overshoot.
//
// # Waits
//
// Packets that overtook others wait for these, and slow packets wait for landing buffers while the application holds
// all of them. Either wait ends with an error after Spec.WaitLimit. With controller `nic`, most numbers that are left
// out are found at once: between two resumes, the numbers of either ring are consecutive.
//
// Invariants:
//   - Every packet is handed over once, in the order of account_seq, or the manager ends with an error.
//   - With controller `nic`, fast packets in host memory never exceed the total of the credits, nor those of a flow its
//     fast ring. With controller `arm` and with Algorithm 1 as printed, they exceed the credits by the packets counted
//     as overshoot, and a ring without descriptors drops packets.
//   - Nothing allocates once the manager has reached its largest queues.
package manager
