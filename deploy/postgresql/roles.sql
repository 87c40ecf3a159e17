-- What only an administrator of PostgreSQL can do, once: three roles and a database.
--   runuser -u postgres -- psql --file deploy/postgresql/roles.sql
-- ieim-owner migrates and owns the tables, so it alone could take the audit record's triggers off;
-- ieim is what web, worker and beat are; ieim-audit seals and verifies. On one machine they are named
-- as its accounts (peer authentication), so there is no password. What the two may do is granted by
-- `manage.py grant_roles ieim ieim-audit`, as ieim-owner, after each migration.
\set ON_ERROR_STOP on
CREATE ROLE "ieim-owner" LOGIN;
CREATE ROLE ieim LOGIN;
CREATE ROLE "ieim-audit" LOGIN;
CREATE DATABASE ieim OWNER "ieim-owner" ENCODING 'UTF8' TEMPLATE template0;
\connect ieim
-- Up to PostgreSQL 14 it belongs to the administrator.
ALTER SCHEMA public OWNER TO "ieim-owner";
