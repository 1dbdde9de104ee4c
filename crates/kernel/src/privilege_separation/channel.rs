//! The channel between the two processes: a pair of sockets that keep the bounds of messages (SOCK_SEQPACKET).
//!
//! A request is one message of 1 to [`MESSAGE`] bytes. An answer is any number of parts, and a last message. Its messages begin with a
//! byte that says which they are.

use nix::errno::Errno;
use nix::sys::socket::{AddressFamily, MsgFlags, SockFlag, SockType, recv, sendmsg, socketpair};
use std::io::{self, IoSlice};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Longest message, bytes: some hundred subflows. A socket's send buffer (net.core.wmem_default) has room for several.
pub const MESSAGE: usize = 1 << 15;

/// First byte of a part of an answer.
const PART: u8 = 0;
/// First byte of the end of an answer.
const DONE: u8 = 1;
/// First byte of the end of an answer to a request that has failed. The rest is text.
const FAILED: u8 = 2;

/// One end of the channel.
pub struct Channel(OwnedFd);

/// Space for a message, and for a byte that shows that the message is too long.
pub(super) fn buffer() -> Vec<u8> {
    vec![0; MESSAGE + 1]
}

impl Channel {
    /// Both ends.
    pub(super) fn pair() -> nix::Result<(Self, Self)> {
        let (one, other) = socketpair(
            AddressFamily::Unix,
            SockType::SeqPacket,
            None,
            SockFlag::SOCK_CLOEXEC,
        )?;
        Ok((Self(one), Self(other)))
    }

    /// Sends a request, and passes the parts of the answer to `part`. The error is the text of the privileged process.
    ///
    /// Ends this process if the privileged process has ended: nothing can be done without it.
    pub fn request(&self, request: &[u8], part: impl FnMut(&[u8])) -> Result<(), String> {
        let answer = self.send(&[request]).and_then(|()| self.answer(part));
        answer.unwrap_or_else(|_| std::process::exit(0))
    }

    /// Receives an answer.
    pub(super) fn answer(&self, mut part: impl FnMut(&[u8])) -> io::Result<Result<(), String>> {
        let mut buffer = buffer();
        loop {
            match self.receive(&mut buffer)? {
                Some([PART, content @ ..]) => part(content),
                Some([DONE]) => return Ok(Ok(())),
                Some([FAILED, text @ ..]) => {
                    return Ok(Err(String::from_utf8_lossy(text).into_owned()));
                }
                Some(_) => return Err(io::ErrorKind::InvalidData.into()),
                None => return Err(io::ErrorKind::UnexpectedEof.into()),
            }
        }
    }

    /// Sends a part of an answer, of at most [`MESSAGE`] − 1 bytes.
    pub(super) fn part(&self, content: &[u8]) -> io::Result<()> {
        self.send(&[&[PART], content])
    }

    /// Ends an answer.
    pub(super) fn finish(&self, answered: &Result<(), String>) -> io::Result<()> {
        match answered {
            Ok(()) => self.send(&[&[DONE]]),
            Err(text) => {
                let text = &text.as_bytes()[..text.len().min(MESSAGE - 1)];
                self.send(&[&[FAILED], text])
            }
        }
    }

    fn send(&self, parts: &[&[u8]]) -> io::Result<()> {
        let parts: Vec<IoSlice<'_>> = parts.iter().map(|part| IoSlice::new(part)).collect();
        loop {
            match sendmsg::<()>(
                self.0.as_raw_fd(),
                &parts,
                &[],
                MsgFlags::MSG_NOSIGNAL,
                None,
            ) {
                Ok(_) => return Ok(()),
                Err(Errno::EINTR) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
    }

    /// Receives a message into [`buffer`]; `None` at the end of the channel. Descriptors that the sender attaches are not accepted.
    pub(super) fn receive<'b>(&self, buffer: &'b mut [u8]) -> io::Result<Option<&'b [u8]>> {
        let length = loop {
            match recv(self.0.as_raw_fd(), buffer, MsgFlags::empty()) {
                Ok(length) => break length,
                Err(Errno::EINTR) => {}
                Err(errno) => return Err(errno.into()),
            }
        };
        match length {
            0 => Ok(None),
            length if length > MESSAGE => Err(io::ErrorKind::InvalidData.into()),
            length => Ok(Some(&buffer[..length])),
        }
    }

    /// Waits until the other end has closed, while no request is under way. Needs a runtime of tokio.
    pub async fn closed(&self) {
        // SAFETY: the borrow keeps the descriptor open until the `AsyncFd` is dropped.
        let ready = unsafe { AsyncFd::register_with_interest(self.0.as_fd(), Interest::READABLE) };
        let Ok(ready) = ready else { return };
        let peek = |fd: &BorrowedFd<'_>| {
            let flags = MsgFlags::MSG_PEEK | MsgFlags::MSG_DONTWAIT;
            recv(fd.as_raw_fd(), &mut [0], flags).map_err(io::Error::from)
        };
        // The answer of a request makes the socket ready, too; it was received before this is polled again.
        while let Err(error) = ready.async_io(Interest::READABLE, peek).await {
            if error.kind() != io::ErrorKind::Interrupted {
                return;
            }
        }
    }
}

impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_have_bounds() {
        let (one, other) = Channel::pair().unwrap();
        let mut buffer = buffer();
        other.send(&[&[7; MESSAGE]]).unwrap();
        assert_eq!(
            one.receive(&mut buffer).unwrap().map(<[u8]>::len),
            Some(MESSAGE)
        );
        other.send(&[&[7; 2 * MESSAGE]]).unwrap();
        let error = one.receive(&mut buffer).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        drop(other);
        assert!(one.receive(&mut buffer).unwrap().is_none());
    }
}
