// Folder: wraps the library's calls, each with a status.
#include "core/engine/adios2/folder.hpp"

#include <utility>

#include "core/comm/mpi/native.hpp"

namespace penstock::bp5 {

Status check(adios2_error error, const std::string& call) {
  if (error == adios2_error_none) return {};
  return {Code::io, call + ": ADIOS2 failed, and says why on standard error"};
}

adios2_type stored_type(const ElementType& type) {
  switch (type.kind) {
    case Kind::i8: return adios2_type_int8_t;
    case Kind::i16: return adios2_type_int16_t;
    case Kind::i32: return adios2_type_int32_t;
    case Kind::i64: return adios2_type_int64_t;
    case Kind::u8: return adios2_type_uint8_t;
    case Kind::u16: return adios2_type_uint16_t;
    case Kind::u32: return adios2_type_uint32_t;
    case Kind::u64: return adios2_type_uint64_t;
    case Kind::f32: return adios2_type_float;
    case Kind::f64: return adios2_type_double;
    case Kind::complex64: return adios2_type_float_complex;
    case Kind::complex128: return adios2_type_double_complex;
    case Kind::text: return adios2_type_uint8_t;
  }
  return adios2_type_unknown;
}

std::optional<ElementType> element_type(adios2_type type) {
  for (int kind = 0; kind < kind_count; ++kind) {
    const ElementType element{static_cast<Kind>(kind), 0};
    if (element.kind != Kind::text && stored_type(element) == type) return element;
  }
  return std::nullopt;
}

std::vector<size_t> extents(const Dims& dims, const ElementType& type, bool start) {
  std::vector<size_t> list(dims.begin(), dims.end());
  if (type.kind == Kind::text) list.push_back(start ? 0 : static_cast<size_t>(type.text_bytes));
  return list;
}

Folder::~Folder() {
  (void)close();
  if (adios_ != nullptr) (void)adios2_finalize(adios_);
}

Status Folder::set(const char* key, const std::string& value) {
  return check(adios2_set_parameter(io_, key, value.c_str()), std::string("setting ") + key);
}

Status Folder::start(const CommunicatorInterface* comm, const Settings* settings) {
  adios_ = comm == nullptr ? adios2_init_serial() : adios2_init_mpi(native(*comm));
  if (adios_ != nullptr) io_ = adios2_declare_io(adios_, "penstock");
  if (io_ == nullptr) return {Code::internal, "starting ADIOS2"};
  PENSTOCK_TRY(check(adios2_set_engine(io_, "BP5"), "adios2_set_engine"));
  PENSTOCK_TRY(set("OpenTimeoutSecs", "0"));
  if (settings == nullptr) return {};
  const std::string &aggregation = settings->word("aggregation"), &async = settings->word("async");
  PENSTOCK_TRY(set("AggregationType", aggregation == "serial"     ? "EveryoneWritesSerial"
                                      : aggregation == "everyone" ? "EveryoneWrites"
                                                                  : "TwoLevelShm"));
  PENSTOCK_TRY(set("NumAggregators", settings->word("aggregators")));
  PENSTOCK_TRY(set("NumSubFiles", settings->word("subfiles")));
  PENSTOCK_TRY(set("BufferChunkSize", settings->word("buffer_chunk")));
  PENSTOCK_TRY(set("BufferVType", settings->word("buffers")));
  PENSTOCK_TRY(set("AsyncWrite", async == "naive" ? "naive" : async == "guided" ? "guided" : "sync"));
  PENSTOCK_TRY(set("StatsLevel", settings->boolean("statistics") ? "1" : "0"));
  return set("Threads", settings->word("threads"));
}

Status Folder::open(const std::string& path, adios2_mode mode) {
  engine_ = adios2_open(io_, path.c_str(), mode);
  if (engine_ != nullptr) return {};
  return {mode == adios2_mode_write ? Code::io : Code::damaged,
          "opening '" + path + "': ADIOS2 failed, and says why on standard error"};
}

void Folder::abandon() {
  adios_ = nullptr;
  engine_ = nullptr;
}

Status Folder::close() {
  return engine_ == nullptr ? Status() : check(adios2_close(std::exchange(engine_, nullptr)), "adios2_close");
}

}  // namespace penstock::bp5
