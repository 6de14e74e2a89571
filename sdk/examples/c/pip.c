#define IMPORT(n) __attribute__((import_module("companion_v1"), import_name(n)))
IMPORT("read")  void host_read(void *dst);
IMPORT("write") void host_write(const void *src, unsigned len);

static char in[0x100000];

static int has(const char *word) {
  for (const char *p = in; *p; p++)
    for (int i = 0; p[i] == word[i]; i++)
      if (!word[i + 1]) return 1;
  return 0;
}

static int reply(const char *s, int failed) {
  unsigned len = 0;
  while (s[len]) len++;
  host_write(s, len);
  return failed;
}

__attribute__((export_name("companion_v1_call"))) int companion_v1_call(unsigned n) {
  if (n >= sizeof in) return reply("{\"error\":{\"code\":\"too_large\",\"message\":\"request\"}}", 1);
  host_read(in);
  in[n] = 0;
  if (has("\"op\":\"describe\""))
    return reply("{\"ok\":{\"abi\":\"1\",\"name\":\"Pip\",\"ops\":[\"describe\",\"vote\",\"speak\"]}}", 0);
  if (has("\"op\":\"vote\"") && has("\"addressed\":true"))
    return reply("{\"ok\":{\"state\":\"speak\",\"importance\":7}}", 0);
  if (has("\"op\":\"vote\""))
    return reply("{\"ok\":{\"state\":\"listen\",\"importance\":0}}", 0);
  if (has("\"op\":\"speak\""))
    return reply("{\"ok\":{\"text\":\"Hello from C!\"}}", 0);
  return reply("{\"error\":{\"code\":\"unknown_op\",\"message\":\"not one of mine\"}}", 1);
}
