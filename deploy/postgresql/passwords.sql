-- Gives the roles of roles.sql the passwords that stand in the addresses of their secrets
-- (postgresql://ROLE:PASSWORD@postgres:5432/ieim), once, when deploy/compose.yaml makes the database.
-- With others later: docs/containers.md.
\set owner `sed 's,^[a-z]*://[^:]*:\([^@]*\)@.*,\1,' /run/secrets/database-owner`
\set application `sed 's,^[a-z]*://[^:]*:\([^@]*\)@.*,\1,' /run/secrets/database`
\set audit `sed 's,^[a-z]*://[^:]*:\([^@]*\)@.*,\1,' /run/secrets/database-audit`
ALTER ROLE "ieim-owner" PASSWORD :'owner';
ALTER ROLE ieim PASSWORD :'application';
ALTER ROLE "ieim-audit" PASSWORD :'audit';
