#!/bin/sh
# task-prolog.sh: Slurm's TaskProlog: profiles every task into a folder of its job and step. It never fails a job.
#
# PENSTOCK_PROFILES: a folder that all nodes see and users can write (mode 1777).
# PENSTOCK_PROFILE_LIBRARY: the recorder.
# A job that has set PENSTOCK_PROFILE=no is left alone.
profiles=${PENSTOCK_PROFILES:-/var/spool/penstock}
library=${PENSTOCK_PROFILE_LIBRARY:-/usr/local/lib/penstock/libpenstock_profile.so}
[ "${PENSTOCK_PROFILE:-yes}" != no ] && [ -r "$library" ] && [ -n "$SLURM_JOB_ID" ] || exit 0
folder=$profiles/$SLURM_JOB_ID/${SLURM_STEP_ID:-batch}
# -O: not a folder that somebody else made before.
mkdir -p "$folder" 2>/dev/null && [ -O "$profiles/$SLURM_JOB_ID" ] && [ -O "$folder" ] || exit 0
echo "export PENSTOCK_PROFILE_DIR=$folder"
echo "export LD_PRELOAD=$library${LD_PRELOAD:+:$LD_PRELOAD}"
