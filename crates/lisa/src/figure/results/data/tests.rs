use super::*;

const COLUMNS: [&str; 7] = [
    "queue",
    "algorithm",
    "backend",
    "seed",
    "connection",
    "number",
    "goodput_mbps",
];

fn row<'a>(queue: i64, algorithm: &'a str, seed: i64, value: Value<'a>) -> [Value<'a>; 6] {
    let (text, backend) = (Value::Text, Value::Text("sim"));
    [
        Value::Integer(queue),
        text(algorithm),
        backend,
        text("c"),
        Value::Integer(seed),
        value,
    ]
}

fn names(data: &Data) -> String {
    let names = data.series.iter().map(|series| &*series.name);
    names.collect::<Vec<_>>().join(" ")
}

/// Rows come backend by backend; series are algorithm by algorithm.
#[test]
fn differences_are_to_the_first_algorithm_on_the_same_backend() {
    let of = |algorithms: &[&'static str]| {
        let mut data = Data::new(&COLUMNS, Measured::of("goodput_mbps")).unwrap();
        for backend in ["vm", "sim"] {
            for algorithm in algorithms {
                let mut row = row(9, algorithm, 1, Value::Float(1.0));
                row[2] = Value::Text(backend);
                data.add(&row);
            }
        }
        data.finish();
        let baselines: Vec<usize> = data.series.iter().map(|s| s.baseline).collect();
        (names(&data), baselines, data.baseline)
    };
    let both = "lia, kernel lia, simulator lisa, kernel lisa, simulator";
    assert_eq!(
        of(&["lia", "lisa"]),
        (
            both.into(),
            vec![0, 1, 0, 1],
            "lia on the same backend".into()
        )
    );
    assert_eq!(
        of(&["lia"]),
        (
            "lia, kernel lia, simulator".into(),
            vec![0, 0],
            "lia, kernel".into()
        )
    );
}

#[test]
fn connections_of_one_name_are_one_observation() {
    let mut data = Data::new(&COLUMNS, Measured::of("goodput_mbps")).unwrap();
    let wanted = [
        "queue",
        "algorithm",
        "backend",
        "connection",
        "seed",
        "goodput_mbps",
    ];
    assert_eq!(data.wanted(), wanted);
    for (algorithm, seed, value) in [
        ("lia", 1, 1.0),
        ("lia", 1, 3.0),
        ("lisa", 1, 4.0),
        ("lia", 2, 6.0),
        ("lisa", 2, 9.0),
    ] {
        data.add(&row(9, algorithm, seed, Value::Float(value)));
    }
    data.add(&row(17, "lia", 1, Value::None));
    data.finish();
    assert_eq!((data.rows, data.missing, data.seeds()), (6, 1, 2));
    assert_eq!(
        (names(&data), data.parts.join(" ")),
        ("lia lisa".into(), "c".into())
    );
    assert_eq!(data.varied(), [0]);
    let place = |series| Place {
        point: vec![0],
        series,
        part: 0,
    };
    assert_eq!(data.runs(&place(0)), [(1, 2.0), (2, 6.0)]);
    assert_eq!(data.mean(&place(0)).unwrap().mean, 4.0);
    // 4 − 2 and 9 − 6.
    assert_eq!(data.difference(&place(1), &place(0)).unwrap().mean, 2.5);
    let empty = Place {
        point: vec![1],
        series: 0,
        part: 0,
    };
    assert!(data.mean(&empty).is_none() && data.places().count() == 2);
}

#[test]
fn a_missing_column_is_an_error() {
    let error = Data::new(&COLUMNS, Measured::of("drops")).unwrap_err();
    assert_eq!(error, "no column `drops`");
    let error = Data::new(&["a", "b"], Measured::of("b")).unwrap_err();
    assert!(error.contains("no table of runs"), "{error}");
}
