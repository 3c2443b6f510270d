#!/bin/sh
# quadtree.sh QUADTREE MPIEXEC: a tree that is grown again on any number of ranks goes on to the same last line.
set -eu
quadtree=$1
shift
folder=$(mktemp -d "$PWD/quadtree-XXXXXX")
trap 'rm -rf "$folder"' EXIT
cd "$folder"

fail() { echo "$*"; exit 1; }
last() { tail -n 1 "$1"; }

"$@" -n 1 "$quadtree" --steps 30 > whole
last whole | grep -q '^step 30: sum' || fail "no such last line: $(last whole)"
grep -q '^the tree at step 30: grids by level 64 [1-9][0-9]* [1-9][0-9]*$' whole || fail "not refined: $(cat whole)"
for ranks in 1 3 4; do
  "$@" -n $ranks "$quadtree" --steps 30 --stop-after 11 --write tree.h5 > first
  for others in 4 2 1; do
    "$@" -n $others "$quadtree" --steps 30 --restart tree.h5 > rest
    [ "$(sed -n 's/^restarted at/the tree at/p' rest)" = "$(head -n 1 first)" ] || fail "another tree: $(cat rest)"
    tail -n 2 rest > end
    cmp -s end whole || fail "$ranks ranks, then $others: $(cat end), without a break: $(cat whole)"
  done
  # The file does not know how many wrote it.
  mv tree.h5 tree-$ranks.h5
  if command -v h5diff > /dev/null; then
    h5diff --exclude-path /_penstock tree-1.h5 tree-$ranks.h5 || fail "another file of $ranks ranks"
  fi
done
"$@" -n 2 "$quadtree" --restart absent.h5 > out 2> err && fail "it went on from no file"
grep -q '^penstock:.*absent.h5' err || fail "it did not say which file: $(cat err)"
