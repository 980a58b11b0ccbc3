use std::collections::BTreeMap;
use std::net::SocketAddr;

use anyhow::{Context as _, Result};
use breakerbox_benches::EMPTY_FILTER_WASM;
use breakerbox_host::envoy::{Bootstrap, Envoy};
use breakerbox_host::guests::FILTER_WASM;
use serde_json::{Value, json};

/// A listener of its own for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Chain {
    Bare,
    DirectResponse,
    DirectAnswer,
    EmptyFilter,
    AskingFilter,
    RefusingFilter,
    Guarded,
    Rejecting,
    AdmissionControl,
    LuaCounter,
}

/// A chain under one kind of load.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Variant {
    pub(crate) name: &'static str,
    pub(crate) chain: Chain,
    pub(crate) one_in_ten_fails: bool,
}

impl Variant {
    pub(crate) const ALL: [Self; 11] = [
        Self::of("the bare chain itself", Chain::Bare),
        Self::of("a wasm filter that does nothing", Chain::EmptyFilter),
        Self::of("a wasm filter that asks as much", Chain::AskingFilter),
        Self::of("breakerbox, all succeed", Chain::Guarded),
        Self { name: "breakerbox, one in ten fails", chain: Chain::Guarded, one_in_ten_fails: true },
        Self::of("Envoy's admission_control", Chain::AdmissionControl),
        Self::of("a counter in Lua", Chain::LuaCounter),
        Self::of("a direct response", Chain::DirectResponse),
        Self::of("a direct response that says as much", Chain::DirectAnswer),
        Self::of("a wasm filter that refuses by route", Chain::RefusingFilter),
        Self::of("breakerbox, rejecting", Chain::Rejecting),
    ];

    const fn of(name: &'static str, chain: Chain) -> Self {
        Self { name, chain, one_in_ten_fails: false }
    }
}

impl Chain {
    const ALL: [Self; 10] = [
        Self::Bare,
        Self::DirectResponse,
        Self::DirectAnswer,
        Self::EmptyFilter,
        Self::AskingFilter,
        Self::RefusingFilter,
        Self::Guarded,
        Self::Rejecting,
        Self::AdmissionControl,
        Self::LuaCounter,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Bare => "bare",
            Self::DirectResponse => "direct-response",
            Self::DirectAnswer => "direct-answer",
            Self::EmptyFilter => "empty-filter",
            Self::AskingFilter => "asking-filter",
            Self::RefusingFilter => "refusing-filter",
            Self::Guarded => "guarded",
            Self::Rejecting => "rejecting",
            Self::AdmissionControl => "admission-control",
            Self::LuaCounter => "lua-counter",
        }
    }

    fn filter(self) -> Option<Value> {
        Some(match self {
            Self::Bare | Self::DirectResponse | Self::DirectAnswer => return None,
            Self::EmptyFilter => wasm(self, EMPTY_FILTER_WASM, ""),
            Self::AskingFilter => wasm(self, EMPTY_FILTER_WASM, "ask"),
            Self::RefusingFilter => wasm(self, EMPTY_FILTER_WASM, "refuse"),
            // So that a tenth of failures keeps it closed and its window unclean.
            Self::Guarded => wasm(self, FILTER_WASM, r#"{"default": {"failure_rate_threshold": 90}}"#),
            Self::Rejecting => {
                wasm(self, FILTER_WASM, r#"{"default": {"consecutive_failures": 1, "wait_in_open": "24h"}}"#)
            }
            Self::AdmissionControl => json!({
                "name": "envoy.filters.http.admission_control",
                "typed_config": {
                    "@type": "type.googleapis.com/envoy.extensions.filters.http.admission_control.v3.AdmissionControl",
                    "enabled": { "default_value": true },
                    "sampling_window": "60s",
                    "success_criteria": { "http_criteria": { "http_success_status": [{ "start": 100, "end": 500 }] } },
                },
            }),
            Self::LuaCounter => json!({
                "name": "envoy.filters.http.lua",
                "typed_config": {
                    "@type": "type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua",
                    "default_source_code": { "inline_string": LUA },
                },
            }),
        })
    }

    fn listener(self) -> Value {
        let mut route = match self {
            Self::DirectResponse => json!({ "direct_response": { "status": 503 } }),
            // The headers and the length of a rejection's answer.
            Self::DirectAnswer => json!({
                "direct_response": { "status": 503, "body": { "inline_string": REJECTION } },
                "response_headers_to_add": [
                    { "header": { "key": "retry-after", "value": "86400" } },
                    {
                        "header": { "key": "content-type", "value": "application/json" },
                        "append_action": "OVERWRITE_IF_EXISTS_OR_ADD",
                    },
                ],
            }),
            _ => json!({ "route": { "cluster": "upstream" } }),
        };
        route["name"] = json!(self.name());
        route["match"] = json!({ "prefix": "/" });
        let router = json!({
            "name": "envoy.filters.http.router",
            "typed_config": { "@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router" },
        });
        let filters: Vec<Value> = self.filter().into_iter().chain([router]).collect();
        json!({ "name": self.name(), "filter_chains": [{ "filters": [{
            "name": "envoy.filters.network.http_connection_manager",
            "typed_config": {
                "@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
                "stat_prefix": self.name(),
                "route_config": { "virtual_hosts": [{ "name": "all", "domains": ["*"], "routes": [route] }] },
                "http_filters": filters,
            },
        }] }] })
    }
}

const REJECTION: &str = concat!(r#"{"breaker":"rejecting","reason":"open","retry_after_ms":86400000}"#, "\n");

/// What people write today for want of a breaker: count a route's answers, and refuse when too many failed.
const LUA: &str = r#"
local calls, failed = {}, {}
function envoy_on_request(handle)
  local route = handle:streamInfo():routeName()
  handle:streamInfo():dynamicMetadata():set("counter", "route", route)
  if (calls[route] or 0) >= 100 and (failed[route] or 0) / calls[route] >= 0.9 then
    handle:respond({ [":status"] = "503" }, "")
  end
end
function envoy_on_response(handle)
  local route = (handle:streamInfo():dynamicMetadata():get("counter") or {})["route"] or ""
  calls[route] = (calls[route] or 0) + 1
  if (tonumber(handle:headers():get(":status")) or 0) >= 500 then
    failed[route] = (failed[route] or 0) + 1
  end
end
"#;

fn wasm(chain: Chain, module: &str, configuration: &str) -> Value {
    json!({ "name": "wasm", "typed_config": {
        "@type": "type.googleapis.com/envoy.extensions.filters.http.wasm.v3.Wasm",
        "config": {
            "name": chain.name(),
            "vm_config": {
                "runtime": "envoy.wasm.runtime.v8",
                "code": { "local": { "filename": module } },
            },
            "configuration": {
                "@type": "type.googleapis.com/google.protobuf.StringValue",
                "value": configuration,
            },
        },
    } })
}

/// An Envoy with all chains in front of one upstream.
pub(crate) fn bootstrap(upstream: SocketAddr) -> Result<Bootstrap> {
    let listeners: Vec<Value> = Chain::ALL.into_iter().map(Chain::listener).collect();
    let document = json!({ "static_resources": {
        "listeners": listeners,
        "clusters": [{ "name": "upstream", "type": "STATIC", "connect_timeout": "1s", "load_assignment": {
            "cluster_name": "upstream", "endpoints": [],
        } }],
    } });
    let mut bootstrap = Bootstrap::from_yaml(&document.to_string())?;
    bootstrap.point_cluster_at("upstream", upstream)?;
    Ok(bootstrap)
}

/// Where each listener listens, by its name.
pub(crate) async fn addresses(envoy: &Envoy) -> Result<BTreeMap<String, SocketAddr>> {
    let reply = envoy.admin().get("/listeners?format=json").await?;
    let listeners: Value = serde_json::from_str(&reply.text())?;
    let statuses = listeners["listener_statuses"].as_array().context("Envoy lists no listeners")?;
    let address = |status: &Value| {
        let socket = &status["local_address"]["socket_address"];
        let text = format!("{}:{}", socket["address"].as_str()?, socket["port_value"].as_u64()?);
        Some((status["name"].as_str()?.to_owned(), text.parse().ok()?))
    };
    Ok(statuses.iter().filter_map(address).collect())
}
