#!/bin/sh
# run.sh EXPECT SECONDS COMMAND...: runs a reproducer of docs/reproducers and compares what it says with EXPECT.
#   fault    its fault shows; if not, that is "not reproduced here" (77), since a mended library is no failure
#   hang     as fault, but the fault is that it does not end within SECONDS; saying FAULT counts too
#   crash    as fault, but the fault is the death of the program; not ending counts too
#   none     no fault shows; one that does is a failure: docs/known-faults.md needs a line
expect=$1 seconds=$2
shift 2
said=$(timeout -k 2 "$seconds" "$@" 2>&1)
code=$?
echo "$said"
verdict=$(echo "$said" | grep -oE '^(FAULT|no fault|works)' | tail -1)
case "$code" in
  124 | 137) seen=hang ;;
  *) case "$verdict" in
    FAULT) seen=fault ;;
    "no fault" | works) seen=none ;;
    *) seen=crash ;;
  esac ;;
esac
echo "expected: $expect; seen: $seen (exit status $code)"
case "$expect:$seen" in
  fault:fault | hang:hang | hang:fault | crash:crash | crash:hang | none:none) exit 0 ;;
  fault:none | hang:none | crash:none)
    echo "skipped: not reproduced here"
    exit 77
    ;;
  *) exit 1 ;;
esac
