//! The file: pcap with nanoseconds (draft-ietf-opsawg-pcap), which tcpdump, Wireshark and what is built on them read.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use netsim::Time;

/// What such a file begins with: times have nanoseconds; version 2.4; the time zone and the accuracy, which nobody uses; the
/// most bytes of a packet (tcpdump's default); LINKTYPE_RAW: packets begin with their IP header.
const HEADER: [u32; 6] = [0xa1b2_3c4d, 2 | 4 << 16, 0, 0, 262_144, 101];

/// A file that packets are written into.
pub(super) struct Pcap(BufWriter<File>);

impl Pcap {
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        let mut file = BufWriter::new(File::create(path)?);
        for word in HEADER {
            file.write_all(&word.to_le_bytes())?;
        }
        Ok(Self(file))
    }

    /// A packet: its bytes, and as many zeros behind them.
    pub(super) fn packet(&mut self, at: Time, bytes: &[u8], zeros: usize) -> io::Result<()> {
        let nanos = at.as_nanos();
        let length = (bytes.len() + zeros) as u32;
        // Seconds, nanoseconds, bytes that are here, bytes that there were.
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

    pub(super) fn finish(mut self) -> io::Result<()> {
        self.0.flush()
    }
}
