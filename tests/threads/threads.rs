// Rust's threads, channels and locks. Prints the same on every run.
use std::sync::{mpsc, Arc, Barrier, Condvar, Mutex, RwLock};
use std::thread;
use std::time::Duration;

fn main() {
    let (to, from) = mpsc::channel();
    let workers: Vec<_> = (0..6u64)
        .map(|id| {
            let to = to.clone();
            thread::spawn(move || {
                for n in 0..100 {
                    to.send(id * n).unwrap();
                }
                id
            })
        })
        .collect();
    drop(to);
    let sum: u64 = from.iter().sum();
    let ids: u64 = workers.into_iter().map(|w| w.join().unwrap()).sum();
    println!("channel: {} {}", sum, ids);

    let pair = Arc::new((Mutex::new(0), Condvar::new()));
    let counts = Arc::new(RwLock::new(vec![0; 4]));
    let barrier = Arc::new(Barrier::new(4));
    let threads: Vec<_> = (0..4)
        .map(|me| {
            let (pair, counts, barrier) = (pair.clone(), counts.clone(), barrier.clone());
            thread::spawn(move || {
                for _ in 0..50 {
                    let (lock, changed) = &*pair;
                    let mut turn = lock.lock().unwrap();
                    while *turn % 4 != me {
                        turn = changed.wait(turn).unwrap();
                    }
                    *turn += 1;
                    changed.notify_all();
                    counts.write().unwrap()[me] += 1;
                }
                barrier.wait().is_leader()
            })
        })
        .collect();
    let leaders = threads.into_iter().filter(|_| true).map(|t| t.join().unwrap()).filter(|l| *l).count();
    println!("turns: {:?} {}", counts.read().unwrap(), leaders);

    let slow = mpsc::channel::<()>().1.recv_timeout(Duration::from_millis(5)).is_err();
    let panicked = thread::spawn(|| std::panic::panic_any(7)).join().is_err();
    println!("timeout: {} panic: {}", slow, panicked);
    std::process::exit(5);
}
