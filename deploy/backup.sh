#!/bin/sh
# A backup of the database into a folder: ieim-TIME.dump, and beside it the line of an audit
# checkpoint that the dump contains. Those older than 30 days are removed.
#   deploy/backup.sh /var/backups/ieim
set -eu
umask 077
cd "$(dirname "$0")/.."
folder="$1"
name="$folder/ieim-$(date -u +%Y%m%dT%H%M%SZ)"
.venv/bin/python manage.py checkpoint_audit > "$name.checkpoint"
# Under another name until it is whole.
pg_dump --format=custom --file="$name.part" --dbname="$(.venv/bin/python -c '
import ieim.config, os
print(os.environ["DATABASE_URL"])')"
mv "$name.part" "$name.dump"
find "$folder" -name 'ieim-*' -mtime +30 -delete
echo "$name.dump"
