//! One hot path a fixed number of times, for counting instructions: `fixed-loop PATH ITERATIONS`.

use std::hint::black_box;
use std::process::ExitCode;

use breakerbox_benches::{NOW, call, clean, one_in_ten_fails};
use breakerbox_core::{Breaker, Outcome, Settings, WindowType};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, iterations] = &arguments[..] else { return usage() };
    let Ok(iterations) = iterations.parse::<u64>() else { return usage() };
    let count = Settings::default();
    let time = Settings { window_type: WindowType::Time, window_size: 60, ..count.clone() };
    match path.as_str() {
        "nothing" => repeat(iterations, |i| {
            black_box(i);
        }),
        "clean-success" => success(&clean(&count), iterations),
        "one-in-ten-fails" => mixed(&clean(&count), iterations),
        "time-window-success" => success(&clean(&time), iterations),
        "rejected" => {
            let open = clean(&Settings { window_size: 1, ..count });
            call(&open, Outcome::Failure);
            reject(&open, iterations);
        }
        _ => return usage(),
    }
    ExitCode::SUCCESS
}

fn usage() -> ExitCode {
    eprintln!(
        "usage: fixed-loop nothing|clean-success|one-in-ten-fails|time-window-success|rejected ITERATIONS"
    );
    ExitCode::from(2)
}

fn repeat(iterations: u64, mut work: impl FnMut(u64)) {
    for number in 0..iterations {
        work(number);
    }
}

fn success(breaker: &Breaker, iterations: u64) {
    repeat(iterations, |_| call(black_box(breaker), Outcome::Success));
}

fn mixed(breaker: &Breaker, iterations: u64) {
    repeat(iterations, |i| call(black_box(breaker), one_in_ten_fails(i)));
}

fn reject(breaker: &Breaker, iterations: u64) {
    repeat(iterations, |_| {
        black_box(&black_box(breaker).acquire(black_box(NOW)).answer);
    });
}
