// consumer.cpp: consumer.c as a C++ program: each rank writes a row and reads the row of its neighbour.
#include <penstock/config.h>
#include <penstock/array.hpp>
#if PENSTOCK_HAVE_MPI
#include <penstock/mpi.hpp>
#endif

#include <iostream>
#include <vector>

namespace {

constexpr int64_t columns = 5;

penstock::Result<penstock::Decomposition> row(const penstock::Communicator& comm, int64_t at) {
  return penstock::Decomposition::block({comm->size(), columns}, {at, 0}, {1, columns});
}

penstock::Status write_rows(const penstock::Communicator& comm, const std::string& path) {
  PENSTOCK_ASSIGN(auto file, penstock::File::create(comm, path));
  PENSTOCK_ASSIGN(const auto mine, row(comm, comm->rank()));
  std::vector<double> values;
  for (int64_t i = 0; i < columns; ++i) values.push_back(static_cast<double>(10 * comm->rank() + i));
  (void)penstock::put(file, "rows", mine, values);  // what fails here fails close() too
  (void)penstock::set_attribute(file, "rows", "units", "K");
  return file.close();
}

penstock::Result<std::vector<double>> read_row(const penstock::Communicator& comm, const std::string& path, int at) {
  PENSTOCK_ASSIGN(auto file, penstock::File::open(comm, path));
  PENSTOCK_ASSIGN(const auto part, row(comm, at));
  PENSTOCK_ASSIGN(std::vector<double> values, penstock::read<double>(file, "rows", part));
  PENSTOCK_TRY(file.close());
  return values;
}

penstock::Status work(const penstock::Communicator& comm, const std::string& path) {
  const int neighbour = (comm->rank() + 1) % comm->size();
  PENSTOCK_TRY(write_rows(comm, path));
  PENSTOCK_ASSIGN(const std::vector<double> values, read_row(comm, path, neighbour));
  for (int64_t i = 0; i < columns; ++i)
    if (values[static_cast<size_t>(i)] != static_cast<double>(10 * neighbour + i))
      return {penstock::Code::damaged, "a value is wrong"};
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  const std::string path = argc > 1 ? argv[1] : "consumer-cpp.h5";
#if PENSTOCK_HAVE_MPI
  MPI_Init(&argc, &argv);
  int status = 1;
  if (const auto comm = penstock::mpi_communicator(MPI_COMM_WORLD); comm.ok()) {
    const penstock::Status done = work(*comm, path);
    status = done.ok() ? 0 : 1;
    if ((*comm)->rank() == 0) std::cout << "consumer-cpp: " << (done.ok() ? "right" : done.message()) << '\n';
  }
  MPI_Allreduce(MPI_IN_PLACE, &status, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  return status;
#else
  const penstock::Status done = work(penstock::serial_communicator(), path);
  std::cout << "consumer-cpp: " << (done.ok() ? "right" : done.message()) << '\n';
  return done.ok() ? 0 : 1;
#endif
}
