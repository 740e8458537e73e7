//! Downloads from a local server that imitates faults.

use std::fs;
use std::path::PathBuf;

use crate::server::{Reply, Request, Server};
use gpbench_data::Sha256Hex;
use gpbench_data::fetch::{self, FetchError, Progress};
use gpbench_data::locate::{self, SearchPlace, SearchPlaces};
use gpbench_data::registry::{RegistryEntry, RemoteFile};
use gpbench_data::verify::{Expected, verify};
use tempfile::TempDir;

/// 200 kB that begin like a gzip file: several reads long.
fn content(salt: u8) -> Vec<u8> {
    let mut bytes: Vec<u8> =
        (0..200_000_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8 ^ salt).collect();
    bytes[..2].copy_from_slice(&[0x1f, 0x8b]);
    bytes
}

/// Whether the registry has digests.
#[derive(Clone, Copy, PartialEq)]
enum Digests {
    Known,
    Unknown,
}

fn entry(digests: Digests) -> RegistryEntry {
    let file = |name: &str, salt| RemoteFile {
        name: name.into(),
        bytes: (digests == Digests::Known).then_some(200_000),
        sha256: (digests == Digests::Known).then(|| Sha256Hex::of_bytes(&content(salt))),
    };
    RegistryEntry {
        name: "made".into(),
        aliases: vec![],
        title: "Made".into(),
        n: 10,
        d: 2,
        url: "http://unreachable.invalid/made".into(),
        files: vec![file("data.csv.gz", 1), file("test_mask.csv.gz", 2)],
        licence: String::new(),
        citation: String::new(),
    }
}

/// A set with its own cache and a server that replies with `answer`.
struct Set {
    entry: RegistryEntry,
    places: SearchPlaces,
    server: Server,
    _folder: TempDir,
}

impl Set {
    fn new(digests: Digests, answer: impl Fn(&Request) -> Reply + Send + 'static) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let server = Server::start(answer);
        let places = SearchPlaces {
            data_dir: None,
            env: None,
            cache: folder.path().join("cache"),
            mirror: Some(format!("{}/", server.url)),
        };
        Self { entry: entry(digests), places, server, _folder: folder }
    }

    fn fetch(&self) -> Result<locate::Found, FetchError> {
        fetch::fetch(&self.entry, &self.places, &mut |_| {})
    }

    fn path(&self, name: &str) -> PathBuf {
        self.places.downloads().join("made").join(name)
    }

    /// Requests for data.csv.gz, by first byte.
    fn starts(&self) -> Vec<Option<usize>> {
        let requests = self.server.requests().into_iter();
        requests
            .filter(|request| request.path.ends_with("/data.csv.gz"))
            .map(|request| request.from)
            .collect()
    }
}

fn body(request: &Request) -> Vec<u8> {
    content(if request.path == "/made/data.csv.gz" { 1 } else { 2 })
}

fn good(request: &Request) -> Reply {
    Reply::ranged(&body(request), request)
}

#[test]
fn a_whole_download_is_kept_checked_and_found_again() {
    let set = Set::new(Digests::Known, good);
    let mut steps = Vec::new();
    let found = fetch::obtain(&set.entry, &set.places, &mut |Progress { file, done, total }| {
        steps.push((file.to_owned(), done, total));
    })
    .unwrap();
    assert_eq!(found.place, SearchPlace::Cache);
    assert_eq!(fs::read(set.path("data.csv.gz")).unwrap(), content(1));
    assert_eq!(fs::read(set.path("test_mask.csv.gz")).unwrap(), content(2));
    assert_eq!(steps.first(), Some(&("data.csv.gz".into(), 0, Some(200_000))));
    assert_eq!(steps.last(), Some(&("test_mask.csv.gz".into(), 200_000, Some(200_000))));
    assert!(verify(&set.entry, &found).unwrap().iter().all(|file| file.is_good() == Some(true)));
    assert!(!set.path("data.csv.gz.part").exists());

    assert_eq!(locate::locate(&set.entry, &set.places).unwrap(), found);
    set.fetch().unwrap();
    assert_eq!(set.server.requests().len(), 2, "valid files are not downloaded again");
}

#[test]
fn a_partial_file_is_resumed() {
    let set = Set::new(Digests::Known, good);
    fs::create_dir_all(set.path("")).unwrap();
    fs::write(set.path("data.csv.gz.part"), &content(1)[..70_000]).unwrap();
    set.fetch().unwrap();
    assert_eq!(set.starts(), [Some(70_000)]);
    assert_eq!(fs::read(set.path("data.csv.gz")).unwrap(), content(1));
}

#[test]
fn a_server_without_ranges_starts_over() {
    let set = Set::new(Digests::Known, |request| Reply::whole(&body(request)));
    fs::create_dir_all(set.path("")).unwrap();
    fs::write(set.path("data.csv.gz.part"), &content(1)[..70_000]).unwrap();
    set.fetch().unwrap();
    assert_eq!(set.starts(), [Some(70_000)]);
    assert_eq!(fs::read(set.path("data.csv.gz")).unwrap(), content(1));
}

#[test]
fn a_partial_file_of_another_version_is_downloaded_again() {
    for (digests, stale) in [
        (Digests::Known, content(9)[..70_000].to_vec()),
        (Digests::Known, content(9)),
        (Digests::Known, vec![0; 300_000]),
        (Digests::Unknown, vec![0; 300_000]),
    ] {
        let set = Set::new(digests, good);
        fs::create_dir_all(set.path("")).unwrap();
        fs::write(set.path("data.csv.gz.part"), stale).unwrap();
        set.fetch().unwrap();
        assert_eq!(fs::read(set.path("data.csv.gz")).unwrap(), content(1));
    }
}

#[test]
fn a_finished_partial_file_needs_no_body() {
    let set = Set::new(Digests::Unknown, good);
    fs::create_dir_all(set.path("")).unwrap();
    fs::write(set.path("data.csv.gz.part"), content(1)).unwrap();
    set.fetch().unwrap();
    assert_eq!(set.starts(), [Some(200_000)], "the server says that this is all of it");
    assert_eq!(fs::read(set.path("data.csv.gz")).unwrap(), content(1));
}

#[test]
fn a_wrong_digest_is_an_error_and_the_file_is_deleted() {
    let set = Set::new(Digests::Known, |request| Reply::ranged(&content(7), request));
    let text = set.fetch().unwrap_err().to_string();
    assert!(text.contains(Sha256Hex::of_bytes(&content(7)).as_str()), "{text}");
    assert!(text.contains("was deleted"), "{text}");
    assert!(!set.path("data.csv.gz").exists());
    assert!(!set.path("data.csv.gz.part").exists());
    let text = fetch::obtain(&set.entry, &set.places, &mut |_| {}).unwrap_err().to_string();
    assert!(text.contains("`gpbench data fetch made` downloads it"), "{text}");
}

#[test]
fn a_damaged_file_in_the_cache_is_replaced() {
    let set = Set::new(Digests::Known, good);
    let found = set.fetch().unwrap();
    fs::write(set.path("data.csv.gz"), "damaged").unwrap();
    let checks = verify(&set.entry, &found).unwrap();
    assert_eq!(checks.iter().map(|file| file.is_good()).collect::<Vec<_>>(), [Some(false), Some(true)]);
    set.fetch().unwrap();
    assert_eq!(fs::read(set.path("data.csv.gz")).unwrap(), content(1));
}

#[test]
fn a_missing_file_says_so_and_names_the_address() {
    let set = Set::new(Digests::Known, |_| Reply::status("404 Not Found"));
    let text = set.fetch().unwrap_err().to_string();
    let url = format!("{}/made/data.csv.gz", set.server.url);
    assert_eq!(text, format!("could not download {url}: the server answered 404 Not Found"));
    assert!(!set.path("data.csv.gz").exists());
}

#[test]
fn redirects_are_followed() {
    let set = Set::new(Digests::Known, |request| match request.path.strip_prefix("/made/") {
        Some(file) => {
            Reply { headers: vec![format!("Location: /elsewhere/{file}")], ..Reply::status("302 Found") }
        }
        None => Reply::ranged(&content(if request.path.ends_with("data.csv.gz") { 1 } else { 2 }), request),
    });
    set.fetch().unwrap();
    assert_eq!(fs::read(set.path("test_mask.csv.gz")).unwrap(), content(2));
}

#[test]
fn a_broken_connection_is_resumed() {
    let set = Set::new(Digests::Known, |request| match request.from {
        None => good(request).cut_after(50_000),
        Some(from) if from < 100_000 => good(request).cut_after(80_000),
        Some(_) => good(request),
    });
    set.fetch().unwrap();
    assert_eq!(set.starts(), [None, Some(50_000), Some(130_000)]);
    assert_eq!(fs::read(set.path("data.csv.gz")).unwrap(), content(1));
}

#[test]
fn a_truncated_body_is_an_error_and_is_kept_for_next_time() {
    let set = Set::new(Digests::Known, |request| match request.from {
        None => good(request).cut_after(50_000),
        Some(_) => good(request).cut_after(0),
    });
    let text = set.fetch().unwrap_err().to_string();
    assert!(text.contains("broke off after 50000 bytes of 200000"), "{text}");
    assert!(!set.path("data.csv.gz").exists());
    assert_eq!(fs::read(set.path("data.csv.gz.part")).unwrap().len(), 50_000);
}

#[test]
fn an_unknown_digest_is_recorded_and_checked_from_then_on() {
    let set = Set::new(Digests::Unknown, good);
    let found = set.fetch().unwrap();
    let record = fs::read_to_string(set.path("data.csv.gz.sha256")).unwrap();
    assert_eq!(record, format!("{}  data.csv.gz\n", Sha256Hex::of_bytes(&content(1))));
    let checks = verify(&set.entry, &found).unwrap();
    assert!(checks.iter().all(|file| matches!(file.expected, Expected::Recorded(_))));
    assert!(checks.iter().all(|file| file.is_good() == Some(true)));
    fs::write(set.path("data.csv.gz"), content(3)).unwrap();
    assert_eq!(verify(&set.entry, &found).unwrap()[0].is_good(), Some(false));
}

#[test]
fn content_that_is_not_gzip_is_described() {
    for (content, what) in [
        ("version https://git-lfs.github.com/spec/v1\noid sha256:0", "(Git LFS)"),
        ("<!DOCTYPE html><html>sign in first</html>", "a web page"),
    ] {
        let set = Set::new(Digests::Unknown, move |_| Reply::whole(content.as_bytes()));
        let text = set.fetch().unwrap_err().to_string();
        assert!(text.contains("instead of a gzip file") && text.contains(what), "{text}");
        assert!(!set.path("data.csv.gz").exists() && !set.path("data.csv.gz.part").exists());
    }
}

#[test]
fn names_cannot_leave_the_cache() {
    let set = Set::new(Digests::Known, good);
    let mut bad = set.entry.clone();
    bad.name = "../../made".into();
    let error = fetch::fetch(&bad, &set.places, &mut |_| {}).unwrap_err();
    assert!(matches!(error, FetchError::Name { .. }));
    let mut bad = set.entry.clone();
    bad.files[0].name = "../data.csv.gz".into();
    let error = fetch::fetch(&bad, &set.places, &mut |_| {}).unwrap_err();
    assert!(matches!(error, FetchError::Name { .. }));
    assert_eq!(set.server.requests(), []);
}

#[test]
fn redirects_that_lead_nowhere_are_errors() {
    // In a circle, without end, to a file of this machine, and to a login page.
    for (to, what) in
        [("/made/data.csv.gz", ""), ("?more", ""), ("file:///etc/passwd", ""), ("/login", "a web page")]
    {
        let set = Set::new(Digests::Known, move |request| match request.path.as_str() {
            "/login" => Reply::whole(b"<!DOCTYPE html><html>sign in first</html>"),
            path => {
                let to = if to == "?more" { format!("{path}x") } else { to.to_owned() };
                Reply { headers: vec![format!("Location: {to}")], ..Reply::status("302 Found") }
            }
        });
        let text = set.fetch().unwrap_err().to_string();
        assert!(text.starts_with("could not download ") && text.contains(what), "{to}: {text}");
        assert!(!set.path("data.csv.gz").exists() && !text.contains("root:"), "{to}: {text}");
        assert!(set.server.requests().len() < 30, "{to}");
    }
}

#[test]
fn a_server_that_never_stops_does_not_fill_the_disk() {
    // A length that is longer than the file, and one that does not fit the body.
    let set = Set::new(Digests::Known, |_| Reply::whole(&vec![0x1f; 5_000_000]));
    let text = set.fetch().unwrap_err().to_string();
    assert!(text.ends_with("the server sent more than the 200000 bytes of the file; they were deleted"));
    assert!(!set.path("data.csv.gz").exists() && !set.path("data.csv.gz.part").exists());
}

#[test]
fn a_link_in_the_cache_is_not_written_through() {
    use std::os::unix::fs::symlink;
    for name in ["data.csv.gz.part", ".lock"] {
        let set = Set::new(Digests::Known, good);
        let precious = set.places.cache.with_file_name("precious");
        fs::write(&precious, "kept").unwrap();
        fs::create_dir_all(set.path("")).unwrap();
        symlink(&precious, set.path(name)).unwrap();
        let text = set.fetch().unwrap_err().to_string();
        assert!(text.contains("symbolic link"), "{name}: {text}");
        assert_eq!(fs::read_to_string(&precious).unwrap(), "kept");
    }
    // A finished file may be a link, to save disk space: it is read through, and replaced if it is damaged.
    let set = Set::new(Digests::Known, good);
    let elsewhere = set.places.cache.with_file_name("elsewhere");
    fs::write(&elsewhere, "damaged").unwrap();
    fs::create_dir_all(set.path("")).unwrap();
    symlink(&elsewhere, set.path("data.csv.gz")).unwrap();
    set.fetch().unwrap();
    assert_eq!(fs::read(set.path("data.csv.gz")).unwrap(), content(1));
    assert_eq!(fs::read_to_string(&elsewhere).unwrap(), "damaged");
    // A whole folder may be a link too.
    let set = Set::new(Digests::Known, good);
    let disk = set.places.cache.with_file_name("disk");
    fs::create_dir_all(&disk).unwrap();
    fs::create_dir_all(set.places.downloads()).unwrap();
    symlink(&disk, set.places.downloads().join("made")).unwrap();
    set.fetch().unwrap();
    assert_eq!(fs::read(disk.join("data.csv.gz")).unwrap(), content(1));
}

#[test]
fn a_cache_that_cannot_be_written_says_what_to_do() {
    let mut set = Set::new(Digests::Known, good);
    // Even the superuser cannot make a folder below a file or in /proc.
    let file = set.places.cache.with_file_name("file");
    fs::write(&file, "").unwrap();
    for cache in [file.join("cache"), PathBuf::from("/proc/cache")] {
        set.places.cache = cache;
        let text = set.fetch().unwrap_err().to_string();
        assert!(text.starts_with("the cache cannot be written: "), "{text}");
        assert!(text.ends_with("; set GPBENCH_CACHE to a folder that can be written"), "{text}");
        assert_eq!(set.server.requests(), []);
    }
}

#[test]
fn no_name_leads_out_of_the_cache() {
    let set = Set::new(Digests::Known, good);
    let names = [
        "..",
        ".",
        "",
        "/etc/passwd",
        "a/b",
        "a\\b",
        "..\\x",
        "a\0b",
        ".hidden",
        "~",
        "a b",
        "ü",
        "a\nb",
        "-/..",
        "%2e%2e",
        "$HOME",
        "file:x",
        "a/../../b",
        "\u{202e}gz",
        "nul:",
        "x;rm",
        "`x`",
        "*",
    ];
    for name in names {
        let mut by_set = set.entry.clone();
        by_set.name = name.into();
        let mut by_file = set.entry.clone();
        by_file.files[1].name = name.into();
        for bad in [by_set, by_file] {
            let error = fetch::fetch(&bad, &set.places, &mut |_| {}).unwrap_err();
            assert!(matches!(error, FetchError::Name { .. }), "{name}: {error}");
        }
    }
    assert_eq!(set.server.requests(), []);
    assert!(!set.places.cache.exists());
}
