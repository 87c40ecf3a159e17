#!/bin/sh
# A backup of the database into a folder: ieim-TIME.dump, and beside it what the audit record in it is
# held against: the line of a checkpoint, or, where a file of seals is named, a copy of that. Those
# older than IEIM_BACKUP_DAYS (30) are removed.
#   deploy/backup.sh FOLDER [SEALS]
set -eu
umask 077
folder="$1"
name="$folder/ieim-$(date -u +%Y%m%dT%H%M%SZ)"
# First what vouches: the dump has to hold all of it.
if [ -n "${2:-}" ]; then
    cp "$2" "$name.seals"
    url="$(cat "$DATABASE_URL_FILE")"
else
    cd "$(dirname "$0")/.."
    .venv/bin/python manage.py checkpoint_audit > "$name.checkpoint"
    url="$(.venv/bin/python -c '
import ieim.config, os
from ieim.config.env import Env
print(Env(os.environ).text("DATABASE_URL"))')"
fi
# Under another name until it is whole.
pg_dump --format=custom --file="$name.part" --dbname="$url"
mv "$name.part" "$name.dump"
find "$folder" -name 'ieim-*' -mtime +"${IEIM_BACKUP_DAYS:-30}" -delete
echo "$name.dump"
