#!/bin/sh
# The emergency: put a backup of deploy/backup.sh in the place of the database, as root. The database
# of before stays, under another name. Nothing starts where the backup cannot be read or its audit
# record does not hold.
#   deploy/restore.sh /var/backups/ieim/ieim-TIME.dump
set -eu
dump="$1"
checkpoint="$(sed 's/.*: //' "${dump%.dump}.checkpoint")"
before="ieim-$(date -u +%Y%m%dT%H%M%SZ)"
cd "$(dirname "$0")/.."
# Beside the running site, so that a backup that does not hold takes nothing away.
runuser -u postgres -- createdb --owner=ieim-owner --template=template0 ieim-restored
trap 'runuser -u postgres -- dropdb --if-exists ieim-restored' EXIT
runuser -u postgres -- pg_restore --exit-on-error --dbname=ieim-restored < "$dump"
runuser -u ieim-owner -- env DATABASE_URL=postgresql://%2Frun%2Fpostgresql/ieim-restored \
    .venv/bin/python manage.py verify_audit --expect "$checkpoint"
running="$(systemctl list-units --plain --no-legend --state=active 'ieim-*.service' 'ieim-*.timer' | awk '{ print $1 }')"
[ -z "$running" ] || systemctl stop $running
# Both or neither.
runuser -u postgres -- psql --quiet --no-psqlrc --set=ON_ERROR_STOP=1 \
    --command="ALTER DATABASE ieim RENAME TO \"$before\"; ALTER DATABASE \"ieim-restored\" RENAME TO ieim"
trap - EXIT
# The tables of a backup may be those of the version before.
runuser -u ieim-owner -- .venv/bin/python manage.py migrate --no-input
runuser -u ieim-owner -- .venv/bin/python manage.py grant_roles ieim ieim-audit
[ -z "$running" ] || systemctl start $running
echo "The backup is in use. The database of before is $before."
