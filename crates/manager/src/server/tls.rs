//! TLS of the server.

use std::path::Path;
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;

use super::TlsFiles;
use crate::error::{Error, Kind, Result};

/// Longest file of certificates, bytes: far more than a chain has.
const PEM_FILE: u64 = 1 << 20;

/// Accepts TLS 1.2 and 1.3 with this certificate.
pub(crate) fn acceptor(paths: &TlsFiles) -> Result<TlsAcceptor> {
    let (certificate, key) = (paths.certificate.display(), paths.key.display());
    let failed = |text: String| Error::new(Kind::Store, text);
    let read = |path: &Path| {
        let text = files::read(path, PEM_FILE);
        text.map_err(|error| failed(format!("{}: {error}", path.display())))
    };
    let (chain, private) = (read(&paths.certificate)?, read(&paths.key)?);
    let chain = CertificateDer::pem_slice_iter(&chain)
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| failed(format!("{certificate}: no certificate in PEM ({error})")))?;
    if chain.is_empty() {
        return Err(failed(format!("{certificate}: no certificate in PEM")));
    }
    let private = PrivateKeyDer::from_pem_slice(&private)
        .map_err(|error| failed(format!("{key}: no private key in PEM ({error})")))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| failed(format!("TLS: {error}")))?
        .with_no_client_auth()
        .with_single_cert(chain, private)
        .map_err(|error| {
            failed(format!(
                "{certificate} and {key} do not belong together ({error})"
            ))
        })?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}
