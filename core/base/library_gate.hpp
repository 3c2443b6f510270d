// LibraryGate: one thread at a time inside the libraries that are not thread-safe: HDF5, netCDF, PnetCDF, ADIOS2, and
// MPI-IO, whatever thread level MPI says it has.
#pragma once

namespace penstock {

// For its life this thread is the only one of the process inside; waits for another one. May be nested.
class LibraryGate {
 public:
  LibraryGate();
  ~LibraryGate();
  LibraryGate(const LibraryGate&) = delete;
  LibraryGate& operator=(const LibraryGate&) = delete;
};

// Keeps the gate for a thread that is about to start, so that what the calling thread does from now on waits for it.
// Where the work inside is collective, all ranks reserve at the same point of the program: then none of them holds the
// gate while it waits for a rank whose thread needs it.
class GateReservation {
 public:
  GateReservation();
  ~GateReservation();  // releases
  GateReservation(const GateReservation&) = delete;
  GateReservation& operator=(const GateReservation&) = delete;
  // By the thread that it was made for, once.
  void adopt();
  // By the same thread, when it is done.
  void release();

 private:
  bool held_ = true;
};

}  // namespace penstock
