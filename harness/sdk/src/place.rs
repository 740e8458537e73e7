//! Where a panic happened. The standard library tells it to the hook alone, so a hook notes it for what catches the
//! panic.

use std::cell::RefCell;
use std::panic;
use std::sync::Once;

thread_local! {
    /// File and line of this thread's last panic.
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Notes the places of panics from now on. What was done at a panic before is still done.
pub(crate) fn watch() {
    static ONCE: Once = Once::new();
    // A thread that is panicking cannot change the hook.
    if ONCE.is_completed() || std::thread::panicking() {
        return;
    }
    ONCE.call_once(|| {
        let previous = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            put(panic.location().map(|place| format!("{}:{}", place.file(), place.line())));
            previous(panic);
        }));
    });
}

/// The place of this thread's last panic, once.
pub(crate) fn take() -> Option<String> {
    PLACE.try_with(RefCell::take).ok().flatten()
}

/// Makes `place` that of this thread's last panic, which came from another thread.
pub(crate) fn put(place: Option<String>) {
    // A thread that ends has no place left for it.
    let _ = PLACE.try_with(|last| last.replace(place));
}
