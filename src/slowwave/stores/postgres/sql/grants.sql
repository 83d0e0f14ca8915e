-- After every migration: the role that reads and writes, made by a superuser (for others FORCE is enough), and its rights.
DO $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'slowwave_app')
        AND (SELECT rolsuper FROM pg_roles WHERE rolname = current_user)
    THEN
        CREATE ROLE slowwave_app NOLOGIN;
    END IF;
    IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'slowwave_app') THEN
        GRANT USAGE ON SCHEMA slowwave TO slowwave_app;
        GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA slowwave TO slowwave_app;
        GRANT USAGE ON ALL SEQUENCES IN SCHEMA slowwave TO slowwave_app;
        REVOKE INSERT, UPDATE, DELETE ON slowwave.migrations FROM slowwave_app;
    END IF;
END
$$
