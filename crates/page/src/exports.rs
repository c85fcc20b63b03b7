//! Functions that a page calls: allocate space for a request, answer the request, and locate the answer. The code is
//! safe; only the attributes that export the names count as unsafe.

use crate::Lab;
use std::cell::RefCell;

thread_local! {
    static LAB: RefCell<Lab> = RefCell::new(Lab::new());
    static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Allocates space for a request of `length` bytes in UTF-8. Returns the address of the space.
#[expect(unsafe_code, reason = "an exported name")]
#[unsafe(no_mangle)]
pub extern "C" fn request(length: usize) -> *mut u8 {
    BUFFER.with_borrow_mut(|buffer| {
        buffer.clear();
        buffer.resize(length, 0);
        buffer.as_mut_ptr()
    })
}

/// Answers the request. The answer replaces the request in memory. Returns the length of the answer, bytes.
#[expect(unsafe_code, reason = "an exported name")]
#[unsafe(no_mangle)]
pub extern "C" fn answer() -> usize {
    let request = BUFFER.take();
    let answer = LAB.with_borrow_mut(|lab| lab.answer(&String::from_utf8_lossy(&request)));
    let length = answer.len();
    BUFFER.set(answer);
    length
}

/// Returns the address of the answer.
#[expect(unsafe_code, reason = "an exported name")]
#[unsafe(no_mangle)]
pub extern "C" fn at() -> *const u8 {
    BUFFER.with_borrow(|buffer| buffer.as_ptr())
}
