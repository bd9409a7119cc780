//! Messages whose bytes are constant.
//!
//! Enters: nothing. Leaves: bytes to send. Never: depends on a script.

/// Query "ROLLBACK", Sync, Terminate: fixed bytes.
pub const ROLLBACK: &[u8] = b"Q\0\0\0\x0dROLLBACK\0";
pub const SYNC: &[u8] = b"S\0\0\0\x04";
pub const TERMINATE: &[u8] = b"X\0\0\0\x04";
/// Parse, Bind and Execute of ROLLBACK, which in a pipeline undoes all since the last Sync.
pub const PIPELINE_ROLLBACK: &[u8] = b"P\0\0\0\x10\0ROLLBACK\0\0\0\
    B\0\0\0\x0c\0\0\0\0\0\0\0\0E\0\0\0\x09\0\0\0\0\0";
/// CopyFail: there is no data to send.
pub const COPY_REFUSAL: &[u8] = b"f\0\0\0\x25COPY FROM STDIN has no data here\0";

#[cfg(test)]
mod tests {
    use bytes::BytesMut;
    use postgres_protocol::IsNull;
    use postgres_protocol::message::frontend;

    use super::*;

    #[test]
    fn fixed_messages_are_those_of_the_protocol_crate() {
        let mut buffer = BytesMut::new();
        frontend::query("ROLLBACK", &mut buffer).unwrap();
        frontend::sync(&mut buffer);
        frontend::terminate(&mut buffer);
        frontend::copy_fail("COPY FROM STDIN has no data here", &mut buffer).unwrap();
        frontend::parse("", "ROLLBACK", [], &mut buffer).unwrap();
        let nothing = |(): (), _: &mut BytesMut| Ok(IsNull::Yes);
        assert!(frontend::bind("", "", [], [(); 0], nothing, [], &mut buffer).is_ok());
        frontend::execute("", 0, &mut buffer).unwrap();
        let fixed = [ROLLBACK, SYNC, TERMINATE, COPY_REFUSAL, PIPELINE_ROLLBACK].concat();
        assert_eq!(buffer.to_vec(), fixed);
    }
}
