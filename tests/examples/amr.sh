#!/bin/sh
# amr.sh AMR MPIEXEC: a run that is cut and resumed on any number of ranks ends like the uninterrupted one, to the bit.
set -eu
amr=$1 mpiexec=$2
folder=$(mktemp -d "$PWD/amr-XXXXXX")
trap 'rm -rf "$folder"' EXIT
cd "$folder"

fail() { echo "$*"; exit 1; }

whole=$($mpiexec -n 1 "$amr" --steps 40)
echo "$whole" | grep -Eq '^step 40: [0-9]+ blocks, most [0-9.e+-]+, digest [0-9a-f]{16}$' || fail "no such line: $whole"
[ "$($mpiexec -n 1 "$amr" --steps 41)" != "$whole" ] || fail "a step more changes nothing"
for ranks in 1 4 7; do
  [ "$($mpiexec -n $ranks "$amr" --steps 40)" = "$whole" ] || fail "$ranks ranks end otherwise"
  $mpiexec -n $ranks "$amr" --steps 40 --stop-after 22 --write blocks.h5 > first
  [ -s blocks.xmf ] || fail "no blocks.xmf"
  for others in 3 1 5; do
    rest=$($mpiexec -n $others "$amr" --steps 40 --restart blocks.h5)
    [ "$rest" = "$whole" ] || fail "$ranks ranks, then $others: $rest, without a break: $whole"
  done
done
code=0
$mpiexec -n 2 "$amr" --restart absent.h5 2> err || code=$?
[ $code = 1 ] && grep -q '^amr: .*absent.h5' err || fail "status $code: $(cat err)"
