use std::rc::Rc;

use breakerbox_config::{Token, did_you_mean};
use proxy_wasm::traits::{Context, HttpContext};
use proxy_wasm::types::Action;
use serde::Serialize;

use crate::guard::Control;
use crate::guards::Guards;
use crate::hostcalls::{self, Headers, Level, LocalResponse};
use crate::view::View;
use crate::{index, registry};

/// A request to the role `admin`, which never goes upstream.
///
/// | request | answer |
/// |---|---|
/// | `GET /breakers` | all breakers, sorted by id |
/// | `GET /breakers/ID` | one breaker; `ID` is percent-encoded where it has to be, its slashes may stay |
/// | `POST /breakers/ID/force-open`, `…/disable`, `…/reset` | the breaker afterwards |
pub(crate) struct Admin {
    token: Option<Rc<Token>>,
    /// What is known of breakers that no plugin of this VM guards: the admin's own configuration says it.
    fallback: Rc<Guards>,
}

/// What the request gets.
struct Reply {
    status: u32,
    body: String,
    header: Option<(&'static str, &'static str)>,
}

#[derive(Serialize)]
struct All {
    breakers: Vec<View>,
}

#[derive(Serialize)]
struct Failure<'a> {
    error: &'a str,
}

impl Admin {
    pub(crate) fn new(token: Option<Rc<Token>>, fallback: Rc<Guards>) -> Self {
        Self { token, fallback }
    }

    fn answer(&self) -> Reply {
        if !self.is_allowed() {
            let reply = Reply::failure(401, "give the token, as `authorization: Bearer TOKEN`");
            return Reply { header: Some(("www-authenticate", "Bearer")), ..reply };
        }
        let text =
            |name| hostcalls::header(Headers::Request, name).and_then(|value| String::from_utf8(value).ok());
        let (Some(method), Some(path)) = (text(":method"), text(":path")) else {
            return Reply::failure(400, "a request has a method and a path, both text");
        };
        let path = path.split_once('?').map_or(path.as_str(), |(path, _)| path);
        let Some(rest) =
            path.strip_prefix("/breakers").filter(|rest| rest.is_empty() || rest.starts_with('/'))
        else {
            return Reply::failure(404, "there are /breakers and /breakers/ID");
        };
        match (method.as_str(), rest.trim_start_matches('/')) {
            ("GET", "") => self.all(),
            ("GET", id) => self.one(&unescape(id)),
            ("POST", rest) => match rest.rsplit_once('/') {
                Some((id, control)) if !id.is_empty() => self.control(&unescape(id), control),
                _ => Reply::failure(404, "post to /breakers/ID/force-open, /disable or /reset"),
            },
            _ => {
                let reply = Reply::failure(405, "only GET and POST are allowed");
                Reply { header: Some(("allow", "GET, POST")), ..reply }
            }
        }
    }

    fn is_allowed(&self) -> bool {
        let Some(token) = &self.token else { return true };
        let given = hostcalls::header(Headers::Request, "authorization");
        given
            .as_deref()
            .and_then(|given| given.strip_prefix(b"Bearer "))
            .is_some_and(|given| token.matches(given))
    }

    fn all(&self) -> Reply {
        let Ok(ids) = index::all() else { return Reply::unavailable() };
        let breakers = ids.iter().filter_map(|id| self.view(id)).collect();
        Reply::json(200, &All { breakers })
    }

    fn one(&self, id: &str) -> Reply {
        self.view(id).map_or_else(|| Reply::unknown(id), |view| Reply::json(200, &view))
    }

    fn control(&self, id: &str, name: &str) -> Reply {
        let Some(control) = Control::ALL.into_iter().find(|control| control.name() == name) else {
            let hint = did_you_mean(name, Control::ALL.map(Control::name));
            let error = format!("no control {name}{hint}; there are force-open, disable and reset");
            return Reply::failure(404, &error);
        };
        if self.view(id).is_none() {
            return Reply::unknown(id);
        }
        let guards = registry::guards_of(id).unwrap_or_else(|| Rc::clone(&self.fallback));
        match guards.get(id.as_bytes()) {
            Some(guard) if guard.control(control) => self.one(id),
            _ => Reply::unavailable(),
        }
    }

    fn view(&self, id: &str) -> Option<View> {
        let guards = registry::guards_of(id).unwrap_or_else(|| Rc::clone(&self.fallback));
        View::of(id, &guards.rules_for(id))
    }
}

impl Context for Admin {}

impl HttpContext for Admin {
    fn on_http_request_headers(&mut self, _: usize, _: bool) -> Action {
        let Reply { status, body, header } = self.answer();
        let headers: Vec<_> = [("content-type", "application/json")].into_iter().chain(header).collect();
        let response = LocalResponse {
            status,
            details: "breakerbox_admin",
            headers: &headers,
            body: &body,
            grpc_status: None,
        };
        if !hostcalls::send_local_response(&response) {
            // The request waits for nothing else, so the proxy's own time limits end it.
            hostcalls::log(Level::Warn, "breakerbox: the proxy did not take an answer of the role admin");
        }
        Action::Pause
    }
}

impl Reply {
    fn json(status: u32, body: &impl Serialize) -> Self {
        // These types always have a JSON form.
        let body = serde_json::to_string(body).unwrap_or_default();
        Self { status, body: format!("{body}\n"), header: None }
    }

    fn failure(status: u32, error: &str) -> Self {
        Self::json(status, &Failure { error })
    }

    fn unknown(id: &str) -> Self {
        let known = index::all().unwrap_or_default();
        let hint = did_you_mean(id, known.iter().map(String::as_str));
        Self::failure(404, &format!("no breaker {id}{hint}"))
    }

    fn unavailable() -> Self {
        Self::failure(503, "the proxy's shared data did not answer: try again")
    }
}

/// Undoes percent-encoding. What is no valid encoding stays as it is.
fn unescape(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let digits = after
            .first_chunk::<2>()
            .filter(|digits| byte == b'%' && digits.iter().all(u8::is_ascii_hexdigit));
        let code = digits.and_then(|digits| u8::from_str_radix(str::from_utf8(digits).ok()?, 16).ok());
        bytes.push(code.unwrap_or(byte));
        rest = if code.is_some() { after.get(2..).unwrap_or_default() } else { after };
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::unescape;

    #[test]
    fn an_id_in_a_path_is_percent_decoded() {
        assert_eq!(unescape("orders"), "orders");
        assert_eq!(unescape("httproute/shop/a%20b"), "httproute/shop/a b");
        assert_eq!(unescape("f%C3%BCr%2Falle"), "für/alle");
        assert_eq!(unescape("100%"), "100%");
        assert_eq!(unescape("%zz%4"), "%zz%4");
        assert_eq!(unescape("%+1"), "%+1");
        assert_eq!(unescape("%FF"), "%FF");
    }
}
