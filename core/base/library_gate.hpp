// LibraryGate: admits one thread at a time to libraries that are not thread-safe: HDF5, netCDF, PnetCDF, ADIOS2, and
// MPI-IO, whatever thread level MPI reports.
#pragma once

namespace penstock {

// For its lifetime this thread is the only one of the process inside; waits for the thread before it. May be nested.
class LibraryGate {
 public:
  LibraryGate();
  ~LibraryGate();
  LibraryGate(const LibraryGate&) = delete;
  LibraryGate& operator=(const LibraryGate&) = delete;
};

// Reserves the gate for a thread that is about to start; the calling thread waits for it from now on. If the work
// inside is collective, all ranks must reserve at the same point of the program: then no rank holds the gate while it
// waits for a rank whose thread needs it.
class GateReservation {
 public:
  GateReservation();
  ~GateReservation();  // releases
  GateReservation(const GateReservation&) = delete;
  GateReservation& operator=(const GateReservation&) = delete;
  // Called once by the thread for which it was reserved.
  void adopt();
  // Called by the same thread when its work is done.
  void release();

 private:
  bool held_ = true;
};

}  // namespace penstock
