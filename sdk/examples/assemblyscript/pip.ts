// Pip in AssemblyScript.

@external("companion_v1", "read")
declare function read(dst: usize): void;
@external("companion_v1", "write")
declare function write(src: usize, len: i32): void;

function reply(text: string, status: i32): i32 {
  const bytes = String.UTF8.encode(text);
  write(changetype<usize>(bytes), bytes.byteLength);
  return status;
}

export function companion_v1_call(n: i32): i32 {
  const bytes = new ArrayBuffer(n);
  read(changetype<usize>(bytes));
  const request = String.UTF8.decode(bytes);
  if (request.includes('"op":"describe"'))
    return reply('{"ok":{"abi":"1","name":"Pip","ops":["describe","vote","speak"]}}', 0);
  if (request.includes('"op":"vote"'))
    return request.includes('"addressed":true')
      ? reply('{"ok":{"state":"speak","importance":7}}', 0)
      : reply('{"ok":{"state":"listen","importance":0}}', 0);
  if (request.includes('"op":"speak"'))
    return reply('{"ok":{"text":"Hello from AssemblyScript!"}}', 0);
  return reply('{"error":{"code":"unknown_op","message":"not one of mine"}}', 1);
}
