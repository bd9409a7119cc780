//! Proves to the server who we are, and with SCRAM the server to us.
//!
//! Enters: a stream on which the start-up message was sent. Leaves: the stream just after
//! AuthenticationOk. Never: TLS, GSSAPI, or a password in a message.

use bytes::BytesMut;
use fallible_iterator::FallibleIterator;
use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, ScramSha256};
use postgres_protocol::message::backend::{AuthenticationSaslBody, Message};
use postgres_protocol::message::frontend;

use crate::connect::Opening;
use crate::{Endpoint, SessionError};

pub(crate) fn authenticate(
    opening: &mut Opening<'_>,
    endpoint: &Endpoint,
) -> Result<(), SessionError> {
    match opening.receive()? {
        Message::AuthenticationOk => return Ok(()),
        Message::AuthenticationCleartextPassword => {
            let password = password(endpoint)?;
            send_password(opening, password.as_bytes())?;
        }
        Message::AuthenticationMd5Password(body) => {
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
    if !mechanisms.contains(&SCRAM_SHA_256) {
        return Err(unsupported(endpoint, &mechanisms.join(", ")));
    }
    let untrusted = |error: std::io::Error| SessionError::Untrusted {
        place: endpoint.to_string(),
        problem: error.to_string(),
    };
    let password = password(endpoint)?;
    // Without TLS there is no channel to bind to.
    let mut scram = ScramSha256::new(password.as_bytes(), ChannelBinding::unsupported());

    let mut request = BytesMut::new();
    frontend::sasl_initial_response(SCRAM_SHA_256, scram.message(), &mut request)
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

fn unsupported(endpoint: &Endpoint, method: &str) -> SessionError {
    SessionError::Authentication {
        place: endpoint.to_string(),
        method: method.to_owned(),
    }
}
