-- Who may do what in the database, once, as PostgreSQL's administrator:
--   runuser -u postgres -- psql --file deploy/postgresql/roles.sql
-- The roles are named as the accounts of the machine that use them (peer authentication): no
-- password. ieim-owner migrates and owns the tables, so it alone can take the audit record's
-- triggers off; ieim is what web, worker and beat are, and owns nothing.
\set ON_ERROR_STOP on
CREATE ROLE "ieim-owner" LOGIN;
CREATE ROLE ieim LOGIN;
CREATE DATABASE ieim OWNER "ieim-owner" ENCODING 'UTF8' TEMPLATE template0;
REVOKE ALL ON DATABASE ieim FROM PUBLIC;
GRANT CONNECT ON DATABASE ieim TO ieim;
\connect ieim
REVOKE ALL ON SCHEMA public FROM PUBLIC;
GRANT ALL ON SCHEMA public TO "ieim-owner";
GRANT USAGE ON SCHEMA public TO ieim;
-- Of every table that a migration will make:
ALTER DEFAULT PRIVILEGES FOR ROLE "ieim-owner" IN SCHEMA public
    GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO ieim;
ALTER DEFAULT PRIVILEGES FOR ROLE "ieim-owner" IN SCHEMA public
    GRANT SELECT, USAGE ON SEQUENCES TO ieim;
