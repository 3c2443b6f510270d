#!/bin/sh
# replace.sh BEFORE AFTER MPIEXEC: with its output routine replaced, a code ends as before, also from a restart and on
# other numbers of ranks.
set -eu
before=$1 after=$2 mpiexec=$3
folder=$(mktemp -d "$PWD/replace-XXXXXX")
trap 'rm -rf "$folder"' EXIT
cd "$folder"

fail() { echo "$*"; exit 1; }

whole=$($mpiexec -n 3 "$before" 6)
echo "$whole" | grep -q total || fail "no total: $whole"
[ "$($mpiexec -n 3 "$before" 6 4)" = "$whole" ] || fail "the old code does not go on from its own output"
old=$(ls)
[ "$($mpiexec -n 3 "$after" 6)" = "$whole" ] || fail "the new code ends otherwise"
[ "$(ls *.h5 | wc -l)" = 3 ] || fail "three files: $(ls)"
for ranks in 1 3 4 7; do
  [ "$($mpiexec -n $ranks "$after" 6 4)" = "$whole" ] || fail "from step 4 on $ranks ranks it ends otherwise"
done
[ "$(ls | grep -v h5)" = "$old" ] || fail "other files were left: $(ls)"
