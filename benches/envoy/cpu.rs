use std::fs;

use anyhow::{Context as _, Result};

/// CPU nanoseconds that the threads of a process have had so far, as the scheduler accounts for them.
pub(crate) fn nanos(process: u32) -> Result<u64> {
    let tasks = format!("/proc/{process}/task");
    let mut total = 0_u64;
    for task in fs::read_dir(&tasks).with_context(|| format!("cannot read {tasks}"))? {
        let path = task?.path().join("schedstat");
        // A thread may end in between.
        let Ok(text) = fs::read_to_string(&path) else { continue };
        let spent = text.split_whitespace().next().and_then(|number| number.parse::<u64>().ok());
        total += spent.with_context(|| format!("{} says {text:?}", path.display()))?;
    }
    Ok(total)
}
