//! iperf3, and curl against nginx.

use crate::support::world::{Running, World, client_address, exec, listens, server_address};
use crate::support::{Folder, Loaded, able, content, watch::Watch};
use kernel::load::Options;
use std::fs;

/// 24 MB, at a rate at which eight subflows join long before the end.
const BYTES: usize = 24 << 20;

/// iperf3 with this number of subflows; `reverse`: the server sends.
fn iperf3(algorithm: &str, subflows: u32, reverse: bool) {
    if !able() {
        return;
    }
    let loaded = Loaded::with(algorithm, Options::default());
    let (world, folder) = (World::joined(subflows), Folder::new());
    let (sent, received) = (folder.join("sent"), folder.join("received"));
    let bytes = content(BYTES, 1);
    fs::write(&sent, &bytes).expect("a file");
    let (ours, theirs) = if reverse {
        (&received, &sent)
    } else {
        (&sent, &received)
    };

    let mut watch = Watch::new(&loaded);
    let mut server = exec(&world.server, loaded.name(), "iperf3");
    let server = Running::start(server.args(["--server", "--one-off", "--file"]).arg(theirs));
    listens(&world.server, 5201);
    let mut client = exec(&world.client, loaded.name(), "iperf3");
    client.args([
        "--client",
        &server_address(0),
        "--bytes",
        &BYTES.to_string(),
    ]);
    // Small blocks: after a partial write iperf3 3.12 moves the rest of a block with memcpy onto itself, and spoils a
    // large one (with plain TCP too: `iperf3 -c … -w 20K -F file`).
    client.args(["--length", "4K"]);
    client.args(["--bitrate", "200M", "--file"]).arg(ours);
    if reverse {
        client.arg("--reverse");
    }
    let client = Running::start(&mut client);
    for host in [&world.client, &world.server] {
        let netns = host.run(|| kernel::default::netns().expect("a namespace"));
        watch.subflows(netns, subflows as usize);
    }
    watch.succeed(client);
    watch.succeed(server);
    let arrived = fs::read(received).expect("a file");
    // An iperf3 server stops reading when the client reports its end, with the last blocks still in flight.
    let least = if reverse { BYTES } else { BYTES * 9 / 10 };
    assert!(arrived.len() >= least, "{} bytes arrived", arrived.len());
    assert!(
        arrived == bytes[..arrived.len()],
        "bytes arrive as they were sent"
    );
    let (settled, void) = watch.finish();
    eprintln!("iperf3, {algorithm}, {subflows} subflows: {settled} credits settled, {void} void");
}

#[test]
fn iperf3_with_two_subflows() {
    iperf3("lisa", 2, false);
}

#[test]
fn iperf3_with_two_subflows_in_reverse() {
    iperf3("lisa", 2, true);
}

#[test]
fn iperf3_with_eight_subflows() {
    iperf3("lisa", 8, false);
}

#[test]
fn iperf3_with_eight_subflows_in_reverse() {
    iperf3("lisa", 8, true);
}

#[test]
fn iperf3_with_nine_subflows_the_most_of_the_kernels_path_manager() {
    iperf3("lisa", 9, false);
}

#[test]
fn iperf3_over_cubic_with_two_subflows() {
    iperf3("lisa_cubic", 2, false);
}

#[test]
fn iperf3_over_cubic_with_two_subflows_in_reverse() {
    iperf3("css_cubic", 2, true);
}

#[test]
fn iperf3_over_cubic_with_eight_subflows() {
    iperf3("lisa_cubic", 8, false);
}

#[test]
fn iperf3_over_cubic_with_hystartpp_and_eight_subflows() {
    iperf3("hystartpp_cubic", 8, false);
}

/// nginx in the foreground, which serves and accepts files of this folder.
pub fn nginx(folder: &Folder) -> Vec<String> {
    let root = folder.display();
    let configuration = format!(
        "daemon off; master_process off; user root; pid {root}/pid; error_log {root}/error.log;
         events {{}}
         http {{
             access_log off; client_max_body_size 1g; client_body_temp_path {root}/body;
             proxy_temp_path {root}/proxy; fastcgi_temp_path {root}/fastcgi;
             uwsgi_temp_path {root}/uwsgi; scgi_temp_path {root}/scgi;
             server {{ listen 80; root {root}; dav_methods PUT; }}
         }}"
    );
    let path = folder.join("nginx.conf");
    fs::write(&path, configuration).expect("a file");
    let log = format!("{root}/error.log");
    [
        "-p",
        &root.to_string(),
        "-e",
        &log,
        "-c",
        &path.display().to_string(),
    ]
    .map(String::from)
    .into()
}

/// curl downloads a file from nginx, and uploads it again.
fn curl(subflows: u32) {
    if !able() {
        return;
    }
    let (loaded, world, folder) = (Loaded::lisa(), World::joined(subflows), Folder::new());
    let bytes = content(BYTES, 2);
    fs::write(folder.join("file"), &bytes).expect("a file");
    let mut server = exec(&world.server, loaded.name(), "nginx");
    let server = Running::start(server.args(nginx(&folder)));
    listens(&world.server, 80);

    let mut watch = Watch::new(&loaded);
    let url = format!("http://{}/", server_address(0));
    let netns = [&world.client, &world.server]
        .map(|host| host.run(|| kernel::default::netns().expect("a namespace")));
    let common = [
        "--no-progress-meter",
        "--fail",
        "--interface",
        &client_address(0),
    ];
    for upload in [false, true] {
        watch.most.clear();
        let mut client = exec(&world.client, loaded.name(), "curl");
        client.args(common).args(["--limit-rate", "12M"]);
        if upload {
            client
                .arg("-T")
                .arg(folder.join("file"))
                .arg(format!("{url}put"));
        } else {
            client
                .arg("-o")
                .arg(folder.join("got"))
                .arg(format!("{url}file"));
        }
        let client = Running::start(&mut client);
        for netns in netns {
            watch.subflows(netns, subflows as usize);
        }
        watch.succeed(client);
        let arrived = fs::read(folder.join(if upload { "put" } else { "got" })).expect("a file");
        assert!(arrived == bytes, "bytes arrive as they were sent");
    }
    server.signal(nix::sys::signal::Signal::SIGQUIT);
    watch.succeed(server);
    let (settled, void) = watch.finish();
    eprintln!("curl, {subflows} subflows: {settled} credits settled, {void} void");
}

#[test]
fn curl_and_nginx_with_two_subflows() {
    curl(2);
}

#[test]
fn curl_and_nginx_with_eight_subflows() {
    curl(8);
}
