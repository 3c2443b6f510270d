#!/bin/sh
# pencils.sh PENCILS MPIEXEC: what is written in one kind of pencils is read back in another, on any number of ranks;
# the run then goes on, and ends with the same last line.
set -eu
pencils=$1
shift
folder=$(mktemp -d "$PWD/pencils-XXXXXX")
trap 'rm -rf "$folder"' EXIT
cd "$folder"

fail() { echo "$*"; exit 1; }
last() { tail -n 1 "$1"; }

"$@" -n 1 "$pencils" --n 12 --steps 20 > whole
last whole | grep -q '^the field at step 20: least' || fail "no such last line: $(last whole)"
for ranks in 2 3 4; do
  "$@" -n $ranks "$pencils" --n 12 --steps 20 --stop-after 7 --write u.h5 > first
  grep -q '^read back in pencils along z at step 7' first || fail "not read back: $(cat first)"
  [ "$(sed -n 's/^read back.*: least/least/p' first)" = "$(sed -n 's/^the field.*: least/least/p' first)" ] ||
    fail "another field is read back: $(cat first)"
  for others in 1 4 3; do
    "$@" -n $others "$pencils" --steps 20 --restart u.h5 > rest
    [ "$(last rest)" = "$(last whole)" ] ||
      fail "$ranks ranks, then $others: $(last rest), without a break: $(last whole)"
  done
done
"$@" -n 2 "$pencils" --restart absent.h5 > out 2> err && fail "it went on from no file"
grep -q '^penstock:.*absent.h5' err || fail "it did not say which file: $(cat err)"
