//! Pip in Rust, without crates.

#[link(wasm_import_module = "companion_v1")]
extern "C" {
    fn read(dst: *mut u8);
    fn write(src: *const u8, len: usize);
}

fn answer(request: &str) -> Result<&'static str, &'static str> {
    let has = |word: &str| request.contains(word);
    if has(r#""op":"describe""#) {
        Ok(r#"{"ok":{"abi":"1","name":"Pip","ops":["describe","vote","speak"]}}"#)
    } else if has(r#""op":"vote""#) && has(r#""addressed":true"#) {
        Ok(r#"{"ok":{"state":"speak","importance":7}}"#)
    } else if has(r#""op":"vote""#) {
        Ok(r#"{"ok":{"state":"listen","importance":0}}"#)
    } else if has(r#""op":"speak""#) {
        Ok(r#"{"ok":{"text":"Hello from Rust!"}}"#)
    } else {
        Err(r#"{"error":{"code":"unknown_op","message":"not one of mine"}}"#)
    }
}

#[no_mangle]
pub extern "C" fn companion_v1_call(n: usize) -> i32 {
    let mut request = vec![0; n];
    unsafe { read(request.as_mut_ptr()) };
    let (reply, status) = match answer(&String::from_utf8_lossy(&request)) {
        Ok(reply) => (reply, 0),
        Err(reply) => (reply, 1),
    };
    unsafe { write(reply.as_ptr(), reply.len()) };
    status
}
