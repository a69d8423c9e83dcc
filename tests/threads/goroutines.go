// Go's goroutines, channels and timers: many goroutines on a few threads. Prints the same on every run.
package main

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"
)

func squares(in <-chan int, out chan<- int, done *sync.WaitGroup) {
	defer done.Done()
	for n := range in {
		out <- n * n
	}
}

func main() {
	in, out := make(chan int), make(chan int, 16)
	var done sync.WaitGroup
	var lock sync.Mutex
	total := 0

	runtime.GOMAXPROCS(4)
	for i := 0; i < 50; i++ {
		done.Add(1)
		go squares(in, out, &done)
	}
	go func() {
		for n := 1; n <= 1000; n++ {
			in <- n
		}
		close(in)
		done.Wait()
		close(out)
	}()
	sum := 0
	for n := range out {
		sum += n
	}
	fmt.Println("squares:", sum)

	var workers sync.WaitGroup
	for i := 0; i < 20; i++ {
		workers.Add(1)
		go func() {
			defer workers.Done()
			for n := 0; n < 100; n++ {
				lock.Lock()
				total++
				lock.Unlock()
				runtime.Gosched()
			}
		}()
	}
	workers.Wait()
	fmt.Println("locked:", total)

	ticker := time.NewTicker(2 * time.Millisecond)
	ticks, ended, end := 0, false, time.After(5*time.Millisecond)
	for ticks < 5 || !ended {
		select {
		case <-ticker.C:
			ticks++
		case <-end:
			ended = true
		}
	}
	ticker.Stop()
	garbage := 0
	for i := 0; i < 100; i++ {
		garbage += len(make([]byte, 100000+i))
	}
	runtime.GC()
	fmt.Println("ticks:", ticks >= 5, "garbage:", garbage)
	defer func() {
		fmt.Println("recovered:", recover() != nil)
		os.Exit(4)
	}()
	var nothing *int
	*nothing = 1
}
