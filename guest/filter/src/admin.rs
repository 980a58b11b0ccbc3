use std::rc::Rc;

use breakerbox_config::{MAX_ID_BYTES, Token, did_you_mean};
use proxy_wasm::traits::{Context, HttpContext};
use proxy_wasm::types::Action;
use serde::Serialize;

use crate::answer::Answer;
use crate::guard::Control;
use crate::guards::Guards;
use crate::hostcalls::{self, Headers};
use crate::view::View;
use crate::{access, index, registry};

/// A request to the role `admin`, which never goes upstream.
///
/// | request | answer |
/// |---|---|
/// | `GET /` | the page for people |
/// | `GET /breakers` | all breakers, sorted by id |
/// | `GET /breakers/ID` | one breaker; `ID` is percent-encoded where it has to be, its slashes may stay |
/// | `POST /breakers/ID/force-open`, `…/disable`, `…/reset` | the breaker afterwards |
///
/// The page itself holds no secret and is everyone's; [`access`] says who may do the rest.
pub(crate) struct Admin {
    token: Option<Rc<Token>>,
    /// What is known of breakers that no plugin of this VM guards: the admin's own configuration says it.
    fallback: Rc<Guards>,
}

#[derive(Serialize)]
struct All {
    breakers: Vec<View>,
}

impl Admin {
    pub(crate) fn new(token: Option<Rc<Token>>, fallback: Rc<Guards>) -> Self {
        Self { token, fallback }
    }

    fn answer(&self) -> Answer {
        let text =
            |name| hostcalls::header(Headers::Request, name).and_then(|value| String::from_utf8(value).ok());
        let (Some(method), Some(path)) = (text(":method"), text(":path")) else {
            return Answer::failure(400, "a request has a method and a path, both text");
        };
        let path = path.split_once('?').map_or(path.as_str(), |(path, _)| path);
        if path == "/" {
            return if method == "GET" { Answer::page() } else { Answer::not_allowed("GET") };
        }
        let changes = match method.as_str() {
            "GET" => false,
            "POST" => true,
            _ => return Answer::not_allowed("GET, POST"),
        };
        if let Err(refusal) = access::check(self.token.as_deref(), changes) {
            return Answer::refused(refusal);
        }
        let Some(rest) =
            path.strip_prefix("/breakers").filter(|rest| rest.is_empty() || rest.starts_with('/'))
        else {
            return Answer::failure(404, "there are /breakers and /breakers/ID, and a page at /");
        };
        match rest.trim_start_matches('/') {
            rest if changes => match rest.rsplit_once('/') {
                Some((id, control)) if !id.is_empty() => self.control(&unescape(id), control),
                _ => Answer::failure(404, "post to /breakers/ID/force-open, /disable or /reset"),
            },
            "" => self.all(),
            id => self.one(&unescape(id)),
        }
    }

    fn all(&self) -> Answer {
        let Ok(ids) = index::all() else { return Answer::unavailable() };
        let breakers = ids.iter().filter_map(|id| self.view(id)).collect();
        Answer::json(200, &All { breakers })
    }

    fn one(&self, id: &str) -> Answer {
        if id.len() > MAX_ID_BYTES {
            return Answer::failure(400, "that is longer than any breaker's id");
        }
        self.view(id).map_or_else(|| Answer::unknown(id), |view| Answer::json(200, &view))
    }

    fn control(&self, id: &str, name: &str) -> Answer {
        let Some(control) = Control::ALL.into_iter().find(|control| control.name() == name) else {
            let hint = did_you_mean(name, Control::ALL.map(Control::name));
            let error = format!("no control {name}{hint}; there are force-open, disable and reset");
            return Answer::failure(404, &error);
        };
        // A control makes no breakers: else whoever posts could fill the proxy's memory.
        if id.len() > MAX_ID_BYTES || self.view(id).is_none() {
            return self.one(id);
        }
        let guards = registry::guards_of(id).unwrap_or_else(|| Rc::clone(&self.fallback));
        match guards.get(id) {
            Some(guard) if guard.control(control) => self.one(id),
            _ => Answer::unavailable(),
        }
    }

    fn view(&self, id: &str) -> Option<View> {
        let guards = registry::guards_of(id).unwrap_or_else(|| Rc::clone(&self.fallback));
        View::of(id, &guards.rules_for(id), guards.mode_of(id))
    }
}

impl Context for Admin {}

impl HttpContext for Admin {
    fn on_http_request_headers(&mut self, _: usize, _: bool) -> Action {
        self.answer().send();
        Action::Pause
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
