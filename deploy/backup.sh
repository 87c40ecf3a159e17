#!/bin/sh
# A backup of the database into a folder: ieim-TIME.dump, and beside it what the audit record in it is
# held against: the line of a checkpoint, or, where a file of seals is named, those of its checkpoints.
# Those older than IEIM_BACKUP_DAYS (30) are removed. In IEIM_DATA_DIR, backup.done is as old as the
# last one that succeeded, and backup.failed is there where the last one did not: /metrics reads them.
#   deploy/backup.sh FOLDER [SEALS]
set -eu
umask 077
folder="$1"
name="$folder/ieim-$(date -u +%Y%m%dT%H%M%SZ)"
setting() {
    .venv/bin/python -c "import ieim.config
from ieim.config import environment
print(environment.read().$1)"
}
[ -n "${2:-}" ] || cd "$(dirname "$0")/.."
state="${IEIM_DATA_DIR:-$(setting IEIM_DATA_DIR)}/backup"
# Under another name until it is whole.
trap 'code=$?; rm -f "$name.part"; [ "$code" = 0 ] || touch "$state.failed"' EXIT
if [ -n "${2:-}" ]; then
    url="$(cat "$DATABASE_URL_FILE")"
else
    # First what vouches: the dump has to hold all of it.
    .venv/bin/python manage.py checkpoint_audit > "$name.checkpoint"
    url="$(setting DATABASE_URL)"
fi
pg_dump --format=custom --file="$name.part" --dbname="$url"
if [ -n "${2:-}" ]; then
    # The seals of the checkpoints that are in the dump: others may have come before it, and since.
    last="$(pg_restore --data-only --table=audit_auditcheckpoint --file=- "$name.part" |
        awk '/^[0-9]+\t/ && $1 > last { last = $1 } END { if (!last) exit 1; print last }')" ||
        { echo "There is no checkpoint in the dump: nothing was sealed yet." >&2; exit 1; }
    awk -F '"number":' -v last="$last" '$2 + 0 <= last' "$2" > "$name.seals"
fi
mv "$name.part" "$name.dump"
touch "$state.done"
rm -f "$state.failed"
find "$folder" -name 'ieim-*' -mtime +"${IEIM_BACKUP_DAYS:-30}" -delete
echo "$name.dump"
