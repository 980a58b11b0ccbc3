use std::sync::{Arc, PoisonError};

use anyhow::{Result, bail};
use bytes::Bytes;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::header::{CONNECTION, CONTENT_TYPE, HeaderName, HeaderValue, UPGRADE};
use hyper::{HeaderMap, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;

use super::broken_body::BrokenBody;
use super::{Answer, Behaviour, Script, Traffic};

type Body = BoxBody<Bytes, anyhow::Error>;

const GRPC_STATUS: HeaderName = HeaderName::from_static("grpc-status");

/// Answers one request. An error makes hyper close the connection, or reset the HTTP/2 stream.
pub(super) async fn answer(mut request: Request<Incoming>, script: Arc<Script>) -> Result<Response<Body>> {
    let path = request.uri().path().to_owned();
    let path = path.as_str();
    let arrival = Arrival::note(&script, path);
    let Behaviour { hold, answer } = {
        let behaviours = script.behaviours.lock().unwrap_or_else(PoisonError::into_inner);
        behaviours.get(path).cloned().unwrap_or(Answer::Status(200).into())
    };
    hold.wait().await;
    if answer.waits_for_the_whole_request() {
        while let Some(frame) = request.body_mut().frame().await {
            frame?;
        }
    }
    drop(arrival);

    match answer {
        Answer::Status(status) => {
            let mut response = Response::new(whole(format!("{status} from {path}\n")));
            *response.status_mut() = StatusCode::from_u16(status)?;
            Ok(response)
        }
        Answer::Bytes(length) => Ok(Response::new(whole(vec![b'.'; length]))),
        Answer::CloseBeforeHeaders => bail!("told to close before headers"),
        Answer::ResetInBody => Ok(Response::new(BrokenBody::reset().boxed())),
        Answer::StallInBody => Ok(Response::new(BrokenBody::stalled().boxed())),
        Answer::SlowBody(pause) => Ok(Response::new(BrokenBody::slow(pause).boxed())),
        Answer::Grpc(status) => Ok(grpc(grpc_message(status))),
        Answer::GrpcTrailersOnly(status) => Ok(grpc_headers(status, whole(""))),
        Answer::GrpcEmptyBody(status) => Ok(grpc_headers(status, empty_at_last())),
        Answer::Upgrade => upgrade(request),
    }
}

fn whole(body: impl Into<Bytes>) -> Body {
    Full::new(body.into()).map_err(anyhow::Error::from).boxed()
}

fn grpc(body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
    response
}

fn grpc_headers(status: u16, body: Body) -> Response<Body> {
    let mut response = grpc(body);
    response.headers_mut().insert(GRPC_STATUS, HeaderValue::from(status));
    response
}

/// A body of which nobody knows in advance that it is empty: trailers might follow.
fn empty_at_last() -> Body {
    Full::new(Bytes::new()).with_trailers(std::future::ready(None)).map_err(anyhow::Error::from).boxed()
}

/// An empty message, and the status in the trailers.
fn grpc_message(status: u16) -> Body {
    let trailers = HeaderMap::from_iter([(GRPC_STATUS, HeaderValue::from(status))]);
    Full::new(Bytes::from_static(&[0; 5]))
        .with_trailers(std::future::ready(Some(Ok(trailers))))
        .map_err(anyhow::Error::from)
        .boxed()
}

fn upgrade(mut request: Request<Incoming>) -> Result<Response<Body>> {
    let Some(protocol) = request.headers().get(UPGRADE).cloned() else {
        bail!("told to accept an upgrade, but the request asks for none");
    };
    let upgraded = hyper::upgrade::on(&mut request);
    tokio::spawn(async move {
        if let Ok(upgraded) = upgraded.await {
            let (mut reader, mut writer) = tokio::io::split(TokioIo::new(upgraded));
            // Ends when the other side does, in whatever way.
            let _ = tokio::io::copy(&mut reader, &mut writer).await;
        }
    });
    let mut response = Response::new(whole(""));
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("upgrade"));
    response.headers_mut().insert(UPGRADE, protocol);
    Ok(response)
}

/// Counts a request when it arrives, and that it no longer waits when dropped: answered, or its client gone.
struct Arrival<'a> {
    script: &'a Script,
    path: String,
}

impl<'a> Arrival<'a> {
    fn note(script: &'a Script, path: &str) -> Self {
        let arrival = Self { script, path: path.to_owned() };
        arrival.update(|traffic| {
            traffic.hits += 1;
            traffic.waiting += 1;
        });
        arrival
    }

    fn update(&self, change: impl FnOnce(&mut Traffic)) {
        self.script.traffic.send_modify(|all| change(all.entry(self.path.clone()).or_default()));
    }
}

impl Drop for Arrival<'_> {
    fn drop(&mut self) {
        self.update(|traffic| traffic.waiting -= 1);
    }
}
