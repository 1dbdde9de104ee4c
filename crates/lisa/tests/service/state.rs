//! What the service loads and sets, and what stays.

use super::*;
use crate::support::foreign::register;
use crate::support::process::{children, has_ended, has_no_privilege};
use crate::support::turn::{Host, Turn, good, lisa};
use crate::support::world::host;
use kernel::registry::find_one;
use nix::sys::signal::kill;
use nix::unistd::Pid;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

#[test]
fn start_change_and_stop() {
    let Some(turn) = Turn::take() else { return };
    let (here, other) = (host(), host());
    let file = File::new("default = \"lisa\"\nalgorithm.css.settings = { con_ssthresh = 45 }\n");
    let (mut service, status) = Service::start(&here, &file);
    assert_eq!(status, "css, lisa; default lisa");
    assert_eq!(loaded(), ["css", "lisa"]);
    let setting = || {
        let css = find_one("css").expect("it is loaded");
        let algorithm = mpcc::Algorithm::find("css").expect("it exists");
        let limits = css.limits().expect("its limits");
        limits.settings.get(algorithm, "con_ssthresh")
    };
    assert_eq!(setting(), Some(45));
    assert_eq!(
        (default_of(&here), default_of(&other)),
        ("lisa".into(), "reno".into())
    );
    let css = find_one("css").expect("it is loaded").map_id();

    // A setting changes in place; an algorithm leaves, another comes, and becomes the default.
    file.write("default = \"lia\"\nalgorithm.css.settings = { con_ssthresh = 46 }\n");
    assert_eq!(service.reload(), "css, lia; default lia");
    assert_eq!(loaded(), ["css", "lia"]);
    assert_eq!(setting(), Some(46));
    assert_eq!(find_one("css").expect("it is loaded").map_id(), css);
    assert_eq!(default_of(&here), "lia");

    // More room needs a new registration, which the default refers to.
    file.write("default = \"lia\"\n[algorithm.lia]\nmax_connections = 20_000\n");
    assert_eq!(service.reload(), "lia; default lia");
    let lia = find_one("lia").expect("it is loaded");
    assert_eq!((lia.capacity(), lia.users()), (20_000, 1));

    // Without a default the namespace gets the one that it had before the service.
    file.write("[algorithm.lia]\nmax_connections = 20_000\n");
    assert_eq!(service.reload(), "lia");
    assert_eq!(default_of(&here), "reno");

    let lines = service.stop(Signal::SIGTERM);
    assert_eq!(lines.last().map(String::as_str), Some("unloaded `lia`"));
    for words in [
        "loaded `lisa`: at most 16384 coupled connections",
        "the default of this network namespace is `lisa`, plain TCP keeps `reno`",
        "changed `css` for new connections",
        "unloaded `lisa`",
        "the default of this network namespace is `reno` again",
        "reloaded: lia",
    ] {
        assert!(has_line(&lines, words), "{lines:#?} has {words:?}");
    }
    assert_eq!(loaded(), [""; 0]);
    turn.unchanged();
}

/// Another program has the name of the file's second algorithm. The first one is not left behind.
#[test]
fn an_algorithm_that_cannot_be_loaded() {
    let Some(turn) = Turn::take() else { return };
    let (here, folder) = (host(), Folder::new());
    let file = File::new("default = \"lisa\"\nalgorithm.lia = {}\n");
    let foreign = register(&folder, "-DNAME=\"lisa\"");
    let output = file.command(&here, &[]).output().expect("lisa");
    assert_eq!(output.status.code(), Some(1));
    let lines = lines(&output);
    let line = lines.last().expect("an error");
    assert!(has_line(&lines, "unloaded `lia`"), "{lines:#?}");
    assert!(
        line.contains("another program has registered `lisa`"),
        "{line}"
    );
    assert_eq!((loaded(), default_of(&here)), (vec![], "reno".into()));

    file.write("default = \"css\"\n");
    let (mut service, _) = Service::start(&here, &file);
    file.write("default = \"lia\"\nalgorithm.lisa = {}\n");
    let status = service.reload();
    let expected = "css; default css; not reloaded: another program has registered `lisa`";
    assert!(status.starts_with(expected), "{status}");
    assert_eq!(
        (loaded(), default_of(&here)),
        (vec!["css".into()], "css".into())
    );
    drop(foreign);
    until("the end of the other program's algorithm", || {
        !Host::now().has("lisa")
    });
    assert_eq!(service.reload(), "lia, lisa; default lia");
    service.stop(Signal::SIGTERM);
    assert_eq!(default_of(&here), "reno");
    turn.unchanged();
}

/// Ctrl-C, and a file that names nothing.
#[test]
fn a_service_with_nothing_to_do() {
    let Some(turn) = Turn::take() else { return };
    let here = host();
    let file = File::new("# nothing\n");
    let (service, status) = Service::start(&here, &file);
    assert_eq!(status, "the file names no algorithm");
    assert_eq!(loaded(), [""; 0]);
    service.stop(Signal::SIGINT);
    assert_eq!(default_of(&here), "reno");
    turn.unchanged();
}

#[test]
fn a_wrong_file_at_the_start() {
    let Some(turn) = Turn::take() else { return };
    let here = host();
    let file = File::new("default = \"lisa\"\n[algorithm.lisa]\nmax_conections = 3\n");
    let line = refused(file.command(&here, &[]));
    let expected = format!(
        "lisa: {}:3: `algorithm.lisa.max_conections`: no key `max_conections`, do you mean `max_connections`?",
        file.path.display()
    );
    assert!(line.starts_with(&expected), "{line}");
    fs::remove_file(&file.path).expect("it exists");
    let line = refused(file.command(&here, &[]));
    assert!(line.contains("No such file"), "{line}");
    assert_eq!(default_of(&here), "reno");
    assert_eq!(loaded(), [""; 0]);
    turn.unchanged();
}

#[test]
fn a_wrong_file_at_a_reload() {
    let Some(turn) = Turn::take() else { return };
    let here = host();
    let file = File::new("default = \"lisa\"\n");
    let (mut service, _) = Service::start(&here, &file);
    let before = find_one("lisa").expect("it is loaded").map_id();
    file.write("default = \"lisa\"\n\nalgorithms = 1\n");
    let status = service.reload();
    let expected = format!(
        "lisa; default lisa; not reloaded: {}:3: `algorithms`: no key `algorithms`, do you mean `algorithm`?",
        file.path.display()
    );
    assert!(status.starts_with(&expected), "{status}");
    assert_eq!(find_one("lisa").expect("it is loaded").map_id(), before);
    assert_eq!(default_of(&here), "lisa");
    // A right file again.
    file.write("default = \"lisa\"\nalgorithm.olia = {}\n");
    assert_eq!(service.reload(), "lisa, olia; default lisa");
    let lines = service.stop(Signal::SIGTERM);
    assert!(has_line(&lines, "not reloaded: "), "{lines:#?}");
    assert_eq!(default_of(&here), "reno");
    turn.unchanged();
}

#[test]
fn a_second_instance() {
    let Some(turn) = Turn::take() else { return };
    let (here, other) = (host(), host());
    let file = File::new("default = \"lisa\"\n");
    let (service, _) = Service::start(&here, &file);
    let second = File::new("default = \"lia\"\n");
    let line = refused(second.command(&other, &[]));
    let expected = format!(
        "lisa: the service runs already (process {});",
        service.running.id()
    );
    assert!(line.starts_with(&expected), "{line}");
    assert_eq!(loaded(), ["lisa"]);
    assert_eq!(
        (default_of(&here), default_of(&other)),
        ("lisa".into(), "reno".into())
    );
    service.stop(Signal::SIGTERM);
    turn.unchanged();
}

/// After a kill the algorithms stay. The next instance continues, and removes what its file does not name any more.
#[test]
fn killed_and_started_again() {
    let Some(turn) = Turn::take() else { return };
    let here = host();
    let file = File::new("default = \"lisa\"\nalgorithm.lia = {}\n");
    let (service, _) = Service::start(&here, &file);
    let before = find_one("lisa").expect("it is loaded").map_id();
    service.kill();
    assert_eq!(loaded(), ["lia", "lisa"]);
    assert_eq!(default_of(&here), "lisa");

    file.write("default = \"lisa\"\n");
    let (service, status) = Service::start(&here, &file);
    assert_eq!(status, "lisa; default lisa");
    assert_eq!(loaded(), ["lisa"]);
    assert_eq!(find_one("lisa").expect("it is loaded").map_id(), before);
    service.kill();

    file.write("algorithm.olia = {}\n");
    let (service, _) = Service::start(&here, &file);
    assert_eq!(loaded(), ["olia"]);
    assert_eq!(default_of(&here), "reno");
    service.stop(Signal::SIGTERM);
    assert_eq!(loaded(), [""; 0]);
    turn.unchanged();
}

/// The file names what an administrator has loaded: the service takes it over.
#[test]
fn an_algorithm_that_is_loaded_already() {
    let Some(turn) = Turn::take() else { return };
    let here = host();
    good(lisa(&["load", "lisa"]));
    good(lisa(&["load", "lia"]));
    let before = find_one("lisa").expect("it is loaded").map_id();
    let file = File::new("algorithm.lisa = {}\n");
    let (service, _) = Service::start(&here, &file);
    assert_eq!(find_one("lisa").expect("it is loaded").map_id(), before);
    let lines = service.stop(Signal::SIGTERM);
    assert!(has_line(&lines, "`lisa` is loaded already"), "{lines:#?}");
    assert_eq!(loaded(), ["lia"]);
    good(lisa(&["unload", "lia"]));
    turn.unchanged();
}

#[test]
fn metrics() {
    let Some(turn) = Turn::take() else { return };
    let here = host();
    let file = File::new("");
    let textfile = file.folder.join("lisa.prom");
    let text = |port: u16| {
        format!(
            "algorithm.lisa = {{}}\n[metrics]\nlisten = \"127.0.0.1:{port}\"\ntextfile = \"{}\"\n",
            textfile.display()
        )
    };
    file.write(&text(9710));
    let (mut service, _) = Service::start(&here, &file);
    let scrape = |port: u16| {
        here.run(|| {
            let mut connection = TcpStream::connect(("127.0.0.1", port))?;
            connection.write_all(b"GET /metrics HTTP/1.0\r\n\r\n")?;
            let mut answer = String::new();
            connection.read_to_string(&mut answer).map(|_| answer)
        })
    };
    let answer = scrape(9710).expect("an answer");
    assert!(answer.contains("algorithm=\"lisa\""), "{answer}");
    let written = fs::read_to_string(&textfile).expect("the text file");
    assert!(written.contains("algorithm=\"lisa\""), "{written}");

    // A port that is taken: the service continues as before.
    let taken = here.run(|| TcpListener::bind("127.0.0.1:9711").expect("a port"));
    file.write(&text(9711));
    let status = service.reload();
    assert!(
        status.contains("not reloaded: metrics at 127.0.0.1:9711: "),
        "{status}"
    );
    assert!(scrape(9710).is_ok());
    drop(taken);
    service.reload();
    assert!(scrape(9711).is_ok());
    assert!(scrape(9710).is_err());

    // A process without privileges reads the requests. If it is killed, another one follows.
    let [network] = children(service.running.id())[..] else {
        panic!("one process of the metrics")
    };
    has_no_privilege(network);
    kill(Pid::from_raw(network as i32), Signal::SIGKILL).expect("it runs");
    until("another process", || scrape(9711).is_ok());
    let [network] = children(service.running.id())[..] else {
        panic!("one process of the metrics")
    };
    let lines = service.stop(Signal::SIGTERM);
    let words = "metrics: the network process has ended (SIGKILL); started again";
    assert!(has_line(&lines, words), "{lines:#?}");
    assert!(has_ended(network));
    assert!(!textfile.exists());
    turn.unchanged();
}

/// A command unloads the algorithm while the service runs.
#[test]
fn an_algorithm_that_a_command_unloads() {
    let Some(turn) = Turn::take() else { return };
    let here = host();
    let file = File::new("algorithm.lisa = {}\n");
    let (mut service, _) = Service::start(&here, &file);
    good(lisa(&["unload", "lisa"]));
    service.reload();
    assert_eq!(loaded(), ["lisa"]);
    good(lisa(&["unload", "lisa"]));
    service.stop(Signal::SIGTERM);
    turn.unchanged();
}
