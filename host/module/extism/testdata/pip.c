// Pip in C against Extism's functions, without a PDK.

typedef unsigned long long u64;

#define IMPORT(name) __attribute__((import_module("extism:host/env"), import_name(name)))
#define EXPORT(name) __attribute__((export_name(name)))

IMPORT("input_length") u64 input_length(void);
IMPORT("input_load_u8") unsigned char input_load(u64 at);
IMPORT("alloc") u64 alloc(u64 n);
IMPORT("store_u8") void store(u64 at, unsigned char b);
IMPORT("output_set") void output_set(u64 at, u64 n);

static int output(const char *text) {
  u64 n = 0;
  while (text[n]) n++;
  u64 at = alloc(n);
  for (u64 k = 0; k < n; k++) store(at + k, text[k]);
  output_set(at, n);
  return 0;
}

static int has(const char *part) {
  u64 all = input_length();
  for (u64 at = 0; at < all; at++) {
    u64 k = 0;
    while (part[k] && at + k < all && input_load(at + k) == (unsigned char)part[k]) k++;
    if (!part[k]) return 1;
  }
  return 0;
}

EXPORT("vote") int vote(void) {
  return output(has("\"addressed\":true") ? "{\"state\":\"speak\",\"importance\":7}" : "{\"state\":\"listen\",\"importance\":0}");
}

EXPORT("speak") int speak(void) { return output("Hello from C!"); }
