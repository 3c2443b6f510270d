#!/usr/bin/env bash
# jacobi_signal.sh: jacobi PROGRAM, started by LAUNCHER..., writes its last step after SIGUSR1, and goes on from it.
set -euo pipefail
program=$1
shift
folder=$(mktemp -d "$PWD/jacobi-signal-XXXXXX")
trap 'rm -rf "$folder"' EXIT
cd "$folder"

"$@" -n 3 "$program" --n 32 --steps 1000000000 --every 500 --checkpoint heat.h5 >out &
launcher=$!
until grep -q wrote out; do
  kill -0 $launcher  # it has not ended
  sleep 0.1
done
kill -USR1 $launcher  # hands it on to the ranks
status=0
wait $launcher || status=$?
[ $status = 75 ] || { echo "status $status, not 75" && exit 1; }
last=$(sed -n 's/^wrote heat.h5 at step //p' out | tail -n 1)
grep -q "^step $last residual" out
"$@" -n 2 "$program" --steps $((last + 10)) --restart heat.h5 >again
grep -q "^restarted from heat.h5 at step $last$" again
