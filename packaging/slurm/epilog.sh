#!/bin/sh
# epilog.sh: Slurm's Epilog that has the doctor look at what task-prolog.sh had recorded, behind the job; it never drains a node.
profiles=${PENSTOCK_PROFILES:-/var/spool/penstock}
[ -n "$SLURM_JOB_ID" ] || exit 0
for folder in "$profiles/$SLURM_JOB_ID"/*/; do
  [ -d "$folder" ] && mkdir "$folder/.looked-at" 2>/dev/null || continue  # the first of the job's nodes does it
  (setsid penstock doctor "$folder" --json "$folder/doctor.json" </dev/null >/dev/null 2>&1 &)
done
exit 0
