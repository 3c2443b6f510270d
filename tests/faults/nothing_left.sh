#!/bin/sh
# nothing_left.sh COMMAND...: runs COMMAND and fails where a process of it is still there 10 s later, or a file of the
# library's in shared memory, where that is the test's own: what others left elsewhere is theirs.
PENSTOCK_TEST_MARK="nothing-left-$$"
export PENSTOCK_TEST_MARK
"$@"
code=$?
mark=$PENSTOCK_TEST_MARK
unset PENSTOCK_TEST_MARK  # what looks is not what is looked for
processes() { grep -lsz "^PENSTOCK_TEST_MARK=$mark\$" /proc/[0-9]*/environ; }
i=0
while [ $i -lt 100 ] && left=$(processes) && [ -n "$left" ]; do
  sleep 0.1
  i=$((i + 1))
done
if left=$(processes) && [ -n "$left" ]; then
  echo "left over: $left"
  exit 1
fi
if [ -n "$PENSTOCK_OWN_SHM" ] && ls -A /dev/shm | grep penstock; then
  echo "left over in /dev/shm"
  exit 1
fi
exit $code
