//! Tests of `exec` on the kernel of a guest, as its first process.

use crate::commands::PORT;
use crate::others::{self, Objects};
use crate::programs::*;
use crate::support::bpf::Counting;
use crate::support::until;
use crate::support::vm::{found, set_loopback};
use kernel::exec::exec;
use kernel::load::{self, Options};
use kernel::registry::{self, Registered};
use kernel::status;
use lab::{Namespace, Network, NetworkSpec};
use libbpf_rs::query::ProgInfoIter;
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sched::{CloneFlags, unshare};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use scenario::Scenario;
use serde::{Deserialize, Serialize};
use std::fs;
use std::os::unix::fs::{chown, symlink};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::process::Command;

/// How `exec` works on a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Way {
    Cgroup,
    Seccomp,
}

/// The job of the guest.
#[derive(Serialize, Deserialize)]
pub struct Job {
    way: Way,
    others: Objects,
}

impl Job {
    pub fn new(way: Way) -> Self {
        let others = Objects::compile();
        Self { way, others }
    }
}

/// A test and its result.
#[derive(Serialize, Deserialize)]
pub struct Finding {
    what: String,
    error: Option<String>,
}

impl Finding {
    pub fn failure(&self) -> Option<String> {
        let error = self.error.as_ref()?;
        Some(format!("{}: {error}", self.what))
    }
}

const PINS: &str = "/sys/fs/bpf/lisa";
/// Number of files there: three pins and a symbolic link.
const PINNED: usize = 4;

/// Runs all tests.
pub fn examine(job: &Job) -> Vec<Finding> {
    let none = None::<&str>;
    mount(
        Some("cgroup2"),
        CGROUPS,
        Some("cgroup2"),
        MsFlags::empty(),
        none,
    )
    .expect("cgroups");
    fs::create_dir_all("/tmp").expect("a folder");
    match job.way {
        Way::Seccomp => vec![
            run("falls back to the helper", falls_back),
            run("owners and networks by /proc", owners_and_networks_by_proc),
            run("another PID namespace", || {
                in_a_thread(another_pid_namespace)
            }),
            run("another PID namespace with its /proc", || {
                in_a_thread(another_pid_namespace_with_its_proc);
            }),
        ],
        Way::Cgroup => {
            let mut findings = vec![
                run("programs are attached and detached", attached_and_detached),
                run("a later load heals", a_later_load_heals),
                run("unloaded under a command", unloaded_under_a_command),
            ];
            findings.extend(others::examine(&job.others));
            let lisa = load("lisa");
            findings.extend(TESTS.map(|(what, test)| run(what, || test(&lisa))));
            // Connections of a killed command may last for a minute.
            lisa.unload(Some(&mut |_| false)).expect("it unloads");
            findings
        }
    }
}

/// Name and function of a test that needs `lisa` loaded.
type Test = (&'static str, fn(&Registered));

const TESTS: [Test; 13] = [
    ("sockets of the command alone", sockets_of_the_command_alone),
    (
        "connections and joins have the algorithm",
        connections_have_the_algorithm,
    ),
    (
        "joins in the middle of a call",
        late_joins_have_the_algorithm,
    ),
    ("programs of the host", programs_of_the_host),
    (
        "privileges and networks change",
        privileges_and_networks_change,
    ),
    (
        "a choice of a program's own costs nothing later",
        a_choice_costs_nothing_later,
    ),
    (
        "a connection that only receives costs nothing",
        receiving_costs_nothing,
    ),
    ("Landlock", landlock),
    ("a user with a cgroup of his own", user_with_a_cgroup),
    ("a user without one", user_without_a_cgroup),
    ("no process is needed", no_process_is_needed),
    ("Ctrl-C leaves no cgroup", ctrl_c_leaves_no_cgroup),
    ("exec below exec", exec_below_exec),
];

pub fn run(what: &str, test: impl FnOnce()) -> Finding {
    eprintln!("{what}"); // the last word of a kernel that stops here
    let error = found(test).err();
    Finding {
        what: what.into(),
        error,
    }
}

pub fn load(name: &str) -> Registered {
    load::load(name, &Options::default()).expect("it loads")
}

fn attached_and_detached() {
    assert!(!Path::new(PINS).exists());
    let lisa = load("lisa");
    let pins = || fs::read_dir(PINS).map_or(0, Iterator::count);
    assert_eq!(
        pins(),
        PINNED,
        "{:?}",
        kernel::load::apply("lisa", &Default::default()).map(|e| e.exec)
    );
    let lia = load("lia");
    lisa.unload(None).expect("it unloads");
    assert_eq!(pins(), PINNED, "one is loaded still");
    lia.unload(None).expect("it unloads");
    nothing_is_attached();

    // As `ip netns exec`: a mount namespace with another /sys.
    let elsewhere = |work: fn()| {
        in_a_thread(move || {
            unshare(CloneFlags::CLONE_NEWNS).expect("mounts");
            let (none, private) = (None::<&str>, MsFlags::MS_REC | MsFlags::MS_PRIVATE);
            mount(none, "/", none, private, none).expect("mounts");
            umount2("/sys", MntFlags::MNT_DETACH).expect("sysfs");
            mount(Some("sysfs"), "/sys", Some("sysfs"), MsFlags::empty(), none).expect("sysfs");
            work();
        });
    };
    elsewhere(|| drop(load("lisa")));
    assert_eq!(
        pins(),
        PINNED,
        "{:?}",
        kernel::load::apply("lisa", &Default::default()).map(|e| e.exec)
    );
    succeeds(under_exec(named("protocol", "262")));
    elsewhere(|| drop(registry::find_one("lisa").unwrap().unload(None).unwrap()));
    nothing_is_attached();
}

/// Runs in a thread of its own, because it changes namespaces.
fn in_a_thread(work: impl FnOnce() + Send + 'static) {
    let done = std::thread::spawn(work).join();
    done.unwrap_or_else(|panic| resume_unwind(panic));
}

fn nothing_is_attached() {
    let left = || {
        ProgInfoIter::default()
            .map(|program| program.name.to_string_lossy().into_owned())
            .filter(|name| ["lisa_socket", "lisa_connected", "lisa_survey"].contains(&&name[..]))
            .count()
    };
    until("the programs are gone", || left() == 0);
    assert!(!Path::new(PINS).exists());
    assert!(!Path::new("/run/lisa/pins.lock").exists());
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    assert!(!mounts.contains(" - bpf "), "{mounts}");
}

fn a_later_load_heals() {
    drop(load("lisa"));
    for pin in ["socket", "connected", "algorithms"] {
        fs::remove_file(Path::new(PINS).join(pin)).expect("a pin");
        let lia = load("lia");
        succeeds(under_exec(named("protocol", "262")));
        lia.unload(None).expect("it unloads");
    }
    // Programs of another version are replaced.
    let served = || {
        let programs = ProgInfoIter::default();
        let ours = programs.filter(|p| p.name.to_string_lossy() == "lisa_connected");
        ours.map(|program| program.id).collect::<Vec<_>>()
    };
    let before = served();
    let object = Path::new(PINS).join("object");
    fs::remove_file(&object).expect("a symbolic link");
    symlink("another", &object).expect("a symbolic link");
    let lia = load("lia");
    until("the former programs are gone", || {
        served().len() == 1 && served() != before
    });
    succeeds(under_exec(named("protocol", "262")));
    lia.unload(None).expect("it unloads");
    // The pins of a killed command remain: the algorithm is not registered.
    registry::find_one("lisa").unwrap().unload(None).unwrap();
    fs::create_dir_all("/sys/fs/bpf").unwrap();
    nothing_is_attached();
}

fn sockets_of_the_command_alone(_: &Registered) {
    let mut inside = answering();
    assert_eq!(inside.ask(), "262");
    succeeds(named("protocol", "6"));
    // In a cgroup with the name of an algorithm that is not loaded.
    let other = Path::new(CGROUPS).join("lisa-exec-lia-1");
    fs::create_dir(&other).expect("a cgroup");
    let mut command = named("protocol", "6");
    let place = other.join("cgroup.procs");
    // SAFETY: as above.
    unsafe { command.pre_exec(move || fs::write(&place, "0")) };
    succeeds(command);
    fs::remove_dir(other).expect("an empty cgroup");
    inside.end();
    until_no_cgroup();
}

/// Two subflows of each connection, at both ends.
fn connections_have_the_algorithm(lisa: &Registered) {
    over_two_paths(lisa, "serve", 8, |_| true);
}

/// The MPTCP socket is locked while the join is established.
fn late_joins_have_the_algorithm(lisa: &Registered) {
    over_two_paths(lisa, "serve_stalled", 1, |_| true);
}

/// Runs a server and a client under `exec`, until each of the connections has two subflows at both ends that use the algorithm,
/// and the condition holds at the server.
pub fn over_two_paths(
    lisa: &Registered,
    server: &str,
    connections: usize,
    condition: impl Fn(&Namespace) -> bool,
) {
    let scenario = "title = \"exec\"\nstop = \"60s\"\n[topology]\nkind = \"shared-bottleneck\"\nrate = \"20Mbit\"\n\
                    rtt = \"100ms\"\nqueue = 1000\npaths = 2\n[[connection]]\nprotocol = \"mptcp\"\nsubflows = 2\n\
                    algorithm = \"reno\"\nbytes = 1\n";
    let scenario = Scenario::parse(scenario, "exec.toml").expect("a scenario");
    let mut network =
        Network::build(&NetworkSpec::client_server(&scenario.topology).expect("a network"))
            .expect("its hosts");
    network.start().expect("it runs");
    let address = network.hosts()[0].server_addresses()[0];
    let start = |host: &Namespace, name: &str| {
        let argument = format!("{address} {connections}");
        let command = with_arguments(host.command("/proc/self/exe"), name, &argument);
        under_exec(command).spawn().expect("it starts")
    };
    let mut server = start(&network.hosts()[0].server, server);
    let mut client = start(&network.hosts()[0].client, "fetch");
    let netns = [&network.hosts()[0].server, &network.hosts()[0].client]
        .map(|host| host.run(|| kernel::default::netns().expect("a namespace")));
    let mut seen = Vec::new();
    let all = catch_unwind(AssertUnwindSafe(|| {
        until("all subflows", || {
            let status = status::status(lisa, Default::default()).expect("status");
            let here = status
                .connections
                .iter()
                .filter(|c| netns.contains(&c.netns));
            seen = here.map(|c| c.subflows.len()).collect();
            seen == vec![2; 2 * connections] && condition(&network.hosts()[0].server)
        });
    }));
    for child in [&mut client, &mut server] {
        child.kill().expect("it runs");
        child.wait().expect("it ends");
    }
    network.stop().expect("it ran");
    assert!(all.is_ok(), "subflows of each connection: {seen:?}");
    until_no_cgroup();
}

/// Over the loopback, with both ends under `exec`: the algorithm counts a connection at each end.
fn programs_of_the_host(lisa: &Registered) {
    let address = format!("127.0.0.1:{PORT}");
    let python = |code: &str| {
        let code = format!("import socket; a = ('127.0.0.1', {PORT}); {code}");
        program("python3", ["-S", "-c", &code])
    };
    let pairs = [
        (
            named("http", ""),
            "ready",
            program("curl", ["--fail", "--silent", "--show-error", &address]),
        ),
        (
            program("iperf3", ["--server", "--one-off", "--forceflush"]),
            "listening",
            program("iperf3", ["--client", "127.0.0.1", "--bytes", "1M"]),
        ),
        (
            python(
                "l = socket.create_server(a); print('ready', flush=True); \
                 s = l.accept()[0]; s.sendall(b'x' * 100000); s.close()",
            ),
            "ready",
            python("s = socket.socket(); s.connect(a); s.recv(100000, socket.MSG_WAITALL)"),
        ),
    ];
    let network = Namespace::new().expect("a network");
    network.run(|| {
        set_loopback(true);
        for (server, ready, client) in pairs {
            let opened = || {
                kernel::totals::totals(lisa)
                    .expect("totals")
                    .connections_opened
            };
            let before = opened();
            let server = Answering::ready(under_exec(server), ready);
            succeeds(under_exec(client));
            server.end();
            assert!(opened() >= before + 2, "{} ends", opened() - before);
        }
    });
}

fn privileges_and_networks_change(_: &Registered) {
    for command in ["drop_privileges", "move_to_network", "disable_mptcp"] {
        succeeds(under_exec(named(command, "")));
    }
    succeeds(under_exec(named("privileges", "0")));
    let network = Namespace::new().expect("a network");
    network.run(|| {
        set_loopback(true);
        succeeds(under_exec(named("choose", "")));
    });
    until_no_cgroup();
}

/// The program that sets the algorithm runs only for the first segments of a connection, also if it sets none.
fn a_choice_costs_nothing_later(_: &Registered) {
    runs_at_first_only("choose_late");
}

/// …and if an end only receives.
fn receiving_costs_nothing(_: &Registered) {
    runs_at_first_only("receive");
}

/// Runs a command that exchanges this number of segments. The program that sets the algorithm must not run for each.
fn runs_at_first_only(command: &str) {
    const SEGMENTS: u64 = 1000;
    let runs = || -> u64 {
        let programs = ProgInfoIter::default();
        let ours = programs.filter(|p| p.name.to_string_lossy() == "lisa_connected");
        ours.map(|program| program.run_cnt).sum()
    };
    let network = Namespace::new().expect("a network");
    let _counting = Counting::begin();
    let before = runs();
    network.run(|| {
        set_loopback(true);
        succeeds(under_exec(named(command, &SEGMENTS.to_string())));
    });
    let runs = runs() - before;
    assert!((2..SEGMENTS / 10).contains(&runs), "{runs} runs");
}

fn landlock(_: &Registered) {
    succeeds(under_exec(named("restrict", "")));
}

/// Runs `command` in `cgroup` as another user.
fn as_user(mut command: Command, cgroup: &Path) -> Command {
    let place = cgroup.join("cgroup.procs");
    // SAFETY: as above; this comes before `exec`.
    unsafe {
        command.pre_exec(move || {
            fs::write(&place, "0")?;
            nix::unistd::setgid(65534.into())?;
            nix::unistd::setuid(65534.into())?;
            Ok(())
        });
    }
    under_exec(command)
}

fn user_with_a_cgroup(_: &Registered) {
    let own = Path::new(CGROUPS).join("user");
    fs::create_dir(&own).expect("a cgroup");
    for file in [own.clone(), own.join("cgroup.procs")] {
        chown(file, Some(65534), Some(65534)).expect("root");
    }
    // Without a seccomp filter no_new_privs is not needed.
    succeeds(as_user(named("privileges", "0"), &own));
    until("no cgroup is left", || cgroups(&own).is_empty());
    until("it is empty", || fs::remove_dir(&own).is_ok());
}

fn user_without_a_cgroup(_: &Registered) {
    let others = Path::new(CGROUPS).join("others");
    fs::create_dir(&others).expect("a cgroup");
    succeeds(as_user(named("privileges", "1"), &others));
    until("it is empty", || fs::remove_dir(&others).is_ok());
}

fn no_process_is_needed(_: &Registered) {
    let mut command = answering();
    assert_eq!(called("lisa-exec"), []);
    let [cleanup] = called("lisa-cleanup")[..] else {
        panic!("{:?}", processes())
    };
    kill(cleanup, Signal::SIGKILL).expect("root");
    until("it is dead", || called("lisa-cleanup").is_empty());
    assert_eq!(command.ask(), "262");
    command.end();
    assert_eq!(cgroups(Path::new(CGROUPS)).len(), 1);
    // The next command removes what the killed process would have removed.
    succeeds(under_exec(named("protocol", "262")));
    until_no_cgroup();
}

fn ctrl_c_leaves_no_cgroup(_: &Registered) {
    let mut command = named("answer", "");
    command.process_group(0);
    let mut command = Answering::start(under_exec(command));
    assert_eq!(cgroups(Path::new(CGROUPS)).len(), 1);
    let group = Pid::from_raw(-(command.child.id() as i32));
    kill(group, Signal::SIGINT).expect("root");
    let status = command.child.wait().expect("it ends");
    assert_eq!(status.signal(), Some(libc::SIGINT));
    until_no_cgroup();

    // A command that cannot be started.
    let mut missing = Command::new("/proc/self/exe");
    // SAFETY: as above.
    unsafe {
        missing.pre_exec(|| {
            let error = exec("lisa", &["/no/such/command".into()]);
            libc::_exit(error.exit_code().into())
        });
    }
    assert_eq!(missing.status().unwrap().code(), Some(127));
    until_no_cgroup();
}

fn exec_below_exec(_: &Registered) {
    let outer = Path::new(CGROUPS).join("lisa-exec-lisa-1");
    fs::create_dir(&outer).expect("a cgroup");
    let mut command = named("protocol", "262");
    let place = outer.join("cgroup.procs");
    // SAFETY: as above.
    unsafe { command.pre_exec(move || fs::write(&place, "0")) };
    succeeds(under_exec(command));
    until("no cgroup is left", || cgroups(&outer).is_empty());
    until("it is empty", || fs::remove_dir(&outer).is_ok());
}

fn unloaded_under_a_command() {
    let lisa = load("lisa");
    let lia = load("lia");
    let mut command = answering();
    assert_eq!(command.ask(), "262");
    lisa.unload(None).expect("no socket uses it");
    assert_eq!(command.ask(), "6");
    command.end();
    lia.unload(None).expect("no socket uses it");
}

fn falls_back() {
    let lisa = load("lisa");
    assert!(!Path::new(PINS).exists());
    let mut command = answering();
    assert_eq!(command.ask(), "262");
    assert_eq!(called("lisa-exec").len(), 1);
    until_no_cgroup();
    command.end();
    until("the helper ends", || called("lisa-exec").is_empty());
    lisa.unload(None).expect("it unloads");
}

/// The helper reads owner and network namespace of a caller from /proc where the kernel's pidfds do not report them.
fn owners_and_networks_by_proc() {
    for command in ["drop_privileges", "move_to_network", "disable_mptcp"] {
        succeeds(by_helper(named(command, "")));
    }
}

/// Runs a command under `exec` with Linux's own `reno`.
fn by_helper(command: Command) -> Command {
    under_exec_with("reno", command)
}

fn another_pid_namespace() {
    // The children of this thread.
    unshare(CloneFlags::CLONE_NEWPID).expect("a PID namespace");
    let refused = by_helper(named("protocol", "262")).output();
    let refused = refused.expect("it starts");
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(
        said.contains("/proc is that of another PID namespace"),
        "{said}"
    );
}

/// Succeeds with a procfs of the new namespace.
fn another_pid_namespace_with_its_proc() {
    unshare(CloneFlags::CLONE_NEWPID | CloneFlags::CLONE_NEWNS).expect("namespaces");
    let mut command = named("protocol", "262");
    // SAFETY: the child only mounts.
    unsafe {
        command.pre_exec(|| {
            let flags = MsFlags::empty();
            Ok(mount(
                Some("proc"),
                "/proc",
                Some("proc"),
                flags,
                None::<&str>,
            )?)
        });
    }
    succeeds(by_helper(command));
}
