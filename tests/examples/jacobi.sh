#!/bin/sh
# jacobi.sh JACOBI MPIEXEC: a run that is cut and resumed on any number of ranks ends like the uninterrupted one, to the
# last digit.
set -eu
jacobi=$1 mpiexec=$2
folder=$(mktemp -d "$PWD/jacobi-XXXXXX")
trap 'rm -rf "$folder"' EXIT
cd "$folder"

fail() { echo "$*"; exit 1; }
last() { tail -n 1 "$1"; }

$mpiexec -n 1 "$jacobi" --n 61 --steps 90 > whole
last whole | grep -Eq '^step 90 residual [0-9]\.[0-9]{15}[eE][-+][0-9]+$' || fail "no such last line: $(last whole)"
for ranks in 2 4; do
  $mpiexec -n $ranks "$jacobi" --n 61 --steps 90 > whole.$ranks
  [ "$(last whole.$ranks)" = "$(last whole)" ] || fail "$ranks ranks: $(last whole.$ranks), one rank: $(last whole)"
done
for plan in hdf5/two_phase hdf5/independent hdf5/two_phase:placement=per_rank; do
  $mpiexec -n 4 "$jacobi" --n 61 --steps 90 --every 20 --checkpoint heat.h5 --stop-after 50 --plan $plan > first
  [ "$(grep -c '^wrote heat.h5' first)" = 3 ] || fail "three checkpoints: $(cat first)"
  for ranks in 1 3 4; do
    $mpiexec -n $ranks "$jacobi" --steps 90 --restart heat.h5 > rest
    [ "$(last rest)" = "$(last whole)" ] || fail "$plan on $ranks ranks: $(last rest), without a break: $(last whole)"
  done
done
$mpiexec -n 2 "$jacobi" --steps 50 --restart heat.h5 > again
last again | grep -q '^step 50 residual' || fail "a run that is over already: $(last again)"
if command -v h5dump > /dev/null; then
  h5dump -H heat.h5 | grep -q temperature || fail "h5dump does not see the temperature"
fi

# Errors are said once, and every rank leaves with 1.
for bad in "--restart absent.h5" "--n 20 --steps 2 --checkpoint no/such/folder/heat.h5" \
  "--n 20 --steps 2 --checkpoint x.h5 --plan hdf5/magic"; do
  code=0
  $mpiexec -n 3 "$jacobi" $bad > out 2> err || code=$?
  [ $code = 1 ] || fail "$bad: exit status $code"
  [ "$(grep -c '^jacobi:' err)" = 1 ] || fail "$bad: $(cat err)"
done
[ ! -e x.h5 ] || fail "a file was left"
[ -z "$(find . -name '.*' -type f)" ] || fail "hidden files were left: $(find . -name '.*' -type f)"
