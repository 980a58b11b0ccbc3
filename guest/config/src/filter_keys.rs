use crate::Key;

/// The keys of the Envoy filter's configuration.
pub const FILTER_KEYS: &[Key] = &[
    Key {
        name: "per",
        default: "route",
        limits: "route, cluster, virtual_host, host, upstream_host, header:NAME, path_prefix:N or fixed:NAME",
        meaning: "What has a breaker of its own: where the id of a request's breaker comes from. `host` is the \
                  request's authority, `upstream_host` the address of the host that an attempt goes to, \
                  `path_prefix:N` the first 1 to 16 segments of the path.",
    },
    Key {
        name: "default",
        default: "{}",
        limits: "an object of settings",
        meaning: "The settings of every breaker, as far as `breakers` does not say otherwise.",
    },
    Key {
        name: "configs",
        default: "{}",
        limits: "an object {NAME: {…}} of at most 1000 entries",
        meaning: "Settings with a name, for entries of `breakers` and each other to inherit from by `base`. They \
                  inherit from `default`.",
    },
    Key {
        name: "breakers",
        default: "{}",
        limits: "an object {ID: {…}} of at most 10000 entries",
        meaning: "Exceptions by id, or by a pattern in which each `*` stands for any characters. The most specific \
                  holds: the exact id, then the pattern with the most characters other than `*`, of those the one with \
                  the fewest `*`, of those the first in the order of bytes (`*a` before `a*`). They inherit from their \
                  `base`, or from `default`.",
    },
    Key {
        name: "max_breakers",
        default: "1000",
        limits: "1 to 100000",
        meaning: "As many breakers may exist in the proxy; requests that would need more pass unguarded and are \
                  counted.",
    },
    Key {
        name: "role",
        default: "filter",
        limits: "filter or admin",
        meaning: "`filter` guards requests; `admin` answers them with the breakers' state and takes controls.",
    },
    Key {
        name: "token",
        default: "none",
        limits: "1 to 256 printable ASCII characters, no spaces",
        meaning: "What a request to the role `admin` must bring.",
    },
];

/// The keys that say what counts as what, and what becomes of a rejected request.
pub const POLICY_KEYS: &[Key] = &[
    Key {
        name: "record_on",
        default: "5xx, 429, connect_failure, timeout, reset, no_healthy_upstream, grpc:UNKNOWN, \
                  grpc:DEADLINE_EXCEEDED, grpc:RESOURCE_EXHAUSTED, grpc:INTERNAL, grpc:UNAVAILABLE",
        limits: "a list of at most 256 statuses (503, 5xx, 500-504), gRPC statuses (grpc:UNAVAILABLE, grpc:14), \
                 causes (connect_failure, timeout, reset, no_healthy_upstream, overflow, client_gone) and response \
                 headers (header:NAME=VALUE, at most 16)",
        meaning: "What is a failure; what is in neither list is a success. A list replaces the inherited one.",
    },
    Key {
        name: "ignore_on",
        default: "none",
        limits: "a list like that of record_on",
        meaning: "What says nothing about the upstream; it wins over `record_on`. `client_gone` and `overflow` are \
                  always ignored unless `record_on` names them.",
    },
    Key {
        name: "slow_call_timing",
        default: "headers",
        limits: "headers or complete",
        meaning: "Until when a call's duration is taken: the response's headers, or its end; `complete` excludes \
                  `record_at: headers`.",
    },
    Key {
        name: "record_at",
        default: "complete",
        limits: "complete or headers",
        meaning: "When a call is recorded: at the response's end, or at its headers, which does not see what goes \
                  wrong later and excludes `slow_call_timing: complete`.",
    },
    Key {
        name: "reject",
        default: "{}",
        limits: "an object",
        meaning: "What a rejected request's client gets; keys that are missing are inherited.",
    },
    Key {
        name: "fallback",
        default: "none",
        limits: "an object {header: {NAME: VALUE}}",
        meaning: "Instead of `reject`, which it excludes: a rejected request gets the headers, and its route is \
                  chosen again. Not with `per: upstream_host`.",
    },
    Key {
        name: "mode",
        default: "enforce",
        limits: "enforce or shadow",
        meaning: "`shadow`: the breaker lives as it would, and rejects nothing; what it would have rejected is \
                  counted.",
    },
];

/// The key by which entries inherit.
pub const CONFIG_KEYS: &[Key] = &[Key {
    name: "base",
    default: "default",
    limits: "the name of an entry of `configs`, or default",
    meaning: "Keys that are missing have the value they have there.",
}];

/// The key by which ids share a breaker.
pub const ENTRY_KEYS: &[Key] = &[Key {
    name: "breaker",
    default: "the id",
    limits: "a name of 1 to 256 bytes",
    meaning: "All entries of one name share one breaker, and have to agree in everything but `reject` and \
              `fallback`.",
}];

/// The keys of `reject`.
pub const REJECT_KEYS: &[Key] = &[
    Key {
        name: "status",
        default: "503",
        limits: "400 to 599",
        meaning: "The HTTP status. An open breaker never answers as if all were well.",
    },
    Key {
        name: "headers",
        default: "{}",
        limits: "an object {NAME: VALUE} of at most 32 headers",
        meaning: "More response headers.",
    },
    Key {
        name: "body",
        default: "a JSON object that names breaker and reason",
        limits: "a text of at most 64 KiB",
        meaning: "The response's body.",
    },
    Key {
        name: "content_type",
        default: "text/plain; charset=utf-8",
        limits: "a media type, such as text/html",
        meaning: "What `body` is; not without it.",
    },
    Key {
        name: "retry_after",
        default: "true",
        limits: "true, false or a duration up to 8760h, such as 5s or 1m30s",
        meaning: "The `retry-after` header: the time until the next probe as far as it is known, no header, or \
                  always the same time. In whole seconds, rounded up.",
    },
    Key {
        name: "grpc_status",
        default: "UNAVAILABLE",
        limits: "the name of a gRPC status such as UNAVAILABLE, or its number, 1 to 16",
        meaning: "What a gRPC request gets.",
    },
    Key {
        name: "envoy_ratelimited",
        default: "false",
        limits: "true or false",
        meaning: "Sends `x-envoy-ratelimited`, which keeps an Envoy in front from trying again.",
    },
];

/// The keys of `fallback`.
pub const FALLBACK_KEYS: &[Key] = &[Key {
    name: "header",
    default: "none",
    limits: "an object {NAME: VALUE} of 1 to 16 headers",
    meaning: "The headers that the request gets, for another route to match. A client's own copies are removed.",
}];
