/// How many times as long as in `make test` a test of this suite goes on; `make soak` sets it.
pub(crate) fn soak() -> u32 {
    let Ok(times) = std::env::var("SOAK") else { return 1 };
    times.parse().unwrap_or_else(|_| panic!("SOAK={times}: it must be a whole number"))
}
