//! A machine in QEMU with systemd as process 1: a release's files on a disk, and Debian's kernel.
//!
//! A program in the guest (agent.py) runs the test's commands. The processor is emulated, so that it needs no /dev/kvm;
//! `LISA_VM_ACCEL=kvm` uses it.

use super::packages::run;
use super::roots::{Root, cache};
use super::support::Folder;
use super::support::vm::{fetched, vmlinuz};
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Debian's kernel that boots.
const KERNEL: &str = "6.12";
/// Modules that a disk and the network of the tests need, in this order.
const MODULES: [&str; 3] = ["virtio_blk", "veth", "sch_netem"];
/// Longest time until a guest has booted or a command has ended.
const LIMIT: Duration = Duration::from_secs(180);

const KERNEL_ARGUMENTS: &str =
    "console=ttyS0 loglevel=4 systemd.show_status=auto panic=-1 net.ifnames=0";

/// The first process: mounts the disk, and runs systemd.
const INIT: &str = "#!/bin/busybox sh
/bin/busybox mount -t devtmpfs devtmpfs /dev
for module in /modules/*; do /bin/busybox insmod $module; done
/bin/busybox mount -t ext4 -o rw /dev/vda /root
exec /bin/busybox switch_root /root /sbin/init
";

/// Unit of the agent.
const AGENT: &str = "[Unit]
After=multi-user.target
[Service]
ExecStart=/usr/bin/python3 /opt/agent.py
OOMScoreAdjust=-1000
StandardError=journal+console
";

/// A running machine, which ends when this is dropped.
pub struct Guest {
    qemu: Child,
    port: BufReader<UnixStream>,
    /// The kernel's folder, as `make setup` fetched it.
    kernel: PathBuf,
    /// Disk, initramfs and console.
    folder: Folder,
}

impl Guest {
    /// Boots a release. `prepare` changes its files before. `None`, with the reason printed, if it cannot run here.
    pub fn boot(release: &str, prepare: impl FnOnce(&Root)) -> Option<Self> {
        let root = Root::unpack(release)?;
        let kernel = fetched(KERNEL)?;
        let version = Command::new("qemu-system-x86_64").arg("--version").output();
        if version.is_err() {
            eprintln!("skipped: no qemu-system-x86_64; `make setup` installs it");
            return None;
        }
        add_agent(&root);
        prepare(&root);
        let folder = Folder::new();
        write_initramfs(&root, &kernel, &folder.join("initramfs"));
        make_disk(&root, &folder.join("disk"));
        let (qemu, port) = start(&kernel, &folder);
        let mut guest = Self {
            qemu,
            port,
            kernel,
            folder,
        };
        guest.wait_for_boot();
        Some(guest)
    }

    /// Runs a shell command. Returns its exit status and output.
    pub fn output(&mut self, command: &str) -> (i64, String) {
        self.send(command);
        let answer = self.receive(command);
        let text = |key: &str| answer[key].as_str().unwrap_or_default().to_string();
        (answer["status"].as_i64().unwrap_or(-1), text("output"))
    }

    /// Runs a command that must succeed. Returns its output.
    pub fn run(&mut self, command: &str) -> String {
        let (status, output) = self.output(command);
        if status != 0 {
            let (_, journal) = self.output("journalctl -b --no-pager | tail -n 40");
            panic!("{command}: status {status}: {output}\n{journal}");
        }
        output
    }

    /// The JSON that a command prints.
    pub fn json(&mut self, command: &str) -> Value {
        let text = self.run(command);
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{command}: {error}: {text}"))
    }

    /// Waits until a command succeeds. Returns its output.
    pub fn until(&mut self, command: &str) -> String {
        self.run(&format!(
            "for i in $(seq 1000); do out=$({command}) && echo \"$out\" && exit; sleep 0.1; done; echo 'waited in vain'; exit 1"
        ))
    }

    /// Reboots: shuts down, and boots again from the same disk.
    pub fn reboot(&mut self) {
        self.send("systemctl reboot"); // the answer may come, or not any more
        let deadline = Instant::now() + LIMIT;
        while self.qemu.try_wait().expect("QEMU").is_none() {
            assert!(Instant::now() < deadline, "no shutdown: {}", self.console());
            std::thread::sleep(Duration::from_millis(50));
        }
        (self.qemu, self.port) = start(&self.kernel, &self.folder);
        self.wait_for_boot();
    }

    fn send(&mut self, command: &str) {
        let mut line = json!(command).to_string();
        line.push('\n');
        self.port.get_mut().write_all(line.as_bytes()).unwrap();
    }

    fn wait_for_boot(&mut self) {
        let booted = self.receive("the boot");
        assert!(booted["boot"].is_string(), "{booted}");
    }

    /// The next message of the agent.
    fn receive(&mut self, what: &str) -> Value {
        let deadline = Instant::now() + LIMIT;
        let mut line = String::new();
        loop {
            match self.port.read_line(&mut line) {
                Ok(read) if read > 0 && line.ends_with('\n') => break,
                Ok(0) => panic!("{what}: the machine ended: {}", self.console()),
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    let late = Instant::now() > deadline;
                    assert!(!late, "{what}: no answer: {}", self.console());
                }
                Err(error) => panic!("{what}: {error}"),
            }
        }
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{what}: {error}: {line}"))
    }

    /// The end of the console's text.
    fn console(&self) -> String {
        let text = fs::read(self.folder.join("console")).unwrap_or_default();
        let text = String::from_utf8_lossy(&text).into_owned();
        let lines: Vec<_> = text.lines().collect();
        lines[lines.len().saturating_sub(30)..].join("\n")
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        let _ = self.qemu.kill();
        let _ = self.qemu.wait();
    }
}

/// Starts QEMU, which ends at a reboot. Returns it and the connection to the agent.
fn start(kernel: &Path, folder: &Path) -> (Child, BufReader<UnixStream>) {
    let at = |name: &str| folder.join(name).display().to_string();
    let _ = fs::remove_file(at("socket"));
    let listener = UnixListener::bind(at("socket")).expect("a socket");
    let accelerator = std::env::var("LISA_VM_ACCEL").unwrap_or("tcg,thread=multi".into());
    let drive = format!("file={},if=virtio,format=raw,cache=unsafe", at("disk"));
    let qemu = Command::new("qemu-system-x86_64")
        .args(["-accel", &accelerator, "-cpu", "max", "-smp", "2"])
        .args(["-m", "1024", "-nodefaults", "-no-user-config"])
        .args(["-display", "none", "-no-reboot"])
        .arg("-kernel")
        .arg(vmlinuz(kernel))
        .args(["-initrd", &at("initramfs"), "-append", KERNEL_ARGUMENTS])
        .args(["-drive", &drive, "-device", "virtio-serial-pci"])
        .args(["-serial", &format!("file:{}", at("console"))])
        .args([
            "-chardev",
            &format!("socket,id=agent,path={}", at("socket")),
        ])
        .args(["-device", "virtserialport,chardev=agent,name=agent"])
        .stdin(Stdio::null())
        .spawn()
        .expect("QEMU starts");
    let (port, _) = listener.accept().expect("QEMU connects");
    let poll = Duration::from_millis(200);
    port.set_read_timeout(Some(poll)).unwrap();
    (qemu, BufReader::new(port))
}

/// Installs agent.py, and turns off what a test machine does not need.
fn add_agent(root: &Root) {
    let at = |path: &str| root.path().join(path);
    fs::create_dir_all(at("opt")).unwrap();
    fs::write(at("opt/agent.py"), include_str!("agent.py")).unwrap();
    fs::write(at("opt/traffic.py"), include_str!("traffic.py")).unwrap();
    let units = at("etc/systemd/system");
    fs::write(units.join("agent.service"), AGENT).unwrap();
    let wants = units.join("multi-user.target.wants");
    fs::create_dir_all(&wants).unwrap();
    symlink("../agent.service", wants.join("agent.service")).unwrap();
    for unit in [
        "getty.target",
        "apt-daily.timer",
        "apt-daily-upgrade.timer",
        "dpkg-db-backup.timer",
        "systemd-timesyncd.service",
        "systemd-modules-load.service", // the guest has no tree of modules
    ] {
        let _ = fs::remove_file(units.join(unit));
        symlink("/dev/null", units.join(unit)).unwrap();
    }
    // Without an identity the first boot would be one of an image that was never booted.
    fs::write(at("etc/machine-id"), "0123456789abcdef0123456789abcdef\n").unwrap();
    fs::write(at("etc/hostname"), "guest\n").unwrap();
}

/// A file system with the root's files.
fn make_disk(root: &Root, disk: &Path) {
    File::create(disk).unwrap().set_len(1 << 30).unwrap();
    let mut make = Command::new("mke2fs");
    make.args(["-q", "-F", "-t", "ext4", "-O", "^has_journal"]);
    make.args(["-E", "lazy_itable_init=1", "-d"]);
    make.env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
    run(make.arg(root.path()).arg(disk));
}

/// An initramfs with a shell and the modules.
fn write_initramfs(root: &Root, kernel: &Path, to: &Path) {
    let mut archive = Vec::new();
    let mut number = 0;
    let mut add = |name: &str, mode: u32, content: &[u8]| {
        number += 1;
        let entry = cpio::newc::Builder::new(name).ino(number).mode(mode);
        let mut writer = entry.write(&mut archive, content.len() as u32);
        writer.write_all(content).unwrap();
        writer.finish().unwrap();
    };
    for folder in ["bin", "dev", "modules", "root"] {
        add(folder, 0o040_755, b"");
    }
    let busybox = fs::read(root.path().join("bin/busybox")).expect("busybox");
    add("bin/busybox", 0o100_755, &busybox);
    add("init", 0o100_755, INIT.as_bytes());
    for (index, name) in MODULES.iter().enumerate() {
        let found = run(Command::new("find")
            .arg(kernel)
            .args(["-name", &format!("{name}.ko*")]));
        let file = PathBuf::from(found.lines().next().unwrap_or_else(|| {
            let place = cache().join("kernels");
            panic!(
                "no module {name} in {}: `make setup` fetches it",
                place.display()
            )
        }));
        let content = match file.extension() {
            Some(ending) if ending == "xz" => {
                let unpacked = Command::new("xz").arg("-dc").arg(&file).output();
                unpacked.expect("xz").stdout
            }
            _ => fs::read(&file).unwrap(),
        };
        add(&format!("modules/{index}-{name}.ko"), 0o100_644, &content);
    }
    cpio::newc::trailer(&mut archive).unwrap();
    fs::write(to, archive).unwrap();
    fs::set_permissions(to, fs::Permissions::from_mode(0o644)).unwrap();
}
