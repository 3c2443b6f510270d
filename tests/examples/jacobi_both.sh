#!/bin/sh
# jacobi_both.sh JACOBI JACOBI_FORTRAN MPIEXEC: the C and the Fortran program resume from each other's checkpoints, and
# end with the same last digit.
set -eu
c=$1 fortran=$2
shift 2
folder=$(mktemp -d "$PWD/both-XXXXXX")
trap 'rm -rf "$folder"' EXIT
cd "$folder"

last() { tail -n 1 "$1" | tr E e; }

"$@" -n 2 "$c" --n 61 --steps 90 > whole
for order in "$c $fortran" "$fortran $c"; do
  "$@" -n 4 "${order% *}" --n 61 --steps 90 --checkpoint heat.h5 --stop-after 50 > first
  "$@" -n 3 "${order#* }" --steps 90 --restart heat.h5 > rest
  [ "$(last rest)" = "$(last whole)" ] || { echo "$order: $(last rest), without a break: $(last whole)"; exit 1; }
done
