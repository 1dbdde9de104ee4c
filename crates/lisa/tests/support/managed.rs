//! A topology manager at the client's host of a world, and an endpoint that follows it.

use super::world::{Running, World, client_address, listens, run, server_address};
use super::{Folder, LISA};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Port of the manager, in the namespace of the client alone.
pub const PORT: u16 = 9720;

/// A manager at the client's host, with TLS, whose addresses are two nodes with a link each to the server's.
pub struct Managed<'w> {
    world: &'w World,
    folder: Folder,
}

impl<'w> Managed<'w> {
    /// Nothing runs yet.
    pub fn new(world: &'w World) -> Self {
        let folder = Folder::new();
        let made = rcgen::generate_simple_self_signed(["localhost".into()]).expect("a certificate");
        let (certificate, key) = (made.cert.pem(), made.signing_key.serialize_pem());
        fs::write(folder.join("certificate.pem"), certificate).expect("a file");
        fs::write(folder.join("key.pem"), key).expect("a file");
        Self { world, folder }
    }

    /// File of its certificate, which signs itself.
    fn certificate(&self) -> PathBuf {
        self.folder.join("certificate.pem")
    }

    /// Starts the manager, also again after its end.
    pub fn serve(&self) -> Running {
        let mut command = self.world.client.command(LISA);
        let running = Running::start(
            (command.args(["serve", "--listen", &format!("127.0.0.1:{PORT}")]))
                .arg("--folder")
                .arg(self.folder.join("manager"))
                .arg("--tls-certificate")
                .arg(self.certificate())
                .arg("--tls-key")
                .arg(self.folder.join("key.pem")),
        );
        listens(&self.world.client, PORT);
        running
    }

    fn put(&self, path: &str, body: &Value) -> String {
        let token = fs::read_to_string(self.folder.join("manager/operator.token"));
        let header = format!("Authorization: Bearer {}", token.expect("a token").trim());
        let mut command = self.world.client.command("curl");
        command.args(["-sS", "--fail-with-body", "-X", "PUT", "-H", &header]);
        command.args(["-d", &body.to_string(), "--cacert"]);
        command.arg(self.certificate());
        command.arg(format!("https://localhost:{PORT}{path}"));
        String::from_utf8(run(&mut command).stdout).expect("text")
    }

    /// Describes the network, and returns the file of the endpoint's token.
    pub fn describe(&self) -> PathBuf {
        let nodes = ["a", "b", "s"].map(|name| json!({ "name": name }));
        let links = ["a", "b"].map(|name| json!({ "from": name, "to": "s" }));
        self.put("/v1/map", &json!({ "nodes": nodes, "links": links }));
        let at = [
            (client_address(0), "a"),
            (client_address(1), "b"),
            (server_address(0), "s"),
            (server_address(1), "s"),
        ];
        let prefixes = at.map(|(address, node)| json!({ "prefix": address, "node": node }));
        self.put("/v1/prefixes", &json!({ "prefixes": prefixes }));
        self.rates();
        let addresses = [0, 1].map(client_address);
        let answer = self.put("/v1/endpoints/client", &json!({ "addresses": addresses }));
        let answer: Value = serde_json::from_str(&answer).expect("JSON");
        let file = self.folder.join("client.token");
        fs::write(&file, answer["token"].as_str().expect("a token")).expect("a file");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("an own file");
        file
    }

    /// Reports the rates of both links.
    pub fn rates(&self) {
        let rates = ["a – s", "b – s"];
        let rates = rates.map(|link| json!({ "link": link, "available_bps": 10_000_000 }));
        self.put("/v1/rates", &json!({ "rates": rates }));
    }

    /// Reports that a link has failed or returned.
    pub fn link(&self, link: &str, up: bool) {
        let links = json!([{ "link": link, "up": up }]);
        self.put("/v1/links", &json!({ "links": links }));
    }

    /// Starts `lisa kernel assist`, which resolves the name of the manager and checks its certificate.
    pub fn assist(&self, token: &Path) -> Running {
        let mut command = self.world.client.command(LISA);
        command.args(["kernel", "assist", "--json", "--from"]);
        command.arg(format!("https://localhost:{PORT}"));
        command.arg("--token").arg(token);
        Running::start(command.arg("--ca").arg(self.certificate()))
    }
}
