//! The shared memory.

use std::os::fd::AsRawFd;
use std::process::Command;

use gpbench_abi::Mat;
use gpbench_bridge_py::arena::{Arena, copy_matrix};
use gpbench_bridge_py::region::{Extent, FIRST, Region};

#[test]
fn it_cannot_change_its_size() {
    let arena = Arena::new(0).unwrap();
    for size in [0, arena.size() / 2, arena.size() * 2] {
        // SAFETY: a system call on numbers.
        let answer = unsafe { libc::ftruncate(arena.file().as_raw_fd(), size) };
        assert_eq!(answer, -1, "{size} bytes of {}", arena.size());
    }
}

#[test]
fn it_is_no_larger_than_the_limit_on_memory() {
    assert_eq!(Arena::new(64 << 20).unwrap().size(), 64 << 20);
    assert_eq!(Arena::new(1).unwrap().size(), 1 << 20, "the least that is of use");
}

#[test]
fn it_takes_up_no_memory_before_it_is_written() {
    let arena = Arena::new(0).unwrap();
    assert!(arena.size() >= 1 << 30, "as large as this computer's memory: {}", arena.size());
    // SAFETY: numbers, of which zero is a value, and a place to write to.
    let blocks = unsafe {
        let mut facts: libc::stat = std::mem::zeroed();
        libc::fstat(arena.file().as_raw_fd(), &mut facts);
        facts.st_blocks
    };
    assert_eq!(blocks, 0);
}

#[test]
fn matrices_are_copied_with_their_distance_between_columns() {
    let arena = Arena::new(0).unwrap();
    let size = arena.size();
    let region = Region::read([FIRST, 2, 3, 5], Extent::Any, Extent::Any, size, "x").unwrap();
    let data: Vec<f64> = (0..6).map(f64::from).collect();
    let from = Mat { data: data.as_ptr().cast_mut(), rows: 2, cols: 3, ld: 2 };
    let mut back = vec![0.0; 9];
    let to = Mat { data: back.as_mut_ptr(), rows: 2, cols: 3, ld: 3 };
    // SAFETY: matrices of the same shape inside their memory.
    unsafe {
        copy_matrix(&from, &arena.mat(&region));
        copy_matrix(&arena.mat(&region), &to);
    }
    assert_eq!(back, [0.0, 1.0, 0.0, 2.0, 3.0, 0.0, 4.0, 5.0, 0.0]);
    let column = Region::column(FIRST + 8 * 10, 2, size, "x").unwrap();
    assert_eq!(arena.numbers(&column), [4.0, 5.0], "the third column begins after two distances");
}

/// Run by the next test under a limit; prints the size of the arena.
#[test]
fn victim_of_limits() {
    println!("arena of {} bytes", Arena::new(0).unwrap().size());
}

#[test]
fn limits_of_files_and_addresses_make_it_smaller() {
    let program = std::env::current_exe().unwrap();
    // In units of 512 or 1024 bytes, as the shell counts.
    for (limit, least, most) in
        [("-f 100000", 1 << 20, 100_000 << 10), ("-v 4000000", 1 << 20, 1_000_000 << 10)]
    {
        let shell = format!(
            "ulimit {limit} && exec \"$0\" --exact arena::victim_of_limits --nocapture --test-threads 1"
        );
        let output = Command::new("sh").arg("-c").arg(shell).arg(&program).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        let size = text.split("arena of ").nth(1).and_then(|rest| rest.split(' ').next());
        let size: i64 =
            size.and_then(|size| size.parse().ok()).unwrap_or_else(|| panic!("{limit}: {output:?}"));
        assert!((least..=most).contains(&size), "{limit}: {size} bytes");
    }
}
