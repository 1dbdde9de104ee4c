//! Functions that WebAssembly exports: the page writes a request into memory and reads the answer.

/// Reserves `len` bytes for a request.
#[unsafe(no_mangle)]
pub extern "C" fn reserve(len: usize) -> *mut u8 {
    Box::into_raw(vec![0u8; len].into_boxed_slice()).cast()
}

/// Answers the request in the bytes that [`reserve`] returned, and frees them. The answer begins with its length, 32 bits in little
/// endian. [`release`] frees it.
///
/// # Safety
/// `request` is from [`reserve`] with the same `len`, and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn answer(request: *mut u8, len: usize) -> *mut u8 {
    // SAFETY: by the contract, the bytes are a boxed slice of this length.
    let request = unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(request, len)) };
    let answer = crate::answer(&String::from_utf8_lossy(&request));
    let mut bytes = Vec::with_capacity(4 + answer.len());
    bytes.extend((answer.len() as u32).to_le_bytes());
    bytes.extend(answer.as_bytes());
    Box::into_raw(bytes.into_boxed_slice()).cast()
}

/// Frees an answer with a text of `len` bytes.
///
/// # Safety
/// `answer` is from [`answer`], begins with this length, and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn release(answer: *mut u8, len: usize) {
    // SAFETY: by the contract, the bytes are a boxed slice of the length and the text.
    drop(unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(answer, 4 + len)) });
}
