package inorder

import (
	"cmp"
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
)

// List is a list of jobs, numbered from 0.
type List[T any] struct {
	Count int
	Most  int // concurrent jobs; less than 1: one
	// Cost estimates the duration of a job, in any unit. If jobs run concurrently, long ones begin first. If Cost is
	// nil, jobs begin in order.
	Cost func(job int) int64
	Do   func(ctx context.Context, job int) T // runs a job; called by several goroutines
	Ends func(result T) bool                  // reports whether a result ends the list; nil: every job runs
	Take func(job int, result T)              // receives the results in order

	mu      sync.Mutex
	waiting []int                      // jobs that have not begun, the next one first
	end     int                        // number of the first job whose result is not needed
	running map[int]context.CancelFunc // cancels a running job, by its number
	results []chan outcome[T]          // result of each job, by its number
}

// outcome is the outcome of a job.
type outcome[T any] struct {
	result  T
	skipped bool   // the job did not run, because the context was canceled before
	panic   *Panic // panic of the job; nil: it did not panic
}

// Panic carries the panic of a job, which Run raises again.
type Panic struct {
	Value any
	Stack []byte // stack of the goroutine that ran the job
}

func (p *Panic) String() string { return fmt.Sprint(p.Value) }

// Run runs the jobs. When the context is canceled, it cancels the running jobs and begins no other. It then returns the
// context's cause, unless a result has ended the list before.
func (l *List[T]) Run(ctx context.Context) error {
	l.begin()
	var workers sync.WaitGroup
	for range min(max(l.Most, 1), l.Count) {
		workers.Go(func() { l.work(ctx) })
	}
	var broke *Panic
	err := error(nil)
	for job := 0; job < l.Count; job++ {
		o := <-l.results[job]
		if o.panic != nil {
			broke = o.panic
			break
		}
		if o.skipped {
			err = context.Cause(ctx)
			break
		}
		l.Take(job, o.result)
		if l.ends(o.result) {
			break
		}
	}
	workers.Wait()
	if broke != nil {
		panic(broke)
	}
	return err
}

// begin sorts the jobs into the order in which they begin.
func (l *List[T]) begin() {
	l.end, l.running = l.Count, map[int]context.CancelFunc{}
	l.waiting, l.results = make([]int, l.Count), make([]chan outcome[T], l.Count)
	for job := range l.Count {
		l.waiting[job], l.results[job] = job, make(chan outcome[T], 1)
	}
	if l.Cost != nil && l.Most > 1 {
		slices.SortStableFunc(l.waiting, func(a, b int) int { return cmp.Compare(l.Cost(b), l.Cost(a)) })
	}
}

// work runs jobs, one after the other, until no more are needed.
func (l *List[T]) work(ctx context.Context) {
	for {
		job, own, ok := l.next(ctx)
		if !ok {
			return
		}
		o := outcome[T]{skipped: ctx.Err() != nil}
		if !o.skipped {
			o.result, o.panic = l.guarded(own, job)
		}
		l.over(job, o.skipped || o.panic != nil || l.ends(o.result))
		l.results[job] <- o
	}
}

// next returns the next job, with a context of its own; ok is false if no more jobs are needed.
func (l *List[T]) next(ctx context.Context) (job int, own context.Context, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.waiting) > 0 {
		job, l.waiting = l.waiting[0], l.waiting[1:]
		if job < l.end {
			own, l.running[job] = context.WithCancel(ctx)
			return job, own, true
		}
	}
	return 0, nil, false
}

// over records the end of a job. If its result ends the list, the jobs after it are canceled.
func (l *List[T]) over(job int, ends bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.running[job]()
	delete(l.running, job)
	if !ends || job >= l.end {
		return
	}
	l.end = job
	for other, cancel := range l.running {
		if other > job {
			cancel()
		}
	}
}

func (l *List[T]) ends(result T) bool { return l.Ends != nil && l.Ends(result) }

// guarded runs a job and recovers its panic.
func (l *List[T]) guarded(ctx context.Context, job int) (result T, broke *Panic) {
	defer func() {
		if v := recover(); v != nil {
			broke = &Panic{v, debug.Stack()}
		}
	}()
	return l.Do(ctx, job), nil
}
