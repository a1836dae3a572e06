// Package inorder plays the jobs of a list several at a time and hands their results over in the order of the list, as
// if they had been played one after the other.
//
// Invariants:
//   - At most Most jobs run at a time; Run returns after every job that began has ended.
//   - Take is called for jobs 0, 1, 2… without a gap, by Run's goroutine, up to the first result that ends the list.
//   - A result that ends the list cancels the jobs after it. Those before it still play: one of them may end the list
//     earlier.
//   - A panic in a job is raised by Run in the job's turn.
package inorder
