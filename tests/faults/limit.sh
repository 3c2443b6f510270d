#!/bin/sh
# limit.sh full|quota MOUNT BYTES|none: leaves about BYTES of the file system at MOUNT, by a file that fills it, or by a
# quota of the btrfs subvolume "room" there, which is the first: 256. The root of the tree gets no quota, because that
# could not be raised again.
how=$1 mount=$2 bytes=$3
case "$how" in
  full)
    rm -f "$mount/filler"
    sync -f "$mount"
    [ "$bytes" = none ] && exit 0
    step=16777216
    while [ $step -ge 4096 ]; do
      while [ "$(stat -f -c '%a' "$mount")" -ge $(((bytes + step) / $(stat -f -c '%S' "$mount"))) ]; do
        fallocate -o "$(stat -c %s "$mount/filler" 2>/dev/null || echo 0)" -l $step "$mount/filler" || break
      done
      step=$((step / 4))
    done
    sync -f "$mount"
    ;;
  quota)
    sync -f "$mount"
    btrfs quota rescan -w "$mount" >/dev/null # what is in use, which the kernel has seen as less than nothing
    used=$(btrfs qgroup show --raw "$mount" | awk '$1 == "0/256" { print $2 }')
    if [ "$bytes" != none ]; then bytes=$((used + bytes)); fi
    btrfs qgroup limit "$bytes" 0/256 "$mount" >/dev/null
    ;;
  *)
    echo "limit.sh: no way '$how'" >&2
    exit 2
    ;;
esac
