//! Authenticates a session; with SCRAM the server authenticates itself too.
//!
//! Enters: a stream on which the start-up message was sent. Leaves: the stream just after
//! AuthenticationOk. Never: GSSAPI, or a password in a message.

use bytes::BytesMut;
use fallible_iterator::FallibleIterator;
use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{
    self, SCRAM_SHA_256, SCRAM_SHA_256_PLUS, ScramSha256,
};
use postgres_protocol::message::backend::{AuthenticationSaslBody, Message};
use postgres_protocol::message::frontend;

use crate::opening::messages::Opening;
use crate::opening::require_auth;
use crate::tls::ChannelBinding;
use crate::{Endpoint, SessionError};

/// As many as the protocol crate computes.
const MOST_ITERATIONS: u32 = 100_000;

pub(crate) fn authenticate(
    opening: &mut Opening<'_>,
    endpoint: &Endpoint,
) -> Result<(), SessionError> {
    let message = opening.receive()?;
    // A unix socket has no TLS channel to bind, so channel_binding=require fails on it too.
    let binds = endpoint.tls.channel_binding == ChannelBinding::Require;
    if binds && !matches!(message, Message::AuthenticationSasl(_)) {
        return Err(channel_binding_failed(
            endpoint,
            "it does not ask for SCRAM",
        ));
    }
    match message {
        Message::AuthenticationOk => return check_method(endpoint, "none"),
        Message::AuthenticationCleartextPassword => {
            check_method(endpoint, "password")?;
            let password = password(endpoint)?;
            send_password(opening, password.as_bytes())?;
        }
        Message::AuthenticationMd5Password(body) => {
            check_method(endpoint, "md5")?;
            let password = password(endpoint)?;
            let hash = md5_hash(endpoint.user.as_bytes(), password.as_bytes(), body.salt());
            send_password(opening, hash.as_bytes())?;
        }
        Message::AuthenticationSasl(body) => scram(opening, endpoint, &body)?,
        Message::AuthenticationGss => return Err(unsupported(endpoint, "GSSAPI")),
        Message::AuthenticationSspi => return Err(unsupported(endpoint, "SSPI")),
        Message::AuthenticationKerberosV5 => return Err(unsupported(endpoint, "Kerberos V5")),
        Message::AuthenticationScmCredential => {
            return Err(unsupported(endpoint, "SCM credentials"));
        }
        _ => return Err(opening.protocol("unexpected reply to the start-up message")),
    }
    match opening.receive()? {
        Message::AuthenticationOk => Ok(()),
        _ => Err(opening.protocol("no reply to the password")),
    }
}

fn scram(
    opening: &mut Opening<'_>,
    endpoint: &Endpoint,
    offer: &AuthenticationSaslBody,
) -> Result<(), SessionError> {
    let mechanisms: Vec<&str> = offer
        .mechanisms()
        .collect()
        .map_err(|error| opening.protocol(&error.to_string()))?;
    let (mechanism, binding) = choose(opening, endpoint, &mechanisms)?;
    check_method(endpoint, "scram-sha-256")?;
    let untrusted = |error: std::io::Error| SessionError::Untrusted {
        place: endpoint.to_string(),
        problem: error.to_string(),
    };
    let password = password(endpoint)?;
    let mut scram = ScramSha256::new(password.as_bytes(), binding);

    let mut request = BytesMut::new();
    frontend::sasl_initial_response(mechanism, scram.message(), &mut request)
        .map_err(|error| opening.protocol(&error.to_string()))?;
    opening.send(&request)?;

    let Message::AuthenticationSaslContinue(body) = opening.receive()? else {
        return Err(opening.protocol("unexpected message during SCRAM"));
    };
    refuse_many_iterations(opening, body.data())?;
    scram.update(body.data()).map_err(untrusted)?;

    request.clear();
    frontend::sasl_response(scram.message(), &mut request)
        .map_err(|error| opening.protocol(&error.to_string()))?;
    opening.send(&request)?;

    // A server that sends no SCRAM signature may not know the password.
    let Message::AuthenticationSaslFinal(body) = opening.receive()? else {
        return Err(opening.protocol("SCRAM ended without the server's signature"));
    };
    scram.finish(body.data()).map_err(untrusted)
}

/// Each iteration takes the client's time, as many as the server names.
fn refuse_many_iterations(opening: &Opening<'_>, message: &[u8]) -> Result<(), SessionError> {
    let message = String::from_utf8_lossy(message);
    let count = message.split(',').find_map(|part| part.strip_prefix("i="));
    let is_small = count.is_none_or(|count| count.parse().is_ok_and(|n: u32| n <= MOST_ITERATIONS));
    if is_small {
        return Ok(());
    }
    Err(opening.protocol(&format!(
        "it asks for more than {MOST_ITERATIONS} iterations of SCRAM; set the password again with \
         a lower scram_iterations"
    )))
}

/// Uses channel binding where TLS is on and the server offers it, unless `channel_binding=disable`.
fn choose(
    opening: &Opening<'_>,
    endpoint: &Endpoint,
    offered: &[&str],
) -> Result<(&'static str, sasl::ChannelBinding), SessionError> {
    let wanted = endpoint.tls.channel_binding;
    let is_offered = offered.contains(&SCRAM_SHA_256_PLUS);
    let Some(end_point) = opening.end_point() else {
        return if is_offered {
            Err(opening.protocol("SCRAM-SHA-256-PLUS offered without TLS"))
        } else if wanted == ChannelBinding::Require {
            Err(channel_binding_failed(
                endpoint,
                "the connection has no TLS",
            ))
        } else if offered.contains(&SCRAM_SHA_256) {
            Ok((SCRAM_SHA_256, sasl::ChannelBinding::unsupported()))
        } else {
            Err(unsupported(endpoint, &offered.join(", ")))
        };
    };
    if is_offered && wanted != ChannelBinding::Disable {
        let end_point = end_point.map_err(|problem| channel_binding_failed(endpoint, &problem))?;
        let binding = sasl::ChannelBinding::tls_server_end_point(end_point);
        return Ok((SCRAM_SHA_256_PLUS, binding));
    }
    if wanted == ChannelBinding::Require {
        return Err(channel_binding_failed(
            endpoint,
            "it offers SCRAM without it",
        ));
    }
    if !offered.contains(&SCRAM_SHA_256) {
        return Err(unsupported(endpoint, &offered.join(", ")));
    }
    // This flag lets the server detect a man in the middle that removed its offer.
    let binding = if wanted == ChannelBinding::Disable {
        sasl::ChannelBinding::unsupported()
    } else {
        sasl::ChannelBinding::unrequested()
    };
    Ok((SCRAM_SHA_256, binding))
}

fn send_password(opening: &mut Opening<'_>, password: &[u8]) -> Result<(), SessionError> {
    let mut request = BytesMut::new();
    frontend::password_message(password, &mut request).map_err(|_| {
        opening.invalid("the password has a zero byte, which PostgreSQL cannot take")
    })?;
    opening.send(&request)
}

fn password(endpoint: &Endpoint) -> Result<&str, SessionError> {
    endpoint
        .password
        .as_deref()
        .ok_or_else(|| SessionError::PasswordMissing {
            place: endpoint.to_string(),
        })
}

/// Checks `require_auth` before anything derived from the password is sent.
fn check_method(endpoint: &Endpoint, method: &str) -> Result<(), SessionError> {
    let place = || endpoint.to_string();
    match require_auth::allows(&endpoint.require_auth, method) {
        Ok(true) => Ok(()),
        Ok(false) => Err(SessionError::Demand {
            place: place(),
            rule: format!("require_auth={}", endpoint.require_auth),
            problem: format!("it asks for {method}"),
        }),
        Err(problem) => Err(SessionError::Endpoint {
            place: place(),
            problem,
        }),
    }
}

fn channel_binding_failed(endpoint: &Endpoint, problem: &str) -> SessionError {
    let rule = match endpoint.tls.channel_binding {
        ChannelBinding::Require => "channel_binding=require",
        ChannelBinding::Prefer | ChannelBinding::Disable => "channel_binding=prefer",
    };
    SessionError::Demand {
        place: endpoint.to_string(),
        rule: rule.to_owned(),
        problem: problem.to_owned(),
    }
}

fn unsupported(endpoint: &Endpoint, method: &str) -> SessionError {
    SessionError::Authentication {
        place: endpoint.to_string(),
        method: method.to_owned(),
    }
}
