// Package credit divides the credits of receive buffers among flows (CEIO section 4.1, Algorithm 1).
//
// A credit stands for one buffer in the part of the last-level cache that devices may fill. Each flow has a balance.
// A received packet takes a credit from it (Take), which comes back when the packet has been processed (Release). When
// a flow becomes active, the others give it an equal share: from their balances, and the rest as debts, which they pay
// from their credits in use as these come back. A claim is a debt seen by the creditor.
//
// The package is pure: it knows neither time, packets nor NICs.
//
// Invariants, which Check verifies:
//   - The balances, the credits in use and the unassigned credits sum to the total.
//   - No balance is negative.
//   - No flow owes more than it has in use.
//
// The printed Algorithm 1 (Options.AsPrinted) breaks them, so the default differs from it in three places:
//   - Line 13 subtracts c_i/m from c_i once for each new flow, so that c_i does not reach 0. Here the balance is
//     divided once.
//   - Line 21 pays max(o, gamma/m): min is meant. Also, m is the number of new flows, which is the number of creditors
//     only after a single arrival. Here each of the k creditors gets min(o, gamma/k); a remainder goes to them in turn.
//   - No line adds the payment to the creditor's balance.
//
// The paper leaves these cases open; the decisions are ours:
//   - Shares are whole credits; remainders go to the flows in turn.
//   - A flow that has to give more than its balance and its credits in use gives claims.
//   - A flow that becomes inactive gives its balance and its claims to the active flows, in equal shares, and owes them
//     its credits in use, also in equal shares. If no flow is active, credits are unassigned; the next flow gets them.
package credit
