// The C ABI of files, their datasets and attributes.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <penstock/file.hpp>
#include <penstock/mpi.hpp>
#include <penstock/timeout.hpp>

#include "bindings/c/border.hpp"
#include "bindings/c/decomposition.hpp"
#include "bindings/c/file.hpp"

namespace {

using penstock::Code;
using penstock::Decomposition;
using penstock::Dims;
using penstock::ElementType;
using penstock::Kind;
using penstock::Result;
using penstock::Status;
using penstock::c::border;
using penstock::c::communicator;
using penstock::c::dims;
using penstock::c::last_message;
using penstock::c::make_with;
using penstock::c::null;
using penstock::c::or_empty;

constexpr int text_base = 0x1000000;

// Same as border, for calls whose errors must not be lost: the commit fails with their error, on all ranks.
template <typename Body>
penstock_status remembered(penstock_file* file, Body body) noexcept {
  const penstock_status status = border(body);
  if (status == PENSTOCK_OK || file == nullptr) return status;
  return border([&]() -> Status {
    Status failure(static_cast<Code>(status), last_message());
    file->file.remember_failure(failure);
    return failure;
  });
}

// The names of the datasets. Names that were returned before stay at their addresses.
const std::vector<const std::string*>& list_of(penstock_file& file) {
  if (file.listed == file.file.publications()) return file.list;
  file.list.clear();
  for (penstock::DatasetInfo& info : file.file.datasets())
    file.list.push_back(&*file.names.insert(std::move(info.name)).first);
  file.listed = file.file.publications();
  return file.list;
}

Result<ElementType> element_type(penstock_type type) {
  const int word = static_cast<int>(type);
  if (word >= 0 && word < static_cast<int>(Kind::text)) return ElementType{static_cast<Kind>(word)};
  if (word > text_base && word <= text_base + (1 << 24)) return ElementType{Kind::text, word - text_base};
  return Status(Code::invalid, fmt::format("{} is no penstock_type", word));
}

penstock_type c_type(const ElementType& type) {
  return static_cast<penstock_type>(type.kind == Kind::text ? text_base + static_cast<int>(type.text_bytes)
                                                            : static_cast<int>(type.kind));
}

Result<penstock::Memory> memory_of(const Decomposition& part, const penstock_memory* memory) {
  if (memory == nullptr) return penstock::Memory{};
  const bool rows = part.form() == Decomposition::Form::ragged || part.form() == Decomposition::Form::per_rank;
  const int rank = part.shape().rank() + (rows ? 1 : 0);
  if (memory->stride != nullptr) {
    PENSTOCK_ASSIGN(const Dims stride, dims(rank, memory->stride, "memory.stride"));
    return penstock::Memory::strided(stride);
  }
  PENSTOCK_ASSIGN(const Dims shape, dims(rank, memory->shape, "memory.shape"));
  PENSTOCK_ASSIGN(const Dims start, dims(rank, memory->start, "memory.start"));
  Dims count = part.shape();
  if (rows) {
    count = Dims{part.form() == Decomposition::Form::ragged ? part.rows() : 1};
    for (const int64_t extent : part.shape()) count.push_back(extent);
  } else if (part.form() == Decomposition::Form::boxes) {
    count = part.box_list().empty() ? Dims::filled(rank, 0) : part.box_list()[0].count;
  }
  for (int d = 0; d < rank; ++d)
    if (start[d] < 0 || shape[d] < 0 || start[d] > shape[d] || count[d] > shape[d] - start[d])
      return Status(Code::invalid, fmt::format("memory: a block of {} at {} leaves an array of {} in dimension {}",
                                               count[d], start[d], shape[d], d));
  return penstock::Memory::inside(shape, start);
}

Result<std::vector<std::string>> texts_of(int64_t count, const char* const* texts, const char* what) {
  if (texts == nullptr && count > 0) return null(what);
  std::vector<std::string> list;
  for (int64_t i = 0; i < count; ++i) {
    if (texts[i] == nullptr) return null(fmt::format("one of {}", what).c_str());
    list.emplace_back(texts[i]);
  }
  return list;
}

using Opener = Result<penstock::File> (*)(const penstock::Communicator&, std::string, std::string_view);

penstock_status open_with(Opener opener, penstock_comm comm, const char* path, const char* plan, penstock_file** file) {
  return make_with(comm, path, file, "file", [&](const penstock::Communicator& ranks, const char* where) {
    return opener(ranks, where, or_empty(plan));
  });
}

Status check_data(penstock_file* file, const char* name, const penstock_decomposition* d) {
  if (file == nullptr) return null("file");
  if (name == nullptr) return null("name");
  if (d == nullptr) return null("decomposition");
  return {};
}

template <typename Call>
penstock_status data_call(penstock_file* file, const char* name, penstock_type type, const penstock_decomposition* d,
                          const penstock_memory* memory, Call call) {
  return remembered(file, [&]() -> Status {
    PENSTOCK_TRY(check_data(file, name, d));
    PENSTOCK_ASSIGN(const ElementType element, element_type(type));
    PENSTOCK_ASSIGN(const auto layout, memory_of(d->value, memory));
    return call(element, layout);
  });
}

template <typename Call>
penstock_status named_call(penstock_file* file, const char* name, Call call) {
  return remembered(file, [&]() -> Status {
    if (file == nullptr || name == nullptr) return null("file or name");
    return call(file->file);
  });
}

}  // namespace

extern "C" {

penstock_status penstock_create(penstock_comm comm, const char* path, const char* plan, penstock_file** file) {
  return open_with(&penstock::File::create, comm, path, plan, file);
}

penstock_status penstock_open(penstock_comm comm, const char* path, const char* plan, penstock_file** file) {
  return open_with(&penstock::File::open, comm, path, plan, file);
}

penstock_status penstock_open_latest(penstock_comm comm, const char* pattern, const char* plan, penstock_file** file) {
  return open_with(&penstock::File::open_latest, comm, pattern, plan, file);
}

penstock_status penstock_reopen(penstock_comm comm, const char* path, const char* plan, penstock_file** file) {
  return open_with(&penstock::File::reopen, comm, path, plan, file);
}

penstock_status penstock_copy(penstock_comm comm, const char* from, const char* to, const char* plan) {
  return border([&]() -> Status {
    PENSTOCK_ASSIGN(const auto ranks, communicator(comm, to));
    return penstock::File::copy(ranks, or_empty(from), or_empty(to), or_empty(plan));
  });
}

penstock_status penstock_clone(penstock_comm comm, const char* template_path, const char* path, const char* plan,
                               penstock_file** file) {
  const auto clone = [&](const penstock::Communicator& ranks, const char* where) -> Result<penstock::File> {
    const bool named = template_path != nullptr && path != nullptr;
    auto cloned =
        penstock::File::clone(ranks, named && file != nullptr ? template_path : "", named ? where : "", or_empty(plan));
    return named ? std::move(cloned) : null(path == nullptr ? "path" : "template_path");
  };
  return make_with(comm, path, file, "file", clone);
}

penstock_status penstock_verify(penstock_comm comm, const char* path) {
  return border([&]() -> Status {
    PENSTOCK_ASSIGN(const auto ranks, communicator(comm, path));
    PENSTOCK_ASSIGN(penstock::File file, penstock::File::open_to_check(ranks, or_empty(path)));
    PENSTOCK_ASSIGN(const penstock::Verification found, file.verify());
    PENSTOCK_TRY(file.close());
    return found.verdict(file.path());
  });
}

penstock_status penstock_repair(penstock_comm comm, const char* path) {
  return border([&]() -> Status {
    PENSTOCK_ASSIGN(const auto ranks, communicator(comm, path));
    return penstock::File::repair(ranks, or_empty(path)).status();
  });
}

penstock_status penstock_seal(penstock_comm comm, const char* path, int force) {
  return border([&]() -> Status {
    PENSTOCK_ASSIGN(const auto ranks, communicator(comm, path));
    return penstock::File::seal(ranks, or_empty(path), force != 0).status();
  });
}

penstock_status penstock_split([[maybe_unused]] penstock_comm comm, penstock_comm* compute) {
  return border([&]() -> Status {
    if (compute == nullptr) return null("compute");
#if PENSTOCK_HAVE_MPI
    return penstock::split_servers(comm, compute);
#else
    return {Code::unsupported, "server ranks need a build with MPI: servers:kind=node works without"};
#endif
  });
}

penstock_status penstock_unsplit(penstock_comm* compute) {
  return border([&]() -> Status {
    if (compute == nullptr) return null("compute");
#if PENSTOCK_HAVE_MPI
    return penstock::unsplit_servers(compute);
#else
    return {Code::unsupported, "server ranks need a build with MPI: servers:kind=node works without"};
#endif
  });
}

penstock_status penstock_commit(penstock_file* file) {
  return border([&] { return file == nullptr ? null("file") : file->file.commit(); });
}

penstock_status penstock_commit_start(penstock_file* file) {
  return border([&] { return file == nullptr ? null("file") : file->file.commit_start(); });
}

penstock_status penstock_commit_test(penstock_file* file, int* done) {
  return border([&]() -> Status {
    if (file == nullptr) return null("file");
    if (done == nullptr) return null("done");
    *done = 1;
    PENSTOCK_ASSIGN(const bool finished, file->file.commit_test());
    *done = finished ? 1 : 0;
    return {};
  });
}

penstock_status penstock_commit_wait(penstock_file* file) {
  return border([&] { return file == nullptr ? null("file") : file->file.commit_wait(); });
}

penstock_status penstock_close(penstock_file* file) {
  return border([&]() -> Status {
    if (file == nullptr) return null("file");
    const std::unique_ptr<penstock_file> owned(file);
    return owned->file.close();
  });
}

penstock_status penstock_close_restart(penstock_file* file, const char* pattern, int64_t retain) {
  return border([&]() -> Status {
    if (file == nullptr) return null("file");
    const std::unique_ptr<penstock_file> owned(file);
    return owned->file.close_restart(or_empty(pattern), retain);
  });
}

void penstock_abandon(penstock_file* file) { delete file; }

penstock_status penstock_put(penstock_file* file, const char* name, penstock_type type, const penstock_decomposition* d,
                             const void* data, const penstock_memory* memory) {
  return data_call(file, name, type, d, memory, [&](const ElementType& t, const penstock::Memory& m) {
    return file->file.put(name, t, d->value, data, m);
  });
}

penstock_status penstock_lend(penstock_file* file, const char* name, penstock_type type,
                              const penstock_decomposition* d, const void* data, const penstock_memory* memory) {
  return data_call(file, name, type, d, memory, [&](const ElementType& t, const penstock::Memory& m) {
    return file->file.lend(name, t, d->value, data, m);
  });
}

penstock_status penstock_get(penstock_file* file, const char* name, penstock_type type, const penstock_decomposition* d,
                             void* data, const penstock_memory* memory) {
  return data_call(file, name, type, d, memory, [&](const ElementType& t, const penstock::Memory& m) {
    return file->file.get(name, t, d->value, data, m);
  });
}

penstock_status penstock_get_widened(penstock_file* file, const char* name, penstock_type type,
                                     const penstock_decomposition* d, void* data, const penstock_memory* memory) {
  return data_call(file, name, type, d, memory, [&](const ElementType& t, const penstock::Memory& m) {
    return file->file.get_widened(name, t, d->value, data, m);
  });
}

penstock_status penstock_dimensions(penstock_file* file, const char* name, int count, const char* const* dimensions) {
  return named_call(file, name, [&](penstock::File& of) -> Status {
    if (count < 0) return {Code::invalid, fmt::format("{} dimensions: the number cannot be negative", count)};
    PENSTOCK_ASSIGN(const auto list, texts_of(count, dimensions, "dimensions"));
    return of.set_dimensions(name, list);
  });
}

penstock_status penstock_group(penstock_file* file, const char* name) {
  return named_call(file, name, [&](penstock::File& of) { return of.make_group(name); });
}

penstock_status penstock_remove(penstock_file* file, const char* name) {
  return named_call(file, name, [&](penstock::File& of) { return of.remove(name); });
}

penstock_status penstock_dataset_option(penstock_file* file, const char* name, const char* options) {
  return named_call(file, name, [&](penstock::File& of) -> Status {
    if (options == nullptr) return null("options");
    return of.set_options(name, options);
  });
}

penstock_status penstock_unlimited(penstock_file* file, const char* name) {
  return named_call(file, name, [&](penstock::File& of) { return of.set_unlimited(name); });
}

penstock_status penstock_partial(penstock_file* file, int partial) {
  return remembered(file, [&]() -> Status {
    if (file == nullptr) return null("file");
    file->file.set_partial(partial != 0);
    return {};
  });
}

penstock_status penstock_xdmf(penstock_file* file, int xdmf) {
  return remembered(file, [&]() -> Status {
    if (file == nullptr) return null("file");
    file->file.set_xdmf(xdmf != 0);
    return {};
  });
}

penstock_status penstock_conventions(penstock_file* file, const char* convention) {
  return remembered(file, [&]() -> Status {
    if (file == nullptr) return null("file");
    if (convention == nullptr) return null("convention");
    return file->file.set_conventions(convention);
  });
}

penstock_status penstock_capture_bytes(penstock_file* file, int64_t bytes) {
  return remembered(file, [&]() -> Status {
    if (file == nullptr) return null("file");
    if (bytes < 0) return {Code::invalid, fmt::format("capture_bytes {} is negative", bytes)};
    file->file.set_capture_bytes(bytes);
    return {};
  });
}

penstock_status penstock_fail(penstock_file* file, penstock_status status, const char* message) {
  return remembered(file, [&]() -> Status {
    if (message == nullptr) return null("message");
    if (status <= PENSTOCK_OK || status > PENSTOCK_INTERNAL)
      return {Code::invalid, fmt::format("{} is no status of a failure", static_cast<int>(status))};
    return {static_cast<Code>(status), message};
  });
}

penstock_status penstock_attribute(penstock_file* file, const char* object, const char* name, const char* text) {
  return remembered(file, [&]() -> Status {
    if (file == nullptr || object == nullptr || name == nullptr || text == nullptr)
      return null("file, object, name or text");
    return file->file.set_attribute(object, penstock::text_attribute(name, text));
  });
}

penstock_status penstock_attribute_array(penstock_file* file, const char* object, const char* name, penstock_type type,
                                         int64_t count, const void* values) {
  return remembered(file, [&]() -> Status {
    if (file == nullptr || object == nullptr || name == nullptr) return null("file, object or name");
    if (values == nullptr && count != 0) return null("values");
    PENSTOCK_ASSIGN(const ElementType element, element_type(type));
    return file->file.set_attribute(object, penstock::make_attribute(name, element, values, count));
  });
}

penstock_status penstock_attribute_texts(penstock_file* file, const char* object, const char* name, int64_t count,
                                         const char* const* texts) {
  return remembered(file, [&]() -> Status {
    if (file == nullptr || object == nullptr || name == nullptr) return null("file, object or name");
    if (count < 0) return {Code::invalid, fmt::format("{} texts: the number cannot be negative", count)};
    PENSTOCK_ASSIGN(const auto list, texts_of(count, texts, "texts"));
    return file->file.set_attribute(object, penstock::text_attribute(name, list));
  });
}

penstock_status penstock_attribute_info(penstock_file* file, const char* object, const char* name, penstock_type* type,
                                        int64_t* count) {
  return border([&]() -> Status {
    if (file == nullptr || object == nullptr || name == nullptr) return null("file, object or name");
    PENSTOCK_ASSIGN(const auto attribute, file->file.attribute(object, name));
    if (type != nullptr) *type = c_type(attribute.type);
    const auto size = static_cast<int64_t>(attribute.value.size());
    if (count != nullptr) *count = attribute.shape.rank() == 0 ? -1 : size / penstock::bytes(attribute.type);
    return {};
  });
}

penstock_status penstock_attribute_get(penstock_file* file, const char* object, const char* name, penstock_type type,
                                       void* values, int64_t bytes) {
  return border([&]() -> Status {
    if (file == nullptr || object == nullptr || name == nullptr || values == nullptr)
      return null("file, object, name or values");
    PENSTOCK_ASSIGN(const auto attribute, file->file.attribute(object, name));
    const bool text = attribute.type.kind == Kind::text;
    if (text ? static_cast<int>(type) <= text_base : c_type(attribute.type) != type)
      return {Code::mismatch, fmt::format("attribute '{}' of '{}' is {}, another type is asked for", name, object,
                                          penstock::name(attribute.type))};
    const auto size = static_cast<int64_t>(attribute.value.size());
    if (size > bytes)
      return {Code::invalid,
              fmt::format("attribute '{}' of '{}' has {} bytes, there is room for {}", name, object, size, bytes)};
    std::memcpy(values, attribute.value.data(), attribute.value.size());
    if (text && size < bytes) static_cast<char*>(values)[size] = '\0';
    return {};
  });
}

int64_t penstock_count(penstock_file* file) {
  return file == nullptr ? 0 : static_cast<int64_t>(list_of(*file).size());
}

const char* penstock_name(penstock_file* file, int64_t index) {
  if (file == nullptr || index < 0) return nullptr;
  const auto& all = list_of(*file);
  return index < static_cast<int64_t>(all.size()) ? all[static_cast<size_t>(index)]->c_str() : nullptr;
}

penstock_status penstock_describe(penstock_file* file, const char* name, penstock_type* type, int* rank, int64_t* shape,
                                  int* unlimited) {
  return border([&]() -> Status {
    if (file == nullptr || name == nullptr) return null("file or name");
    PENSTOCK_ASSIGN(const auto info, file->file.dataset(name));
    if (type != nullptr) *type = c_type(info.type);
    if (rank != nullptr) *rank = info.shape.rank();
    if (shape != nullptr) std::copy(info.shape.begin(), info.shape.end(), shape);
    if (unlimited != nullptr) *unlimited = info.unlimited;
    return {};
  });
}

const char* penstock_dimension(penstock_file* file, const char* name, int index) {
  if (file == nullptr || name == nullptr || index < 0) return "";
  const auto all = file->file.dimensions(name);
  if (index >= std::ssize(all)) return "";
  return file->names.insert(all[static_cast<size_t>(index)]).first->c_str();
}

const char* penstock_plan(penstock_file* file) {
  if (file == nullptr) return nullptr;
  if (file->plan.empty()) file->plan = file->file.plan();  // once: the pointer lives as long as the file
  return file->plan.c_str();
}

const char* penstock_path(penstock_file* file) { return file == nullptr ? nullptr : file->file.path().c_str(); }

const char* penstock_warnings(penstock_file* file) {
  if (file == nullptr) return nullptr;
  file->warnings.clear();
  for (const std::string& warning : file->file.report().warnings) file->warnings += warning + "\n";
  return file->warnings.c_str();
}

penstock_status penstock_set_timeout(double seconds) {
  return border([&] { return penstock::set_timeout(seconds); });
}

penstock_status penstock_when_waiting(double seconds, penstock_waiting tell, void* context) {
  return border([&]() -> Status {
    if (!(seconds > 0)) return {Code::invalid, fmt::format("{} s is not a time to wait: give more than 0", seconds)};
    if (tell == nullptr)
      penstock::when_waiting({});
    else
      penstock::when_waiting(
          [tell, context](const penstock::Waiting& waiting) { tell(waiting.what.c_str(), waiting.seconds, context); },
          seconds);
    return {};
  });
}

const char* penstock_message(void) { return last_message().c_str(); }

const char* penstock_status_name(penstock_status status) { return penstock::name(static_cast<Code>(status)).data(); }

}  // extern "C"
