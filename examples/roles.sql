-- The roles and the database of a Postgres store, in the order that works. A superuser runs it once with psql 14 or newer,
-- as compose.yaml does when it creates its database:
--
--     OWNER_PASSWORD=… APP_PASSWORD=… WORKER_PASSWORD=… psql --set=ON_ERROR_STOP=1 --file=roles.sql
--
-- Then the login `owner` creates the schema: slowwave init --store postgresql://owner@host/memory

\getenv owner_password OWNER_PASSWORD
\getenv app_password APP_PASSWORD
\getenv worker_password WORKER_PASSWORD

-- `slowwave_app` exists before the schema, so that no superuser has to open the store and each migration renews its rights.
CREATE ROLE slowwave_app NOLOGIN;
CREATE ROLE owner LOGIN PASSWORD :'owner_password' IN ROLE slowwave_app;
CREATE ROLE app LOGIN PASSWORD :'app_password' IN ROLE slowwave_app;
CREATE ROLE worker LOGIN PASSWORD :'worker_password' IN ROLE slowwave_app;

CREATE DATABASE memory OWNER owner TEMPLATE template0 ENCODING 'UTF8';
REVOKE CONNECT ON DATABASE memory FROM PUBLIC;
GRANT CONNECT ON DATABASE memory TO app, worker;
GRANT CREATE ON DATABASE memory TO worker; -- for the schema of its queue

\connect memory
SELECT 'CREATE EXTENSION vector' FROM pg_available_extensions WHERE name = 'vector'
\gexec
-- `doctor` and `status` of the other logins may look at the queue.
ALTER DEFAULT PRIVILEGES FOR ROLE worker GRANT USAGE ON SCHEMAS TO slowwave_app;
ALTER DEFAULT PRIVILEGES FOR ROLE worker GRANT SELECT ON TABLES TO slowwave_app;
