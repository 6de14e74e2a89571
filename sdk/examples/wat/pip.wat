;; Pip in WebAssembly text. Build it with: wat2wasm pip.wat -o pip.wasm
(module
  (import "companion_v1" "read" (func $read (param i32)))
  (import "companion_v1" "write" (func $write (param i32 i32)))
  (memory (export "memory") 80)

  ;; Words end with a zero. Replies are written with their length.
  (data (i32.const 16) "\"op\":\"describe\"\00")
  (data (i32.const 48) "\"op\":\"vote\"\00")
  (data (i32.const 80) "\"op\":\"speak\"\00")
  (data (i32.const 112) "\"addressed\":true\00")
  (data (i32.const 256) "{\"ok\":{\"abi\":\"1\",\"name\":\"Pip\",\"ops\":[\"describe\",\"vote\",\"speak\"]}}")
  (data (i32.const 384) "{\"ok\":{\"state\":\"speak\",\"importance\":7}}")
  (data (i32.const 448) "{\"ok\":{\"state\":\"listen\",\"importance\":0}}")
  (data (i32.const 512) "{\"ok\":{\"text\":\"Hello from WAT!\"}}")
  (data (i32.const 576) "{\"error\":{\"code\":\"unknown_op\",\"message\":\"not one of mine\"}}")
  (data (i32.const 704) "{\"error\":{\"code\":\"too_large\",\"message\":\"request\"}}")
  (global $in i32 (i32.const 65536))

  ;; has says whether the request contains a word.
  (func $has (param $word i32) (result i32)
    (local $p i32) (local $i i32)
    (local.set $p (global.get $in))
    (block $no
      (loop $next
        (br_if $no (i32.eqz (i32.load8_u (local.get $p))))
        (local.set $i (i32.const 0))
        (block $other
          (loop $letter
            (if (i32.eqz (i32.load8_u (i32.add (local.get $word) (local.get $i))))
              (then (return (i32.const 1))))
            (br_if $other (i32.ne
              (i32.load8_u (i32.add (local.get $word) (local.get $i)))
              (i32.load8_u (i32.add (local.get $p) (local.get $i)))))
            (local.set $i (i32.add (local.get $i) (i32.const 1)))
            (br $letter)))
        (local.set $p (i32.add (local.get $p) (i32.const 1)))
        (br $next)))
    (i32.const 0))

  (func (export "companion_v1_call") (param $n i32) (result i32)
    (if (i32.ge_u (local.get $n) (i32.const 5111808)) ;; the rest of the memory
      (then (call $write (i32.const 704) (i32.const 50)) (return (i32.const 1))))
    (call $read (global.get $in))
    (i32.store8 (i32.add (global.get $in) (local.get $n)) (i32.const 0))
    (if (call $has (i32.const 16))
      (then (call $write (i32.const 256) (i32.const 65)) (return (i32.const 0))))
    (if (i32.and (call $has (i32.const 48)) (call $has (i32.const 112)))
      (then (call $write (i32.const 384) (i32.const 39)) (return (i32.const 0))))
    (if (call $has (i32.const 48))
      (then (call $write (i32.const 448) (i32.const 40)) (return (i32.const 0))))
    (if (call $has (i32.const 80))
      (then (call $write (i32.const 512) (i32.const 33)) (return (i32.const 0))))
    (call $write (i32.const 576) (i32.const 59))
    (i32.const 1)))
