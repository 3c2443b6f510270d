// mpiio: MPI-IO with every access of the standard's table. See README.md.
#include "core/base/library_gate.hpp"
#include "core/comm/mpi/native.hpp"
#include "core/transport/mpiio/records.hpp"
#include "core/transport/mpiio/transfers.hpp"

namespace penstock {

Descriptor mpiio_descriptor();

namespace {

using mpiio::Options;

class MpiIo : public Transport {
 public:
  const Descriptor& describe() const override { return descriptor_; }

  Status check(const Settings& settings, const FileKind& file, Direction direction) const override {
    return mpiio::check_options(Options(settings), file, direction);
  }

  Status check_choice(const Hints& hints) const override {
    PENSTOCK_TRY(check_running());
    if (hints.empty()) return {};
    return {Code::unsupported, "hints of the environment are for plans that name mpiio"};
  }

  Slots slots(const Settings& settings) const override {
    const Options options(settings);
    if (!options.records()) return {};
    return {mpiio::record_header_bytes, options.record_bytes};
  }

  Result<std::unique_ptr<Transfer>> begin(const Job& job, const Settings& settings) const override {
    PENSTOCK_TRY(check_running());
    const LibraryGate gate;
    const Options options(settings);
    if (!options.shared()) return mpiio::begin_addressed(job, options);
    return options.records() ? mpiio::begin_records(job, options) : mpiio::begin_ordered(job, options);
  }

 private:
  static Status check_running() {
    if (mpi_runs()) return {};
    return {Code::unsupported, "mpiio needs MPI to be running: call MPI_Init before, or use another transport"};
  }

  Descriptor descriptor_ = mpiio_descriptor();
};

}  // namespace

const Transport& mpiio_transport() {
  static const MpiIo transport;
  return transport;
}

}  // namespace penstock
