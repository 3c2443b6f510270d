"""report: the records of measurements, read and explained. Only their JSON is read, so that no MPI is needed here."""
