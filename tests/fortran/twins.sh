#!/bin/sh
# twins.sh C_PROGRAM FORTRAN_PROGRAM LAUNCHER...: both write the same fields; twins.py compares the files.
set -eu
c=$1 fortran=$2
shift 2
folder=$(mktemp -d "$PWD/twins-XXXXXX")
trap 'rm -rf "$folder"' EXIT
"$@" "$c" "$folder/c.h5"
"$@" "$fortran" "$folder/fortran.h5"
"${PENSTOCK_TEST_PYTHON:-python3}" "$(dirname "$0")/twins.py" "$folder/c.h5" "$folder/fortran.h5"
