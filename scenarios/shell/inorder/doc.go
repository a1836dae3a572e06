// Package inorder runs the jobs of a list concurrently and delivers their results in the order of the list, as if they
// had run one after the other.
//
// Invariants:
//   - At most Most jobs run at a time; Run returns after every job that began has ended.
//   - Take is called for jobs 0, 1, 2… without a gap, by Run's goroutine, up to the first result that ends the list.
//   - A result that ends the list cancels the jobs after it. Those before it run on: one of them may end the list
//     earlier.
//   - Run raises the panic of a job when it is that job's turn to deliver.
package inorder
