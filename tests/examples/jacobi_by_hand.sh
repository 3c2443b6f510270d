#!/bin/sh
# jacobi_by_hand.sh JACOBI MPIEXEC: the solver with a hand-written checkpoint is cut and resumed on any number of ranks,
# and ends with the same last digit.
set -eu
jacobi=$1 mpiexec=$2
folder=$(mktemp -d "$PWD/by-hand-XXXXXX")
trap 'rm -rf "$folder"' EXIT
cd "$folder"

fail() { echo "$*"; exit 1; }
last() { tail -n 1 "$1"; }

$mpiexec -n 1 "$jacobi" --n 61 --steps 90 > whole
for ranks in 4 3; do
  $mpiexec -n $ranks "$jacobi" --n 61 --steps 90 --every 20 --checkpoint heat --stop-after 50 > first
  [ "$(grep -c '^wrote heat' first)" = 3 ] || fail "three checkpoints: $(cat first)"
  for others in 1 2 4; do
    $mpiexec -n $others "$jacobi" --steps 90 --restart heat > rest
    [ "$(last rest)" = "$(last whole)" ] ||
      fail "$ranks ranks, then $others: $(last rest), without a break: $(last whole)"
  done
done
for bad in "--restart absent" "--restart whole" "--n 20 --steps 2 --checkpoint no/such/folder/heat"; do
  code=0
  $mpiexec -n 3 "$jacobi" $bad > out 2> err || code=$?
  [ $code = 1 ] || fail "$bad: exit status $code"
  [ "$(grep -c '^jacobi:' err)" = 1 ] || fail "$bad: $(cat err)"
done
[ -z "$(find . -name '*.partial')" ] || fail "partial files were left"
