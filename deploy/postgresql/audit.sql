-- Who verifies and seals the audit record, once, as PostgreSQL's administrator, after the first
-- migration:
--   runuser -u postgres -- psql --dbname ieim --file deploy/postgresql/audit.sql
-- ieim-audit reads everything and writes checkpoints with their events, and nothing else.
\set ON_ERROR_STOP on
CREATE ROLE "ieim-audit" LOGIN;
GRANT CONNECT ON DATABASE ieim TO "ieim-audit";
GRANT USAGE ON SCHEMA public TO "ieim-audit";
GRANT SELECT ON ALL TABLES IN SCHEMA public TO "ieim-audit";
ALTER DEFAULT PRIVILEGES FOR ROLE "ieim-owner" IN SCHEMA public
    GRANT SELECT ON TABLES TO "ieim-audit";
GRANT INSERT ON audit_auditevent, audit_auditcheckpoint, audit_checkpointhead TO "ieim-audit";
GRANT INSERT, UPDATE ON audit_audithead TO "ieim-audit";
GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO "ieim-audit";
