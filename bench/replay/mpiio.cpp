// play_mpiio: calls of MPI-IO, independent or collective, with hints and file views.
#include <mpi.h>

#include <utility>
#include <vector>

#include "bench/replay/player.hpp"
#include "core/comm/mpi/native.hpp"

namespace penstock::bench {

namespace {

constexpr int64_t nothing = 0, writing = 1, reading = 2;  // the kind of a call, over all ranks

class MpiIo : public Player {
 public:
  MpiIo(Communicator comm, const Variant& variant, std::string folder)
      : comm_(std::move(comm)),
        variant_(variant),
        folder_(std::move(folder)),
        files_(static_cast<size_t>(variant.files), MPI_FILE_NULL) {}
  ~MpiIo() override { (void)close(); }
  MpiIo(const MpiIo&) = delete;
  MpiIo& operator=(const MpiIo&) = delete;

  // A single file is opened by all ranks together; of several, each rank opens those it uses.
  Status open() override {
    const Info info(Hints(variant_.hints.begin(), variant_.hints.end()));
    PENSTOCK_TRY(agree_on_calls());
    if (variant_.files == 1) {
      PENSTOCK_TRY(open(0, native(*comm_), info));
      return one_view_ ? set_view(files_[0], variant_.steps) : Status();
    }
    for (const Step& step : variant_.steps)
      if (step.act != Act::broadcast && files_[static_cast<size_t>(step.file)] == MPI_FILE_NULL)
        PENSTOCK_TRY(open(step.file, MPI_COMM_SELF, info));
    return {};
  }

  Status play(std::span<std::byte> data) override {
    Status status;
    size_t at = 0, first = 0;
    for (size_t call = 0; call < kinds_.size(); ++call) {
      size_t last = first;
      while (last < variant_.steps.size() && variant_.steps[last].call == static_cast<int64_t>(call)) ++last;
      const std::span pieces(&variant_.steps[first], last - first);
      size_t bytes = 0;
      for (const Step& piece : pieces) bytes += static_cast<size_t>(piece.length);
      const Status done = make(pieces, kinds_[call], data.subspan(at, bytes));
      if (status.ok()) status = done;
      if (!status.ok() && !together()) return status;
      at += bytes;
      first = last;
    }
    return status;
  }

  Status close() override {
    Status status;
    for (MPI_File& file : files_) {
      if (file == MPI_FILE_NULL) continue;
      const Status done = mpi_status(MPI_File_close(&file), "MPI_File_close");
      if (status.ok()) status = done;
    }
    return status;
  }

 private:
  bool together() const { return variant_.collective || variant_.views; }

  // Determines the number and the kinds of calls; ranks without a piece also take part.
  Status agree_on_calls() {
    int64_t count = variant_.steps.empty() ? 0 : variant_.steps.back().call + 1;
    if (together()) PENSTOCK_TRY(comm_->all_reduce_max(std::span(&count, 1)));
    kinds_.assign(static_cast<size_t>(count), nothing);
    for (const Step& step : variant_.steps)
      kinds_[static_cast<size_t>(step.call)] = step.act == Act::write ? writing : reading;
    if (together() && count > 0) PENSTOCK_TRY(comm_->all_reduce_max(kinds_));
    if (!variant_.views) return {};
    int64_t ascending = 1;
    for (size_t i = 1; i < variant_.steps.size(); ++i)
      ascending &= variant_.steps[i].offset >= variant_.steps[i - 1].offset + variant_.steps[i - 1].length;
    PENSTOCK_TRY(comm_->all_reduce_min(std::span(&ascending, 1)));
    one_view_ = ascending != 0;
    return {};
  }

  Status open(int number, MPI_Comm comm, const Info& info) {
    const std::string path = file_path(folder_, number);
    return mpi_status(MPI_File_open(comm, path.c_str(), MPI_MODE_RDWR | MPI_MODE_CREATE, info.get(),
                                    &files_[static_cast<size_t>(number)]),
                      "MPI_File_open");
  }

  // A rank without pieces takes part without data.
  Status make(std::span<const Step> pieces, int64_t kind, std::span<std::byte> data) {
    if (kind == nothing || (pieces.empty() && !together())) return {};
    MPI_File file = files_[pieces.empty() ? 0 : static_cast<size_t>(pieces[0].file)];
    MPI_Offset offset = pieces.empty() ? 0 : pieces[0].offset;
    if (one_view_) {
      offset = viewed_;
      viewed_ += static_cast<MPI_Offset>(data.size());
    } else if (variant_.views) {
      PENSTOCK_TRY(set_view(file, pieces));
      offset = 0;
    }
    const int bytes = static_cast<int>(data.size());
    MPI_Status* const ignored = MPI_STATUS_IGNORE;
    if (!variant_.collective) {
      if (data.empty()) return {};
      return kind == writing ? mpi_status(MPI_File_write_at(file, offset, data.data(), bytes, MPI_BYTE, ignored),
                                          "MPI_File_write_at")
                             : mpi_status(MPI_File_read_at(file, offset, data.data(), bytes, MPI_BYTE, ignored),
                                          "MPI_File_read_at");
    }
    return kind == writing ? mpi_status(MPI_File_write_at_all(file, offset, data.data(), bytes, MPI_BYTE, ignored),
                                        "MPI_File_write_at_all")
                           : mpi_status(MPI_File_read_at_all(file, offset, data.data(), bytes, MPI_BYTE, ignored),
                                        "MPI_File_read_at_all");
  }

  static Status set_view(MPI_File file, std::span<const Step> pieces) {
    MPI_Datatype type = MPI_BYTE;
    if (!pieces.empty()) {
      std::vector<int> lengths;
      std::vector<MPI_Aint> offsets;
      for (const Step& piece : pieces) {
        lengths.push_back(static_cast<int>(piece.length));
        offsets.push_back(static_cast<MPI_Aint>(piece.offset));
      }
      MPI_Type_create_hindexed(static_cast<int>(pieces.size()), lengths.data(), offsets.data(), MPI_BYTE, &type);
      MPI_Type_commit(&type);
    }
    const Status status =
        mpi_status(MPI_File_set_view(file, 0, MPI_BYTE, type, "native", MPI_INFO_NULL), "MPI_File_set_view");
    if (type != MPI_BYTE) MPI_Type_free(&type);
    return status;
  }

  Communicator comm_;
  const Variant& variant_;
  std::string folder_;
  std::vector<MPI_File> files_;
  std::vector<int64_t> kinds_;  // by call number
  bool one_view_ = false;       // for all calls: their pieces ascend
  MPI_Offset viewed_ = 0;       // bytes of the view consumed so far
};

}  // namespace

std::unique_ptr<Player> play_mpiio(const Communicator& comm, const Variant& variant, std::string folder) {
  return std::make_unique<MpiIo>(comm, variant, std::move(folder));
}

}  // namespace penstock::bench
