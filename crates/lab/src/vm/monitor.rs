//! QEMU's monitor (QMP): lines of JSON over a pair of sockets. It ends when QEMU does.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use serde_json::{Value, json};

/// How long at most until a wait is given up for a look at other things.
const LOOK: Duration = Duration::from_millis(50);

/// This end of the pair.
pub(crate) struct Monitor {
    stream: UnixStream,
    /// Of the line that has not come as a whole yet.
    begun: Vec<u8>,
}

/// What came while somebody waited.
pub(crate) enum Said {
    Line(Value),
    /// Nothing, so far.
    Nothing,
    /// It has ended.
    End,
}

impl Monitor {
    /// A monitor, and the end for QEMU.
    pub(crate) fn pair() -> io::Result<(Self, UnixStream)> {
        let (stream, theirs) = UnixStream::pair()?;
        stream.set_read_timeout(Some(LOOK))?;
        let begun = Vec::new();
        Ok((Self { stream, begun }, theirs))
    }

    /// Asks for something. The answer is one of the lines that come.
    pub(crate) fn ask(&mut self, command: &str, arguments: Value) -> io::Result<()> {
        let line = json!({"execute": command, "arguments": arguments});
        self.stream.write_all(format!("{line}\n").as_bytes())
    }

    /// Waits a moment for a line.
    pub(crate) fn next(&mut self) -> io::Result<Said> {
        loop {
            if let Some(end) = self.begun.iter().position(|&byte| byte == b'\n') {
                let line: Vec<u8> = self.begun.drain(..=end).collect();
                return Ok(Said::Line(serde_json::from_slice(&line)?));
            }
            let mut buffer = [0; 4096];
            match self.stream.read(&mut buffer) {
                Ok(0) => return Ok(Said::End),
                Ok(read) => self.begun.extend_from_slice(&buffer[..read]),
                Err(error) => match error.kind() {
                    io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => {
                        return Ok(Said::Nothing);
                    }
                    io::ErrorKind::ConnectionReset => return Ok(Said::End),
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
    fn lines_come_as_a_whole_and_then_the_end() {
        let (mut monitor, mut theirs) = Monitor::pair().unwrap();
        assert!(matches!(monitor.next().unwrap(), Said::Nothing));
        theirs.write_all(b"{\"a\": 1}\n{\"b\"").unwrap();
        assert!(matches!(monitor.next().unwrap(), Said::Line(line) if line["a"] == 1));
        assert!(matches!(monitor.next().unwrap(), Said::Nothing));
        theirs.write_all(b": 2}\n").unwrap();
        drop(theirs);
        assert!(matches!(monitor.next().unwrap(), Said::Line(line) if line["b"] == 2));
        assert!(matches!(monitor.next().unwrap(), Said::End));
    }
}
