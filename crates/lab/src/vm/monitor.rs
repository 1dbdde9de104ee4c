//! QEMU's monitor (QMP): lines of JSON over a pair of sockets. It ends with QEMU.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use serde_json::{Value, json};

/// Longest wait for a message, so that the caller can check for other conditions.
const TIMEOUT: Duration = Duration::from_millis(50);

/// This process's end of the pair.
pub(crate) struct Monitor {
    stream: UnixStream,
    /// Received part of the next line.
    partial: Vec<u8>,
}

/// Result of a wait for a message.
pub(crate) enum Message {
    Line(Value),
    /// No complete line within the longest wait.
    Nothing,
    /// QEMU has ended.
    End,
}

impl Monitor {
    /// A monitor, and QEMU's end of the pair.
    pub(crate) fn pair() -> io::Result<(Self, UnixStream)> {
        let (stream, qemu_end) = UnixStream::pair()?;
        stream.set_read_timeout(Some(TIMEOUT))?;
        let partial = Vec::new();
        Ok((Self { stream, partial }, qemu_end))
    }

    /// Sends a command. Its result is one of the next lines.
    pub(crate) fn send(&mut self, command: &str, arguments: Value) -> io::Result<()> {
        let line = json!({"execute": command, "arguments": arguments});
        self.stream.write_all(format!("{line}\n").as_bytes())
    }

    /// Waits a short time for a line.
    pub(crate) fn next(&mut self) -> io::Result<Message> {
        loop {
            if let Some(end) = self.partial.iter().position(|&byte| byte == b'\n') {
                let line: Vec<u8> = self.partial.drain(..=end).collect();
                return Ok(Message::Line(serde_json::from_slice(&line)?));
            }
            let mut buffer = [0; 4096];
            match self.stream.read(&mut buffer) {
                Ok(0) => return Ok(Message::End),
                Ok(read) => self.partial.extend_from_slice(&buffer[..read]),
                Err(error) => match error.kind() {
                    io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => {
                        return Ok(Message::Nothing);
                    }
                    io::ErrorKind::ConnectionReset => return Ok(Message::End),
                    _ => return Err(error),
                },
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_complete_and_then_the_end() {
        let (mut monitor, mut theirs) = Monitor::pair().unwrap();
        assert!(matches!(monitor.next().unwrap(), Message::Nothing));
        theirs.write_all(b"{\"a\": 1}\n{\"b\"").unwrap();
        assert!(matches!(monitor.next().unwrap(), Message::Line(line) if line["a"] == 1));
        assert!(matches!(monitor.next().unwrap(), Message::Nothing));
        theirs.write_all(b": 2}\n").unwrap();
        drop(theirs);
        assert!(matches!(monitor.next().unwrap(), Message::Line(line) if line["b"] == 2));
        assert!(matches!(monitor.next().unwrap(), Message::End));
    }
}
