/* content.h: what the tests of streams write: lengths near edges of blocks and chunks, bytes that show their place. */
#ifndef PENSTOCK_TESTS_CONTENT_H
#define PENSTOCK_TESTS_CONTENT_H

#include <stdint.h>
#include <stdlib.h>

/* The length of STREAM: nothing, around a block, around the default chunk, and several chunks. */
static inline int64_t content_bytes(int64_t stream, int64_t version) {
  static const int64_t lengths[] = {100000, 0, 4096, 1, (3 << 20) + 17, 4095, 4097, 1 << 20};
  return lengths[(stream + 3 * version) % 8];
}

static inline unsigned char content_byte(int64_t stream, int64_t version, int64_t at) {
  const uint64_t x =
      ((uint64_t)at + 1) * 0x9E3779B97F4A7C15u + (uint64_t)(stream * 1000 + version) * 0xBF58476D1CE4E5B9u;
  return (unsigned char)(x >> 37);
}

/* All of STREAM; free it. */
static inline unsigned char *content(int64_t stream, int64_t version) {
  const int64_t bytes = content_bytes(stream, version);
  unsigned char *data = malloc((size_t)bytes + 1);
  for (int64_t i = 0; i < bytes; i++) data[i] = content_byte(stream, version, i);
  return data;
}

#endif
