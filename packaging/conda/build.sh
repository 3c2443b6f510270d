#!/usr/bin/env bash
# build.sh: what conda-build runs in the source, for one choice of MPI and of Python.
set -euo pipefail
with_mpi=ON
[ "$mpi" != nompi ] || with_mpi=OFF
cmake -G Ninja -S . -B build/conda $CMAKE_ARGS \
  -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$PREFIX" -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_UNITY_BUILD=ON \
  -DPENSTOCK_MPI=$with_mpi -DPENSTOCK_HDF5_ROOT="$PREFIX" -DPENSTOCK_PNETCDF_ROOT="$PREFIX" \
  -DPENSTOCK_PYTHON=ON -DPENSTOCK_PYTHON_DIR="${SP_DIR#"$PREFIX/"}" -DPython_EXECUTABLE="$PYTHON" \
  -DPENSTOCK_TESTS=OFF -DPENSTOCK_EXAMPLES=OFF
cmake --build build/conda --parallel "${CPU_COUNT:-2}"
cmake --install build/conda
