#!/bin/sh
# epilog.sh: Slurm's Epilog: after a job the doctor looks at what task-prolog.sh recorded. It never drains a node.
#
# It looks as the job's user: what lies there is that user's, and may be links to what only root may write.
# PENSTOCK_PROFILES: as in task-prolog.sh. Slurm sets no search path: PATH has to lead to penstock.
export PATH="${PATH:-/usr/local/bin:/usr/bin:/bin}"
profiles=${PENSTOCK_PROFILES:-/var/spool/penstock}
[ -n "$SLURM_JOB_ID" ] || exit 0
as=
if [ "$(id -u)" = 0 ]; then
  group=$(id -g "$SLURM_JOB_USER") || exit 0
  as="setpriv --reuid=$SLURM_JOB_USER --regid=$group --init-groups"
fi
for folder in "$profiles/$SLURM_JOB_ID"/*/; do
  [ -d "$folder" ] && $as mkdir "$folder/.looked-at" 2>/dev/null || continue  # the first of the job's nodes does it
  # In a session of its own before this ends: Slurm then kills what is left of the epilog's group.
  setsid $as sh -c 'penstock doctor "$1" --json "$1/doctor.json" </dev/null >/dev/null 2>&1 &' sh "$folder"
done
exit 0
