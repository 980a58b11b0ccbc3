use alloc::format;
use alloc::string::String;
use core::fmt;

use crate::Code;
use crate::json::Json;
use crate::report::Report;
use crate::table::{At, Table};

const LONGEST_TOKEN: usize = 256;

/// What a filter does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// It guards requests.
    #[default]
    Filter,
    /// It answers requests with the breakers' state, and takes controls.
    Admin {
        /// What a request must bring; `None` lets everyone in who can reach it.
        token: Option<Token>,
    },
}

impl Role {
    /// Reads `role` and `token`.
    pub(crate) fn read(table: &Table<'_>, report: &mut Report) -> Self {
        let mut is_admin = false;
        let role =
            |at: &At<'_>, report: &mut Report| at.choice(&[("filter", false), ("admin", true)], report);
        table.read("role", role, report, &mut is_admin);
        let token = table.get("token").and_then(|at| Token::read(at, report));
        match (is_admin, table.get("token")) {
            (true, _) => Self::Admin { token },
            (false, None) => Self::Filter,
            (false, Some(at)) => {
                let message = "is for the role `admin` only: leave it out, or give `role: admin`";
                report.problem(&at.path, Code::Conflict, message);
                Self::Filter
            }
        }
    }
}

/// A secret that is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// Whether `given` is the token. Takes equally long for every `given` of one length.
    pub fn matches(&self, given: &[u8]) -> bool {
        let token = self.0.as_bytes();
        let difference = token.iter().zip(given).fold(0, |bits, (one, other)| bits | (one ^ other));
        // The optimiser must not end the comparison at the first difference.
        token.len() == given.len() && core::hint::black_box(difference) == 0
    }

    /// Messages about a token do not repeat it.
    fn read(at: &At<'_>, report: &mut Report) -> Option<Self> {
        let Json::String(token) = at.value else {
            report.problem(&at.path, Code::WrongType, "is not a text in quotes: give the token in quotes");
            return None;
        };
        if token.is_empty()
            || token.len() > LONGEST_TOKEN
            || !token.bytes().all(|byte| byte.is_ascii_graphic())
        {
            let message = format!(
                "cannot be sent: give 1 to {LONGEST_TOKEN} ASCII letters, digits or signs, no spaces"
            );
            report.problem(&at.path, Code::BadName, message);
            return None;
        }
        Some(Self(token.clone()))
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::Token;
    use alloc::format;

    #[test]
    fn only_the_whole_token_matches() {
        let token = Token("s3cret".into());
        assert!(token.matches(b"s3cret"));
        for other in ["", "s3cre", "s3cret ", "S3cret", "xxxxxx"] {
            assert!(!token.matches(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn a_token_is_not_shown() {
        assert!(!format!("{:?}", Token("s3cret".into())).contains("s3cret"));
    }
}
