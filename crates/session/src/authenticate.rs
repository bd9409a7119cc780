//! Proves to the server who we are, and with SCRAM the server to us.
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

use crate::connect::Opening;
use crate::tls::ChannelBinding;
use crate::{Endpoint, SessionError, requirement};

pub(crate) fn authenticate(
    opening: &mut Opening<'_>,
    endpoint: &Endpoint,
) -> Result<(), SessionError> {
    let message = opening.receive()?;
    // A local socket has no channel to bind, and a demand for it holds all the same.
    let binds = endpoint.tls.channel_binding == ChannelBinding::Require;
    if binds && !matches!(message, Message::AuthenticationSasl(_)) {
        return Err(unbound(endpoint, "it asks for no SCRAM"));
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
        _ => return Err(opening.protocol("an answer to the start-up message that is none")),
    }
    match opening.receive()? {
        Message::AuthenticationOk => Ok(()),
        _ => Err(opening.protocol("no word on the password")),
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
        return Err(opening.protocol("SCRAM that does not go on"));
    };
    scram.update(body.data()).map_err(untrusted)?;

    request.clear();
    frontend::sasl_response(scram.message(), &mut request)
        .map_err(|error| opening.protocol(&error.to_string()))?;
    opening.send(&request)?;

    // A server that skips its own proof may not know the password at all.
    let Message::AuthenticationSaslFinal(body) = opening.receive()? else {
        return Err(opening.protocol("SCRAM without the server's proof"));
    };
    scram.finish(body.data()).map_err(untrusted)
}

/// With channel binding where TLS is on and the server offers it, unless told otherwise.
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
            Err(unbound(endpoint, "the connection has no TLS"))
        } else if offered.contains(&SCRAM_SHA_256) {
            Ok((SCRAM_SHA_256, sasl::ChannelBinding::unsupported()))
        } else {
            Err(unsupported(endpoint, &offered.join(", ")))
        };
    };
    if is_offered && wanted != ChannelBinding::Disable {
        let end_point = end_point.map_err(|problem| unbound(endpoint, &problem))?;
        let binding = sasl::ChannelBinding::tls_server_end_point(end_point);
        return Ok((SCRAM_SHA_256_PLUS, binding));
    }
    if wanted == ChannelBinding::Require {
        return Err(unbound(endpoint, "it offers SCRAM without it"));
    }
    if !offered.contains(&SCRAM_SHA_256) {
        return Err(unsupported(endpoint, &offered.join(", ")));
    }
    // Saying that we could have lets the server notice whoever hid its offer.
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

/// Before anything of the password is told.
fn check_method(endpoint: &Endpoint, method: &str) -> Result<(), SessionError> {
    let place = || endpoint.to_string();
    match requirement::allows(&endpoint.require_auth, method) {
        Ok(true) => Ok(()),
        Ok(false) => Err(SessionError::Demand {
            place: place(),
            rule: format!("require_auth={}", endpoint.require_auth),
            problem: format!("its method is {method}"),
        }),
        Err(problem) => Err(SessionError::Endpoint {
            place: place(),
            problem,
        }),
    }
}

fn unbound(endpoint: &Endpoint, problem: &str) -> SessionError {
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
