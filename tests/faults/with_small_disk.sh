#!/bin/sh
# with_small_disk.sh MIB COMMAND...: runs COMMAND with a small ext4 of its own at $PENSTOCK_SMALL_DISK, and a /dev/shm
# of its own, as PENSTOCK_OWN_SHM says. The mounts live in a mount namespace, so they go with the last process, however
# that ends. 77 and a reason where the machine does not let us.
if [ "$1" != --inside ]; then
  [ "$(id -u)" = 0 ] || { echo "skipped: a loop mount needs root"; exit 77; }
  unshare --mount true 2>/dev/null || { echo "skipped: no mount namespaces here"; exit 77; }
  folder=$(mktemp -d "${PWD}/small-disk-XXXXXX") || exit 1
  unshare --mount --propagation private -- "$0" --inside "$folder" "$@"
  code=$?
  rm -rf "$folder"
  exit $code
fi
folder=$2 size=$3
shift 3
truncate -s "${size}M" "$folder/image" && mkfs.ext4 -q -m 0 -O ^has_journal "$folder/image" ||
  { echo "skipped: no mkfs.ext4"; exit 77; }
mkdir "$folder/disk"
mount -o loop "$folder/image" "$folder/disk" 2>/dev/null || { echo "skipped: no loop mounts here"; exit 77; }
rmdir "$folder/disk/lost+found" 2>/dev/null
export PENSTOCK_SMALL_DISK="$folder/disk"
if mount -t tmpfs shm /dev/shm 2>/dev/null; then export PENSTOCK_OWN_SHM=1; fi
"$@"
code=$?
umount -l "$folder/disk"
exit $code
