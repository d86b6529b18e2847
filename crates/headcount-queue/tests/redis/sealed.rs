//! TLS: with a certificate that is trusted, and not without.

use headcount_core::jobs::port::Backend;
use headcount_queue::redis::{ConnectError, RedisOptions, RedisStore};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};

use crate::server::{Server, free_port};
use crate::subject::{block_on, jobs, queue};

/// A server that speaks TLS on a second port, and the certificate that vouches for it.
fn sealed() -> (Server, u16, Vec<u8>) {
    let mut vouching = CertificateParams::new(Vec::new()).expect("no names are fine");
    vouching.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let voucher_key = KeyPair::generate().expect("a key");
    let voucher = vouching.self_signed(&voucher_key).expect("it signs itself").pem();
    let issuer = Issuer::new(vouching, voucher_key);
    let key = KeyPair::generate().expect("a key");
    let own = CertificateParams::new(vec!["127.0.0.1".to_owned()]).expect("an address");
    let own = own.signed_by(&key, &issuer).expect("it is signed").pem();

    let dir = tempfile::TempDir::new().expect("a temporary directory");
    let write = |name: &str, text: &str| {
        let path = dir.path().join(name);
        std::fs::write(&path, text).expect("a file can be written");
        path.display().to_string()
    };
    let (own, key) = (write("own.pem", &own), write("key.pem", &key.serialize_pem()));
    let port = free_port();
    let words = format!(
        "--tls-port {port} --tls-cert-file {own} --tls-key-file {key} --tls-ca-cert-file {own} \
         --tls-auth-clients no",
    );
    (Server::start(&words), port, voucher.into_bytes())
}

#[test]
fn a_server_must_be_vouched_for() {
    let (_server, port, voucher) = sealed();
    let url = format!("rediss://127.0.0.1:{port}");
    block_on(async {
        let mut options = RedisOptions::default();
        options.ca_pem = Some(voucher);
        let store = RedisStore::connect(&url, options).await.expect("it is trusted");
        store.enqueue(&queue(), jobs([1])).await.expect("it takes jobs");

        let stranger = RedisStore::connect(&url, RedisOptions::default()).await;
        let error = stranger.expect_err("nobody vouches for it");
        assert!(matches!(error, ConnectError::Unreachable(_)), "{error:?}");
    });
}
