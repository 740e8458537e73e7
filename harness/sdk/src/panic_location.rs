//! Location of a panic. The standard library passes it to the panic hook alone, so a hook stores it for the code that
//! catches the panic.

use std::cell::RefCell;
use std::panic;
use std::sync::Once;

thread_local! {
    /// File and line of this thread's last panic.
    static LOCATION: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Stores the locations of panics from now on. The earlier hook is still called.
pub(crate) fn install_hook() {
    static ONCE: Once = Once::new();
    // A thread that is panicking cannot change the hook.
    if ONCE.is_completed() || std::thread::panicking() {
        return;
    }
    ONCE.call_once(|| {
        let previous = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            put(panic.location().map(|location| format!("{}:{}", location.file(), location.line())));
            previous(panic);
        }));
    });
}

/// Takes the location of this thread's last panic.
pub(crate) fn take() -> Option<String> {
    LOCATION.try_with(RefCell::take).ok().flatten()
}

/// Sets the location of this thread's last panic, which came from another thread.
pub(crate) fn put(location: Option<String>) {
    // A thread that ends has destroyed the variable.
    let _ = LOCATION.try_with(|last| last.replace(location));
}
