/* save.c: writes the profile of this process to a file; docs/profile.md describes the format. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frames.h"

static const char *const names[modules][plain_counters] = {
    {"OPENS", "DUPS", "SEEKS", "STATS", "MMAPS", "FSYNCS", "FDSYNCS"},
    {"OPENS", "FDOPENS", "SEEKS", "FLUSHES"},
    {"INDEP_OPENS", "COLL_OPENS", "SYNCS", "VIEWS", "INDEP_READS", "COLL_READS", "NB_READS", "SPLIT_READS",
     "INDEP_WRITES", "COLL_WRITES", "NB_WRITES", "SPLIT_WRITES"}};
static const char *const interface_names[interfaces] = {"POSIX", "STDIO", "MPI-IO", "HDF5", "netCDF", "PnetCDF"};
/* Variables that identify runs and their owners. */
static const char *const environment[] = {"SLURM_JOB_ID", "SLURM_STEP_ID", "PBS_JOBID",     "LSB_JOBID",
                                          "FLUX_JOB_ID",  "JOB_ID",        "PMIX_NAMESPACE"};

/* A file written in pieces, without allocating memory. */
struct out {
  int fd, failed;
  size_t n;
  char bytes[1 << 14];
};

static void flush(struct out *out) {
  for (size_t done = 0; done < out->n && !out->failed;) {
    const ssize_t n = write(out->fd, out->bytes + done, out->n - done);
    out->failed |= n <= 0;
    done += n > 0 ? (size_t)n : 0;
  }
  out->n = 0;
}

static void put(struct out *out, const void *bytes, size_t n) {
  for (const char *at = bytes; n > 0;) {
    if (out->n == sizeof out->bytes) flush(out);
    const size_t some = n < sizeof out->bytes - out->n ? n : sizeof out->bytes - out->n;
    memcpy(out->bytes + out->n, at, some);
    out->n += some;
    at += some;
    n -= some;
  }
}

/* The nonzero words: their number, and each with its index. */
static void put_words(struct out *out, const int64_t *words, int64_t n) {
  int64_t used = 0;
  for (int64_t i = 0; i < n; ++i) used += words[i] != 0;
  put(out, &used, sizeof used);
  for (int64_t i = 0; i < n; ++i)
    if (words[i] != 0) {
      put(out, &i, 2);
      put(out, &words[i], 8);
    }
}

__attribute__((format(printf, 2, 3))) static void say(struct out *out, const char *format, ...) {
  char text[512];
  va_list list;
  va_start(list, format);
  const int n = vsnprintf(text, sizeof text, format, list);
  va_end(list);
  if (n > 0) put(out, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
}

/* As JSON. Bytes that are not ASCII become \\u00.. and are converted back by the reader. */
static void quote(struct out *out, const char *text, size_t n) {
  put(out, "\"", 1);
  for (size_t i = 0; i < n; ++i) {
    const unsigned char c = (unsigned char)text[i];
    if (c == '"' || c == '\\' || c < 0x20 || c >= 0x7f)
      say(out, "\\u%04x", c);
    else
      put(out, &text[i], 1);
  }
  put(out, "\"", 1);
}

static void quote_text(struct out *out, const char *text) { quote(out, text, strlen(text)); }

static void command_line(struct out *out) {
  char text[4096];
  const int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text);
  if (fd >= 0) close(fd);
  while (n > 0 && text[n - 1] == 0) --n;
  for (ssize_t i = 0; i < n; ++i)
    if (text[i] == 0) text[i] = ' ';
  quote(out, text, n > 0 ? (size_t)n : 0);
}

static void about(struct out *out, int last, const struct tables *tables) {
  char host[256] = "", folder[4096] = "", executable[4096];
  const ssize_t n = readlink("/proc/self/exe", executable, sizeof executable);
  gethostname(host, sizeof host - 1);
  if (getcwd(folder, sizeof folder) == 0) folder[0] = 0;
  say(out, "{\"schema\":\"penstock.profile/1\",\"program\":");
  command_line(out);
  say(out, ",\"executable\":");
  quote(out, executable, n > 0 ? (size_t)n : 0);
  say(out, ",\"folder\":");
  quote_text(out, folder);
  say(out, ",\"host\":");
  quote_text(out, host);
  say(out,
      ",\"pid\":%d,\"parent\":%d,\"rank\":%d,\"ranks\":%d,\"mpi\":%s,\"start\":%lld,\"nanoseconds\":%lld,\"ended\":%s",
      this_process.pid, getppid(), this_process.rank, this_process.ranks, this_process.by_mpi ? "true" : "false",
      (long long)this_process.begin, (long long)now(), last ? "true" : "false");
  say(out, ",\"calls\":%lld,\"io\":%lld,\"recorder\":%lld,\"lost\":%lld,\"environment\":{",
      (long long)this_process.calls, (long long)this_process.io, (long long)this_process.recorder,
      (long long)tables->lost);
  const char *between = "";
  for (size_t i = 0; i < sizeof environment / sizeof environment[0]; ++i) {
    const char *value = getenv(environment[i]);
    if (value == 0) continue;
    say(out, "%s\"%s\":", between, environment[i]);
    quote_text(out, value);
    between = ",";
  }
  say(out, "},\"counters\":[");
  for (int m = 0; m < modules; ++m) {
    say(out, m == 0 ? "[" : ",[");
    for (int i = 0; i < plain_counters && names[m][i] != 0; ++i) say(out, i == 0 ? "\"%s\"" : ",\"%s\"", names[m][i]);
    say(out, "]");
  }
  say(out, "],\"paths\":[");
  for (int i = 0; i < path_count(); ++i) {
    if (i > 0) put(out, ",", 1);
    quote_text(out, i == 0 ? "" : path_of(i));
  }
  say(out, "],\"rows\":[");
  for (int64_t i = 0; i < tables->n_rows; ++i) {
    const struct row *row = &tables->rows[i];
    const struct place place = place_of(row->site);
    say(out, i == 0 ? "[" : ",[");
    quote_text(out, row->function->name);
    say(out, ",\"%s\",", interface_names[row->function->interface]);
    quote_text(out, place.object);
    say(out, ",%llu,", (unsigned long long)place.offset);
    quote_text(out, place.symbol);
    say(out, ",%lld,%lld,%lld,%lld,%lld,%lld,%lld,%lld]", (long long)row->path, (long long)row->calls,
        (long long)row->nanoseconds, (long long)row->shortest, (long long)row->longest, (long long)row->read,
        (long long)row->written, (long long)row->below);
  }
  say(out, "]}");
}

/* No other user of the folder reads a partial file. */
void write_profile(int last) {
  const char *folder = getenv("PENSTOCK_PROFILE_DIR");
  char host[64] = "", path[4096], partial[4096 + 16];
  if (folder == 0) return;
  gethostname(host, sizeof host - 1);
  for (char *c = host; *c != 0; ++c)
    if (*c == '/') *c = '_';
  snprintf(path, sizeof path, "%s/rank%06d-%s-%d.profile", folder, this_process.rank, host, this_process.pid);
  snprintf(partial, sizeof partial, "%s.partial", path);
  struct out out;
  out.fd = open(partial, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  out.failed = 0;
  out.n = 0;
  if (out.fd < 0) return;
  const struct tables tables = all_tables();
  const int64_t heads[3] = {tables.n_counts, sizeof(struct counts) / 8, sizeof(struct heat) / 8};
  put(&out, "PENSPRF\1", 8);
  put(&out, heads, sizeof heads);
  for (int64_t i = 0; i < tables.n_counts; ++i) put_words(&out, (const int64_t *)&tables.counts[i], heads[1]);
  for (int m = 0; m < modules; ++m) put_words(&out, (const int64_t *)&tables.heat[m], heads[2]);
  about(&out, last, &tables);
  flush(&out);
  if (close(out.fd) != 0 || out.failed || rename(partial, path) != 0) unlink(partial);
}
