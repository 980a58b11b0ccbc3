use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

/// Names longer than this are not worth comparing, and comparing takes time that grows with their square.
const LONGEST: usize = 64;

/// More names than this are not offered: one would have to read them all.
const MOST: usize = 3;

/// ``; did you mean `NAME`?``, or nothing if none of the names is near.
pub fn did_you_mean<'a>(given: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    if given.len() > LONGEST {
        return String::new();
    }
    // One type of names, so that what follows is compiled once.
    let names: Vec<&str> = names.into_iter().collect();
    let meant = nearest(given, &names).map_or_else(|| related(given, &names), |name| vec![name]);
    if meant.is_empty() {
        return String::new();
    }
    let meant: Vec<String> = meant.into_iter().map(|name| format!("`{name}`")).collect();
    format!("; did you mean {}?", meant.join(" or "))
}

/// The name that was most likely meant: one all of whose words are in `given`, the most words first
/// (`slidingWindowSize` means `window_size`), else the one that the fewest typing mistakes lead to.
fn nearest<'a>(given: &str, names: &[&'a str]) -> Option<&'a str> {
    let given = snake(given);
    let given_words: Vec<&str> = given.split('_').collect();
    let mut by_words: Option<(usize, &str)> = None;
    let mut by_typing: Option<(usize, &str)> = None;
    for &name in names {
        let lower = snake(name);
        let words = lower.split('_').count();
        let contained = words > 1 && lower.split('_').all(|word| given_words.contains(&word));
        if contained && by_words.is_none_or(|(most, _)| words > most) {
            by_words = Some((words, name));
        }
        let mistakes = distance(&given, &lower);
        if mistakes <= (name.len() / 3).max(1) && by_typing.is_none_or(|(least, _)| mistakes < least) {
            by_typing = Some((mistakes, name));
        }
    }
    match (by_words, by_typing) {
        (_, Some((0 | 1, name))) | (Some((_, name)), _) | (None, Some((_, name))) => Some(name),
        (None, None) => None,
    }
}

/// The names that have the most words in common with `given`, but for short ones such as `in`.
fn related<'a>(given: &str, names: &[&'a str]) -> Vec<&'a str> {
    let given = snake(given);
    let in_common = |name: &str| {
        let is_near = |it: &str, word: &str| it.len().abs_diff(word.len()) <= 1 && distance(it, word) <= 1;
        let is_given = |word: &str| word.len() > 3 && given.split('_').any(|it| is_near(it, word));
        snake(name).split('_').filter(|word| is_given(word)).count()
    };
    let (mut most, mut related) = (1, Vec::new());
    for &name in names {
        let words = in_common(name);
        if words > most {
            most = words;
            related.clear();
        }
        if words == most {
            related.push(name);
        }
    }
    if related.len() > MOST { Vec::new() } else { related }
}

/// `given` in lower case with `_` between its words.
fn snake(given: &str) -> String {
    let mut words = String::with_capacity(given.len());
    let mut was_lower = false;
    for c in given.chars() {
        if c.is_uppercase() && was_lower {
            words.push('_');
        }
        was_lower = c.is_lowercase();
        match c {
            '-' | ' ' | '.' => words.push('_'),
            _ => words.extend(c.to_lowercase()),
        }
    }
    words
}

/// How many characters have to be inserted, left out, replaced or swapped with their neighbour to get from one
/// text to the other (optimal string alignment).
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=to.len()).collect();
    let mut previous = None;
    for (row, a) in from.chars().enumerate() {
        let mut current = Vec::with_capacity(above.len());
        let mut left = row.saturating_add(1);
        current.push(left);
        for (column, (b, around)) in to.iter().zip(above.windows(2)).enumerate() {
            let &[diagonal, up] = around else { continue };
            let replaced = diagonal.saturating_add(usize::from(a != *b));
            left = replaced.min(up.saturating_add(1)).min(left.saturating_add(1));
            let swapped = column.checked_sub(1).and_then(|c| Some((to.get(c)?, before.get(c)?)));
            if let Some((c, cost)) = swapped
                && previous == Some(*b)
                && a == *c
            {
                left = left.min(cost.saturating_add(1));
            }
            current.push(left);
        }
        before = core::mem::replace(&mut above, current);
        previous = Some(a);
    }
    above.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{did_you_mean, distance, nearest};

    const NAMES: [&str; 5] =
        ["window_size", "wait_in_open", "max_wait_in_half_open", "half_open_calls", "minimum_calls"];

    #[test]
    fn typing_mistakes_are_counted() {
        assert_eq!(distance("", ""), 0);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abc", ""), 3);
        assert_eq!(distance("windw_size", "window_size"), 1);
        assert_eq!(distance("wnidow_size", "window_size"), 1);
        assert_eq!(distance("kitten", "sitting"), 3);
    }

    #[test]
    fn a_slip_of_the_finger_finds_its_name() {
        assert_eq!(nearest("windowsize", &NAMES), Some("window_size"));
        assert_eq!(nearest("WINDOW_SIZE", &NAMES), Some("window_size"));
        assert_eq!(nearest("wiat_in_open", &NAMES), Some("wait_in_open"));
        assert_eq!(nearest("colour", &NAMES), None);
        assert_eq!(nearest("unavailble", &["UNAVAILABLE", "UNKNOWN"]), Some("UNAVAILABLE"));
        assert_eq!(did_you_mean(&"window_size".repeat(1000), NAMES), "");
    }

    #[test]
    fn the_names_of_other_breakers_settings_find_ours() {
        assert_eq!(nearest("slidingWindowSize", &NAMES), Some("window_size"));
        assert_eq!(nearest("minimumNumberOfCalls", &NAMES), Some("minimum_calls"));
        assert_eq!(nearest("wait-duration-in-open-state", &NAMES), Some("wait_in_open"));
        assert_eq!(nearest("maxWaitDurationInHalfOpenState", &NAMES), Some("max_wait_in_half_open"));
        assert_eq!(nearest("permittedNumberOfCallsInHalfOpenState", &NAMES), Some("half_open_calls"));
    }

    #[test]
    fn a_part_of_a_name_finds_the_names_that_have_it() {
        assert_eq!(did_you_mean("windw", NAMES), "; did you mean `window_size`?");
        assert_eq!(did_you_mean("wait", NAMES), "; did you mean `wait_in_open` or `max_wait_in_half_open`?");
        assert_eq!(did_you_mean("calls_5xx", NAMES), "; did you mean `half_open_calls` or `minimum_calls`?");
        assert_eq!(did_you_mean("in", NAMES), "");
        assert_eq!(
            did_you_mean("open", ["open_jitter", "open_backoff", "wait_in_open", "half_open_calls"]),
            ""
        );
    }
}
