//! pcap files with nanoseconds (draft-ietf-opsawg-pcap), for tcpdump, Wireshark and their libraries.

use std::io::{self, Write};
use std::path::Path;

use files::NewFile;
use netsim::Time;

/// File header: magic number of nanosecond times; version 2.4; time zone and accuracy, both unused; longest packet
/// (tcpdump's default); LINKTYPE_RAW: a packet begins with its IP header.
const HEADER: [u32; 6] = [0xa1b2_3c4d, 2 | 4 << 16, 0, 0, 262_144, 101];

/// A pcap file that is open for writing.
pub(super) struct Pcap(NewFile);

impl Pcap {
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        let mut file = NewFile::create(path)?;
        for word in HEADER {
            file.write_all(&word.to_le_bytes())?;
        }
        Ok(Self(file))
    }

    /// Writes a packet: bytes, followed by this many zeros.
    pub(super) fn packet(&mut self, at: Time, bytes: &[u8], zeros: usize) -> io::Result<()> {
        let nanos = at.as_nanos();
        let length = (bytes.len() + zeros) as u32;
        // Seconds, nanoseconds, captured length, original length.
        let seconds = (nanos / 1_000_000_000) as u32;
        for word in [seconds, (nanos % 1_000_000_000) as u32, length, length] {
            self.0.write_all(&word.to_le_bytes())?;
        }
        self.0.write_all(bytes)?;
        io::copy(
            &mut io::Read::take(io::repeat(0), zeros as u64),
            &mut self.0,
        )?;
        Ok(())
    }

    pub(super) fn finish(self) -> io::Result<()> {
        self.0.finish()
    }
}
