use super::*;
use netsim::Payload;

#[test]
fn a_segment_is_small() {
    assert_eq!(size_of::<Wire>(), 24);
}

const LAST: SubflowId = SubflowId {
    connection: (1 << 24) - 1,
    subflow: 254,
};

fn data() -> Data {
    Data {
        subflow: LAST,
        seq: u32::MAX,
        dsn: 3,
        len: 0xfff7,
        sent_us: u32::MAX - 5,
        flags: 0x26,
    }
}

#[test]
fn encoding_keeps_every_segment() {
    let (subflow, address) = (LAST, u8::MAX);
    let segments = [
        Segment::Data(data()),
        Segment::Ack(Ack {
            subflow,
            seq: u32::MAX,
            data_ack: 3,
            window: u32::MAX - 4,
            sack: (1 << 24) - 5,
            echo_us: (1 << ECHO_BITS) - 7,
            flags: 0x26,
        }),
        Segment::Syn {
            subflow,
            backup: true,
        },
        Segment::SynAck {
            subflow,
            sent_us: u32::MAX,
            backup: false,
        },
        Segment::HandshakeAck {
            subflow,
            echo_us: u32::MAX,
        },
        Segment::JoinAck { subflow, next: 7 },
        Segment::AddAddr { subflow, address },
        Segment::AddAddrEcho { subflow, address },
        Segment::Reset { subflow },
        Segment::Datagram {
            source: u32::MAX,
            number: 8,
            len: 1500,
        },
    ];
    for segment in segments {
        assert_eq!(Segment::from(Wire::from(segment)), segment);
    }
}

#[test]
fn a_udp_source_is_a_separate_flow() {
    let first = SubflowId {
        connection: 0,
        subflow: 0,
    };
    let datagram = Segment::Datagram {
        source: 0,
        number: 0,
        len: 1500,
    };
    let syn = Segment::Syn {
        subflow: first,
        backup: false,
    };
    let data = Segment::Data(Data {
        subflow: first,
        ..data()
    });
    let flows = [datagram, syn, data].map(|segment| Wire::from(segment).flow());
    assert_eq!(flows, [3, 0, 1]);
}

#[test]
fn only_ecn_capable_data_is_marked() {
    let mut wire = Wire::from(Segment::Data(data()));
    assert!(wire.mark());
    let flags = data().flags | flag::CE;
    assert_eq!(Segment::from(wire), Segment::Data(Data { flags, ..data() }));
    let mut syn = Wire::from(Segment::Syn {
        subflow: LAST,
        backup: false,
    });
    assert!(!syn.mark());
}
