/* tables.c: the files, counters, rows and bins of one process, in memory of fixed size. */
#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "profile.h"

enum { max_paths = 8192, max_counts = 4096, max_rows = 8192, max_descriptors = 1 << 16 };
enum { text_bytes = 2 << 20, slots = 4 * max_paths }; /* slots: a power of two */
static const int64_t first_width = 1000000;           /* nanoseconds per bin */

/* Its untouched pages need no memory. */
static struct {
  int64_t n_paths, n_counts, n_rows, n_text, lost;
  uint32_t path_slots[slots], count_slots[slots], row_slots[slots];
  uint32_t path_starts[max_paths];
  char text[text_bytes];
  struct counts counts[max_counts];
  struct row rows[max_rows];
  struct descriptor descriptors[max_descriptors];
  struct heat heat[modules];
} *all;

int make_tables(void) {
  void *at = mmap(0, sizeof *all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return -1;
  all = at;
  all->text[0] = 0;
  memcpy(all->text + 1, "(other files)", sizeof "(other files)");
  all->path_starts[others] = 1;
  all->n_text = 1 + sizeof "(other files)";
  all->n_paths = 2; /* none, others */
  for (int i = 0; i < modules; ++i) all->heat[i].width = first_width;
  return 0;
}

void clear_tables(void) {
  memset(all->count_slots, 0, sizeof all->count_slots);
  memset(all->row_slots, 0, sizeof all->row_slots);
  memset(all->counts, 0, sizeof all->counts[0] * (size_t)all->n_counts);
  all->n_counts = all->n_rows = all->lost = 0;
  memset(all->heat, 0, sizeof all->heat);
  for (int i = 0; i < modules; ++i) all->heat[i].width = first_width;
}

static uint64_t mixed(uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

/* --- paths --- */

static int is_of_the_system(const char *path) {
  static const char *const places[] = {"/proc/", "/sys/", "/dev/",  "/etc/", "/usr/", "/lib",      "/bin/",
                                       "/sbin/", "/opt/", "/boot/", "/var/", "/run/", "/tmp/ompi."};
  for (size_t i = 0; i < sizeof places / sizeof places[0]; ++i)
    if (strncmp(path, places[i], strlen(places[i])) == 0) return 1;
  return 0;
}

int path_index(const char *path) {
  char whole[4096 + 256];
  if (path == 0 || path[0] == 0) return 0;
  size_t n = 0;
  if (path[0] != '/' && path[0] != '<') {
    if (getcwd(whole, sizeof whole / 2) == 0) return 0;
    n = strlen(whole);
    whole[n++] = '/';
  }
  const size_t length = strnlen(path, sizeof whole - n - 1);
  memcpy(whole + n, path, length);
  whole[n += length] = 0;
  if (is_of_the_system(whole)) return 0;
  uint64_t hash = 14695981039346656037u;
  for (size_t i = 0; i < n; ++i) hash = (hash ^ (unsigned char)whole[i]) * 1099511628211u;
  for (uint32_t at = (uint32_t)mixed(hash);; ++at) {
    uint32_t *slot = &all->path_slots[at & (slots - 1)];
    if (*slot != 0) {
      if (strcmp(all->text + all->path_starts[*slot], whole) == 0) return (int)*slot;
      continue;
    }
    if (all->n_paths == max_paths || all->n_text + (int64_t)n + 1 > text_bytes) return others;
    *slot = (uint32_t)all->n_paths;
    all->path_starts[*slot] = (uint32_t)all->n_text;
    memcpy(all->text + all->n_text, whole, n + 1);
    all->n_text += (int64_t)n + 1;
    return (int)all->n_paths++;
  }
}

const char *path_of(int index) { return all->text + all->path_starts[index]; }
int path_count(void) { return (int)all->n_paths; }

struct descriptor *descriptor_of(int fd) {
  return fd >= 0 && fd < max_descriptors && all->descriptors[fd].path != 0 ? &all->descriptors[fd] : 0;
}

void set_descriptor(int fd, int path, int appends) {
  if (fd >= 0 && fd < max_descriptors) all->descriptors[fd] = (struct descriptor){path, appends, 0};
}

/* --- counters --- */

/* The entry of this module and path; the entry for other files if the table is full. */
struct counts *counts_of(int module, int path) {
  for (uint32_t at = (uint32_t)mixed((uint64_t)path * modules + (uint64_t)module);; ++at) {
    uint32_t *slot = &all->count_slots[at & (slots - 1)];
    if (*slot != 0) {
      struct counts *found = &all->counts[*slot - 1];
      if (found->module == module && found->path == path) return found;
      continue;
    }
    if (all->n_counts >= max_counts - modules && path != others) { /* the last entries are reserved for other files */
      ++all->lost;
      return counts_of(module, others);
    }
    struct counts *made = &all->counts[all->n_counts++];
    *slot = (uint32_t)all->n_counts;
    made->module = module;
    made->path = path;
    made->last_way = -1;
    return made;
  }
}

static int class_of(int64_t bytes) {
  static const int64_t limits[] = {100, 1 << 10, 10 << 10, 100 << 10, 1 << 20, 4 << 20, 10 << 20, 100 << 20, 1 << 30};
  int at = 0;
  while (at < size_classes - 1 && bytes > limits[at]) ++at;
  return at;
}

/* Exact up to the number of entries; then a new value replaces the rarest one and inherits its count. */
static void count_value(struct common *common, int64_t value) {
  int least = 0;
  for (int i = 0; i < common_values; ++i) {
    if (common->count[i] == 0 || common->value[i] == value) {
      common->value[i] = value;
      ++common->count[i];
      return;
    }
    if (common->count[i] < common->count[least]) least = i;
  }
  common->value[least] = value;
  ++common->count[least];
}

static void add_heat(struct heat *heat, enum way way, int64_t start, int64_t end, int64_t bytes) {
  while (end >= heat->width * bins) {
    for (int w = 0; w < 2; ++w)
      for (int i = 0; i < bins; ++i)
        heat->bytes[w][i] = i < bins / 2 ? heat->bytes[w][2 * i] + heat->bytes[w][2 * i + 1] : 0;
    heat->width *= 2;
  }
  const int64_t first = start / heat->width, last = end / heat->width;
  int64_t given = 0;
  for (int64_t i = first; i <= last; ++i) { /* evenly over its time; in whole bytes, none lost */
    const int64_t until = i == last ? end : (i + 1) * heat->width;
    const int64_t up_to =
        i == last ? bytes : (int64_t)((double)bytes * (double)(until - start) / (double)(end - start));
    heat->bytes[way][i] += up_to - given;
    given = up_to;
  }
}

static void add_order(struct counts *counts, struct one_way *way, enum way which, int64_t offset, int64_t bytes) {
  const int64_t gap = offset - way->last_byte - 1;
  way->sequential += offset > way->last_byte;
  way->consecutive += gap == 0;
  if (way->calls > 0 && gap != 0) count_value(&counts->strides[which], gap < 0 ? -gap : gap);
  if (offset + bytes - 1 > way->max_byte) way->max_byte = offset + bytes - 1;
  way->last_byte = offset + bytes - 1;
  ++counts->powers[offset > 0 && __builtin_ctzll((uint64_t)offset) < powers - 1 ? __builtin_ctzll((uint64_t)offset)
                                                                                : powers - 1];
}

void add_access(int module, int path, enum way which, int64_t offset, int64_t bytes, const struct frame *frame) {
  struct counts *counts = counts_of(module, path);
  struct one_way *way = &counts->ways[which];
  const int64_t took = frame->end - frame->start;
  if (offset >= 0) add_order(counts, way, which, offset, bytes);
  counts->switches += counts->last_way >= 0 && counts->last_way != which;
  counts->last_way = which;
  if (way->calls == 0) way->first = frame->start;
  ++way->calls;
  way->bytes += bytes;
  ++way->sizes[class_of(bytes)];
  count_value(&counts->sizes, bytes);
  way->nanoseconds += took;
  way->last = frame->end;
  if (took > way->longest || way->calls == 1) {
    way->longest = took;
    way->longest_bytes = bytes;
  }
  add_heat(&all->heat[module], which, frame->start, frame->end, bytes);
}

void add_metadata(int module, int path, int counter, const struct frame *frame) {
  struct counts *counts = counts_of(module, path);
  counts->metadata += frame->end - frame->start;
  if (counter >= 0) ++counts->plain[counter];
}

void add_time(int module, int path, enum way which, const struct frame *frame) {
  struct one_way *way = &counts_of(module, path)->ways[which];
  way->nanoseconds += frame->end - frame->start;
  way->last = frame->end;
}

void add_sync(int module, int path, int counter, const struct frame *frame) {
  add_time(module, path, of_write, frame);
  ++counts_of(module, path)->plain[counter];
}

/* --- rows --- */

static struct row *row_of(const struct function *function, const void *site, int64_t path) {
  const uint64_t hash = mixed((word)function) ^ mixed((word)site + 1) ^ mixed((uint64_t)path + 2);
  for (uint32_t at = (uint32_t)mixed(hash);; ++at) {
    uint32_t *slot = &all->row_slots[at & (slots - 1)];
    if (*slot != 0) {
      struct row *found = &all->rows[*slot - 1];
      if (found->function == function && found->site == site && found->path == path) return found;
      continue;
    }
    if (all->n_rows == max_rows) return 0;
    if (all->n_rows > max_rows / 2 && path != others) return row_of(function, site, others);
    *slot = (uint32_t)++all->n_rows;
    all->rows[*slot - 1] = (struct row){function, site, path, 0, 0, INT64_MAX, 0, 0, 0, 0};
    return &all->rows[*slot - 1];
  }
}

void add_row(const struct frame *frame) {
  struct row *row = row_of(frame->function, frame->caller, frame->file);
  if (row == 0) {
    ++all->lost;
    return;
  }
  const int64_t took = frame->end - frame->start;
  const int layer = frame->bytes[1][of_read] + frame->bytes[1][of_write] > 0;
  ++row->calls;
  row->nanoseconds += took;
  if (took < row->shortest) row->shortest = took;
  if (took > row->longest) row->longest = took;
  row->read += frame->bytes[layer][of_read];
  row->written += frame->bytes[layer][of_write];
  row->below += frame->below;
}

struct tables all_tables(void) {
  return (struct tables){all->counts, all->rows, all->heat, all->n_counts, all->n_rows, all->lost};
}
