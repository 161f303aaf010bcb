//! TLS to the server, against a stand-in that ends TLS with certificates made on the spot.

mod support;

use std::io::Write as _;
use std::sync::Arc;

use lease_core::StoreError;
use lease_postgres::PgStore;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use support::Database;
use support::proxy::{Mischief, Proxy};
use support::words::opened;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

/// An authority of its own, as a PEM file, and a server with a certificate of it for `localhost`.
struct Authority {
    file: tempfile::NamedTempFile,
    acceptor: TlsAcceptor,
}

fn authority() -> Authority {
    let mut params = CertificateParams::new(Vec::new()).expect("no names");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().expect("a key");
    let issuer = CertifiedIssuer::self_signed(params, key).expect("a certificate");
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    file.write_all(issuer.pem().as_bytes()).expect("it can be written");

    let key = KeyPair::generate().expect("a key");
    let params = CertificateParams::new(vec!["localhost".to_owned()]).expect("a name");
    let certificate = params.signed_by(&key, &issuer).expect("a certificate");
    let private = PrivateKeyDer::try_from(key.serialize_der()).expect("a key");
    let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], private)
        .expect("a certificate and its key");
    Authority { file, acceptor: TlsAcceptor::from(Arc::new(config)) }
}

async fn connect(proxy: &Proxy, query: &str) -> Result<PgStore, StoreError> {
    PgStore::connect(&format!("{}?{query}", proxy.url), &support::settings()).await
}

#[tokio::test]
async fn a_store_works_over_tls_and_checks_the_server_where_it_is_asked_to() {
    let database = Database::migrated().await;
    let (own, other) = (authority(), authority());
    let mischief = Mischief { tls: Some(own.acceptor.clone()), ..Mischief::default() };
    let proxy = Proxy::before(&database.url, mischief).await;

    let store = connect(&proxy, "sslmode=require").await.expect("TLS, with nothing checked");
    opened(&store, 1, "acme").await;

    let own_file = own.file.path().display();
    let store = connect(&proxy, &format!("sslmode=verify-full&sslrootcert={own_file}")).await;
    opened(&store.expect("the authority is the right one"), 2, "other").await;

    let other_file = other.file.path().display();
    let refused = connect(&proxy, &format!("sslmode=verify-full&sslrootcert={other_file}")).await;
    assert!(matches!(refused, Err(StoreError::Unreachable(_))));

    let by_number = proxy.url.replace("localhost", "127.0.0.1");
    let url = format!("{by_number}?sslmode=verify-full&sslrootcert={own_file}");
    let refused = PgStore::connect(&url, &support::settings()).await;
    assert!(matches!(refused, Err(StoreError::Unreachable(_))), "the certificate is for another name");
}

#[tokio::test]
async fn a_server_without_tls_is_refused_where_tls_is_asked_for() {
    let database = Database::migrated().await;
    let proxy = Proxy::before(&database.url, Mischief::default()).await;
    let refused = connect(&proxy, "sslmode=require").await;
    assert!(matches!(refused, Err(StoreError::Unreachable(_))));
}
