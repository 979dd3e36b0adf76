-- Tables of version 2 with rows of every kind, as the version that wrote them left them (pg_dump --inserts).
CREATE SCHEMA hookwright;
CREATE TABLE hookwright.answer (
    ref bigint NOT NULL,
    text text NOT NULL,
    program text
);
ALTER TABLE ONLY hookwright.answer ALTER COLUMN text SET COMPRESSION lz4;
CREATE TABLE hookwright.claim (
    key text NOT NULL COLLATE pg_catalog."C",
    expires_at bigint NOT NULL
);
CREATE TABLE hookwright.delivery (
    ref bigint NOT NULL,
    n integer NOT NULL,
    lane text NOT NULL,
    due_at bigint NOT NULL,
    set_at bigint NOT NULL,
    node bigint,
    holder text,
    waiting text
)
WITH (fillfactor='70', autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='5000', autovacuum_vacuum_cost_delay='0');
CREATE TABLE hookwright.dispatch (
    ref bigint NOT NULL,
    id text NOT NULL,
    profile text NOT NULL,
    route text,
    job text,
    mode text NOT NULL,
    accepted_at bigint NOT NULL,
    max_concurrent integer,
    head text NOT NULL,
    targets text NOT NULL,
    body text NOT NULL,
    session text COLLATE pg_catalog."C",
    burst bigint
);
ALTER TABLE ONLY hookwright.dispatch ALTER COLUMN body SET COMPRESSION lz4;
CREATE SEQUENCE hookwright.dispatch_ref
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
CREATE TABLE hookwright.document (
    name text NOT NULL,
    version bigint NOT NULL,
    body text NOT NULL
);
CREATE TABLE hookwright.ended (
    ref bigint NOT NULL,
    state text NOT NULL,
    started_at bigint,
    answered_at bigint,
    finished_at bigint NOT NULL,
    reason text
);
CREATE TABLE hookwright.figure (
    minute bigint NOT NULL,
    taken bigint NOT NULL,
    ignored bigint NOT NULL,
    duplicate bigint NOT NULL,
    refused bigint NOT NULL,
    failed bigint NOT NULL,
    half_us bigint NOT NULL,
    most_us bigint NOT NULL,
    waiting bigint NOT NULL
);
CREATE TABLE hookwright.guard_state (
    id text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL,
    key text NOT NULL,
    body text NOT NULL,
    expires_at bigint
)
WITH (fillfactor='50');
CREATE TABLE hookwright.job (
    id text NOT NULL,
    profile text NOT NULL,
    name text NOT NULL,
    body text NOT NULL
);
CREATE TABLE hookwright.job_state (
    job text NOT NULL,
    paused boolean,
    cursor bigint,
    signature text,
    ref bigint,
    paused_until bigint
);
CREATE TABLE hookwright.job_tick (
    job text NOT NULL,
    due_at bigint NOT NULL,
    outcome text NOT NULL,
    ref bigint,
    missed integer NOT NULL
);
CREATE TABLE hookwright.lane (
    lane text NOT NULL,
    max_concurrent integer
)
WITH (fillfactor='50');
CREATE TABLE hookwright.message (
    key text NOT NULL COLLATE pg_catalog."C",
    ref bigint NOT NULL,
    ttl_ms bigint NOT NULL
);
CREATE TABLE hookwright.meta (
    key text NOT NULL,
    value text NOT NULL
)
WITH (fillfactor='50');
CREATE TABLE hookwright.node (
    id bigint NOT NULL,
    token bigint DEFAULT 1 NOT NULL,
    batch bigint DEFAULT 0 NOT NULL,
    until timestamp with time zone NOT NULL,
    started_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    ended_at timestamp with time zone,
    url text NOT NULL,
    version text NOT NULL,
    table_hash text,
    problem text
)
WITH (fillfactor='50');
ALTER TABLE hookwright.node ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME hookwright.node_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE hookwright.rate_window (
    name text NOT NULL,
    opened_at timestamp with time zone NOT NULL,
    taken bigint NOT NULL,
    granted bigint NOT NULL
)
WITH (fillfactor='50');
CREATE TABLE hookwright.request (
    n bigint NOT NULL,
    profile text NOT NULL,
    route text NOT NULL,
    outcome text NOT NULL,
    reason text,
    head text NOT NULL,
    body bytea,
    bytes integer NOT NULL
);
ALTER TABLE ONLY hookwright.request ALTER COLUMN head SET COMPRESSION lz4;
ALTER TABLE ONLY hookwright.request ALTER COLUMN body SET COMPRESSION lz4;
CREATE TABLE hookwright.route_table (
    hash text NOT NULL,
    routes integer NOT NULL,
    files text NOT NULL,
    pushed_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);
CREATE TABLE hookwright.schema_version (
    version integer NOT NULL
);
CREATE TABLE hookwright.session (
    id bigint NOT NULL,
    profile text NOT NULL,
    target text NOT NULL,
    chat text NOT NULL,
    turns bigint DEFAULT 0 NOT NULL,
    changed_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
)
WITH (fillfactor='50');
ALTER TABLE hookwright.session ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME hookwright.session_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE hookwright.session_turn (
    session bigint NOT NULL,
    n bigint NOT NULL,
    turn text NOT NULL
);
CREATE TABLE hookwright.step (
    ref bigint NOT NULL,
    n integer NOT NULL,
    data text NOT NULL
);
CREATE TABLE hookwright.tally (
    lane text NOT NULL,
    node bigint NOT NULL,
    accepted bigint DEFAULT 0 NOT NULL,
    removed bigint DEFAULT 0 NOT NULL,
    pending bigint DEFAULT 0 NOT NULL,
    running bigint DEFAULT 0 NOT NULL,
    delivering bigint DEFAULT 0 NOT NULL,
    done bigint DEFAULT 0 NOT NULL,
    dead bigint DEFAULT 0 NOT NULL,
    skipped bigint DEFAULT 0 NOT NULL,
    bytes bigint DEFAULT 0 NOT NULL
)
WITH (fillfactor='50');
CREATE TABLE hookwright.usage (
    id bigint NOT NULL,
    ref bigint NOT NULL,
    at bigint NOT NULL,
    agent text,
    input_tokens bigint,
    output_tokens bigint,
    cost double precision
);
ALTER TABLE hookwright.usage ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME hookwright.usage_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE hookwright.work (
    ref bigint NOT NULL,
    lane text NOT NULL,
    state text NOT NULL,
    due_at bigint NOT NULL,
    set_at bigint NOT NULL,
    node bigint,
    holder text,
    started_at bigint,
    answered_at bigint,
    reason text,
    failed integer DEFAULT 0 NOT NULL,
    steps integer DEFAULT 0 NOT NULL,
    group_key text,
    first_at bigint,
    superseded integer DEFAULT 0 NOT NULL,
    session text COLLATE pg_catalog."C",
    turn bigint,
    waits_for text,
    waits_since bigint
)
WITH (fillfactor='70', autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='5000', autovacuum_vacuum_cost_delay='0');
INSERT INTO hookwright.answer VALUES (1, '"said"', '{"exit_code":0,"signal":null,"stderr":""}');
INSERT INTO hookwright.answer VALUES (29, '"x"', NULL);
INSERT INTO hookwright.claim VALUES ('["default","ended","delivery-ended-done"]', 10000000);
INSERT INTO hookwright.claim VALUES ('["default","ended","delivery-ended-dead"]', 10000000);
INSERT INTO hookwright.claim VALUES ('["default","ended","delivery-ended-skipped"]', 10000000);
INSERT INTO hookwright.claim VALUES ('["default","session","delivery-session-1"]', 10000000);
INSERT INTO hookwright.claim VALUES ('["default","session","delivery-session-2"]', 10000000);
INSERT INTO hookwright.claim VALUES ('["default","session","delivery-session-3"]', 10000000);
INSERT INTO hookwright.claim VALUES ('["default","session","delivery-session-4"]', 10000000);
INSERT INTO hookwright.claim VALUES ('["default","session","delivery-session-5"]', 10000000);
INSERT INTO hookwright.claim VALUES ('["default","alerts","delivery-group-1"]', 100000);
INSERT INTO hookwright.claim VALUES ('["default","alerts","delivery-group-2"]', 100000);
INSERT INTO hookwright.claim VALUES ('["default","alerts","delivery-group-3"]', 100000);
INSERT INTO hookwright.claim VALUES ('["default","session","delivery-session-6"]', 10000000);
INSERT INTO hookwright.claim VALUES ('["default","alerts","delivery-group-4"]', 100000);
INSERT INTO hookwright.claim VALUES ('["default","message","delivery-message-1"]', 10000000);
INSERT INTO hookwright.claim VALUES ('["default","approval","delivery-approval-1"]', 10000000);
INSERT INTO hookwright.claim VALUES ('["default","approval","delivery-approval-2"]', 10000000);
INSERT INTO hookwright.claim VALUES ('["default","paused","delivery-paused-1"]', 10000000);
INSERT INTO hookwright.claim VALUES ('["default","paused","delivery-paused-2"]', 10000000);
INSERT INTO hookwright.claim VALUES ('["default","fires","delivery-fires-1"]', 10000000);
INSERT INTO hookwright.claim VALUES ('["default","fires","delivery-fires-2"]', 10000000);
INSERT INTO hookwright.claim VALUES ('["default","fires","delivery-fires-3"]', 10000000);
INSERT INTO hookwright.claim VALUES ('["default","other","delivery-other-1"]', 10000000);
INSERT INTO hookwright.claim VALUES ('["default","budget","delivery-budget-1"]', 10000000);
INSERT INTO hookwright.claim VALUES ('["default","budget","delivery-budget-2"]', 10000000);
INSERT INTO hookwright.claim VALUES ('["default","spent","delivery-spent-1"]', 10000000);
INSERT INTO hookwright.claim VALUES ('["default","taken","delivery-taken-1"]', 10000000);
INSERT INTO hookwright.claim VALUES ('["default","taken","delivery-taken-2"]', 10000000);
INSERT INTO hookwright.claim VALUES ('["default","limited","delivery-limited-1"]', 10000000);
INSERT INTO hookwright.delivery VALUES (14, 1, '["default","email"]', 8000, 1750, NULL, NULL, NULL);
INSERT INTO hookwright.delivery VALUES (15, 0, '["default","log"]', 101000, 1000, NULL, NULL, 'new');
INSERT INTO hookwright.delivery VALUES (16, 0, '["default","log"]', 101000, 1000, NULL, NULL, 'told');
INSERT INTO hookwright.delivery VALUES (17, 0, '["default","messenger_a"]', 1800, 1800, 1, 'this process', NULL);
INSERT INTO hookwright.dispatch VALUES (1, 'ended-done', 'default', 'ended', NULL, 'agent', 1000, NULL, '["push","delivery-ended-done",null,0,null,null]', '[{"target":"log"}]', '{"id":"ended-done","mode":"agent","profile":"default","route":"ended","job":null,"event":"push","delivery_id":"delivery-ended-done","accepted_at":1000,"due_at":null,"prompt":"prompt of ended-done","skills":[],"toolsets":["web_search"],"session":"webhook:alerts:delivery-ended-done","deliveries":[{"target":"log","extra":{},"unresolved":[]}],"mirror_to_session":false,"superseded":0,"replay_of":null}', NULL, NULL);
INSERT INTO hookwright.dispatch VALUES (2, 'ended-dead', 'default', 'ended', NULL, 'agent', 1000, NULL, '["push","delivery-ended-dead",null,0,null,null]', '[{"target":"log"}]', '{"id":"ended-dead","mode":"agent","profile":"default","route":"ended","job":null,"event":"push","delivery_id":"delivery-ended-dead","accepted_at":1000,"due_at":null,"prompt":"prompt of ended-dead","skills":[],"toolsets":["web_search"],"session":"webhook:alerts:delivery-ended-dead","deliveries":[{"target":"log","extra":{},"unresolved":[]}],"mirror_to_session":false,"superseded":0,"replay_of":null}', NULL, NULL);
INSERT INTO hookwright.dispatch VALUES (3, 'ended-skipped', 'default', 'ended', NULL, 'agent', 1000, NULL, '["push","delivery-ended-skipped",null,0,null,null]', '[{"target":"log"}]', '{"id":"ended-skipped","mode":"agent","profile":"default","route":"ended","job":null,"event":"push","delivery_id":"delivery-ended-skipped","accepted_at":1000,"due_at":null,"prompt":"prompt of ended-skipped","skills":[],"toolsets":["web_search"],"session":"webhook:alerts:delivery-ended-skipped","deliveries":[{"target":"log","extra":{},"unresolved":[]}],"mirror_to_session":false,"superseded":0,"replay_of":null}', NULL, NULL);
INSERT INTO hookwright.dispatch VALUES (4, 'session-1', 'default', 'session', NULL, 'agent', 1000, NULL, '["push","delivery-session-1",null,0,null,"webhook:session:a"]', '[{"target":"log"}]', '{"id":"session-1","mode":"agent","profile":"default","route":"session","job":null,"event":"push","delivery_id":"delivery-session-1","accepted_at":1000,"due_at":null,"prompt":"prompt of session-1","skills":[],"toolsets":["web_search"],"session":"webhook:session:a","deliveries":[{"target":"log","extra":{},"unresolved":[]}],"mirror_to_session":false,"superseded":0,"replay_of":null,"session_key":"a"}', '["default","webhook:session:a"]', NULL);
INSERT INTO hookwright.dispatch VALUES (5, 'session-2', 'default', 'session', NULL, 'agent', 1000, NULL, '["push","delivery-session-2",null,0,null,"webhook:session:a"]', '[{"target":"log"}]', '{"id":"session-2","mode":"agent","profile":"default","route":"session","job":null,"event":"push","delivery_id":"delivery-session-2","accepted_at":1000,"due_at":null,"prompt":"prompt of session-2","skills":[],"toolsets":["web_search"],"session":"webhook:session:a","deliveries":[{"target":"log","extra":{},"unresolved":[]}],"mirror_to_session":false,"superseded":0,"replay_of":null,"session_key":"a"}', '["default","webhook:session:a"]', NULL);
INSERT INTO hookwright.dispatch VALUES (6, 'session-3', 'default', 'session', NULL, 'agent', 1000, NULL, '["push","delivery-session-3",null,0,null,"webhook:session:a"]', '[{"target":"log"}]', '{"id":"session-3","mode":"agent","profile":"default","route":"session","job":null,"event":"push","delivery_id":"delivery-session-3","accepted_at":1000,"due_at":null,"prompt":"prompt of session-3","skills":[],"toolsets":["web_search"],"session":"webhook:session:a","deliveries":[{"target":"log","extra":{},"unresolved":[]}],"mirror_to_session":false,"superseded":0,"replay_of":null,"session_key":"a"}', '["default","webhook:session:a"]', NULL);
INSERT INTO hookwright.dispatch VALUES (7, 'session-4', 'default', 'session', NULL, 'agent', 1000, NULL, '["push","delivery-session-4",null,0,null,"webhook:session:b"]', '[{"target":"log"}]', '{"id":"session-4","mode":"agent","profile":"default","route":"session","job":null,"event":"push","delivery_id":"delivery-session-4","accepted_at":1000,"due_at":null,"prompt":"prompt of session-4","skills":[],"toolsets":["web_search"],"session":"webhook:session:b","deliveries":[{"target":"log","extra":{},"unresolved":[]}],"mirror_to_session":false,"superseded":0,"replay_of":null,"session_key":"b"}', '["default","webhook:session:b"]', NULL);
INSERT INTO hookwright.dispatch VALUES (8, 'session-5', 'default', 'session', NULL, 'agent', 1000, NULL, '["push","delivery-session-5",null,0,null,"webhook:session:b"]', '[{"target":"log"}]', '{"id":"session-5","mode":"agent","profile":"default","route":"session","job":null,"event":"push","delivery_id":"delivery-session-5","accepted_at":1000,"due_at":null,"prompt":"prompt of session-5","skills":[],"toolsets":["web_search"],"session":"webhook:session:b","deliveries":[{"target":"log","extra":{},"unresolved":[]}],"mirror_to_session":false,"superseded":0,"replay_of":null,"session_key":"b"}', '["default","webhook:session:b"]', NULL);
INSERT INTO hookwright.dispatch VALUES (9, 'group-1', 'default', 'group', NULL, 'agent', 1000, NULL, '["push","delivery-group-1",null,0,null,null]', '[{"target":"log"}]', '{"id":"group-1","mode":"agent","profile":"default","route":"group","job":null,"event":"push","delivery_id":"delivery-group-1","accepted_at":1000,"due_at":null,"prompt":"prompt of group-1","skills":[],"toolsets":["web_search"],"session":"webhook:alerts:delivery-group-1","deliveries":[{"target":"log","extra":{},"unresolved":[]}],"mirror_to_session":false,"superseded":0,"replay_of":null}', NULL, NULL);
INSERT INTO hookwright.dispatch VALUES (10, 'group-2', 'default', 'group', NULL, 'agent', 1000, NULL, '["push","delivery-group-2",null,1,null,null]', '[{"target":"log"}]', '{"id":"group-2","mode":"agent","profile":"default","route":"group","job":null,"event":"push","delivery_id":"delivery-group-2","accepted_at":1000,"due_at":null,"prompt":"prompt of group-2","skills":[],"toolsets":["web_search"],"session":"webhook:alerts:delivery-group-2","deliveries":[{"target":"log","extra":{},"unresolved":[]}],"mirror_to_session":false,"superseded":0,"replay_of":null}', NULL, NULL);
INSERT INTO hookwright.dispatch VALUES (11, 'group-3', 'default', 'group', NULL, 'agent', 1000, NULL, '["push","delivery-group-3",null,0,null,"webhook:session:c"]', '[{"target":"log"}]', '{"id":"group-3","mode":"agent","profile":"default","route":"group","job":null,"event":"push","delivery_id":"delivery-group-3","accepted_at":1000,"due_at":null,"prompt":"prompt of group-3","skills":[],"toolsets":["web_search"],"session":"webhook:session:c","deliveries":[{"target":"log","extra":{},"unresolved":[]}],"mirror_to_session":false,"superseded":0,"replay_of":null,"session_key":"c"}', '["default","webhook:session:c"]', NULL);
INSERT INTO hookwright.dispatch VALUES (12, 'session-6', 'default', 'session', NULL, 'agent', 1000, NULL, '["push","delivery-session-6",null,0,null,"webhook:session:c"]', '[{"target":"log"}]', '{"id":"session-6","mode":"agent","profile":"default","route":"session","job":null,"event":"push","delivery_id":"delivery-session-6","accepted_at":1000,"due_at":null,"prompt":"prompt of session-6","skills":[],"toolsets":["web_search"],"session":"webhook:session:c","deliveries":[{"target":"log","extra":{},"unresolved":[]}],"mirror_to_session":false,"superseded":0,"replay_of":null,"session_key":"c"}', '["default","webhook:session:c"]', NULL);
INSERT INTO hookwright.dispatch VALUES (13, 'group-4', 'default', 'group', NULL, 'agent', 1000, NULL, '["push","delivery-group-4",null,1,null,"webhook:session:c"]', '[{"target":"log"}]', '{"id":"group-4","mode":"agent","profile":"default","route":"group","job":null,"event":"push","delivery_id":"delivery-group-4","accepted_at":1000,"due_at":null,"prompt":"prompt of group-4","skills":[],"toolsets":["web_search"],"session":"webhook:session:c","deliveries":[{"target":"log","extra":{},"unresolved":[]}],"mirror_to_session":false,"superseded":0,"replay_of":null,"session_key":"c"}', '["default","webhook:session:c"]', NULL);
INSERT INTO hookwright.dispatch VALUES (28, 'budget-2', 'default', 'budget', NULL, 'agent', 1000, NULL, '["push","delivery-budget-2",null,0,null,null]', '[{"target":"log"}]', '{"id":"budget-2","mode":"agent","profile":"default","route":"budget","job":null,"event":"push","delivery_id":"delivery-budget-2","accepted_at":1000,"due_at":null,"prompt":"prompt of budget-2","skills":[],"toolsets":["web_search"],"session":"webhook:alerts:delivery-budget-2","deliveries":[{"target":"log","extra":{},"unresolved":[]}],"mirror_to_session":false,"superseded":0,"replay_of":null}', NULL, NULL);
INSERT INTO hookwright.dispatch VALUES (14, 'message-1', 'default', 'message', NULL, 'message', 1000, NULL, '["push","delivery-message-1",null,0,null,null]', '[{"target":"log"},{"target":"email"}]', '{"id":"message-1","mode":"message","profile":"default","route":"message","job":null,"event":"push","delivery_id":"delivery-message-1","accepted_at":1000,"due_at":null,"prompt":"prompt of message-1","skills":[],"toolsets":["web_search"],"session":"webhook:alerts:delivery-message-1","deliveries":[{"target":"log","extra":{},"unresolved":[]},{"target":"email","extra":{},"unresolved":[]}],"mirror_to_session":false,"superseded":0,"replay_of":null}', NULL, NULL);
INSERT INTO hookwright.dispatch VALUES (15, 'approval-1', 'default', 'approval', NULL, 'message', 1000, NULL, '["push","delivery-approval-1",null,0,null,null]', '[{"target":"log","approve_ms":100000}]', '{"id":"approval-1","mode":"message","profile":"default","route":"approval","job":null,"event":"push","delivery_id":"delivery-approval-1","accepted_at":1000,"due_at":null,"prompt":"prompt of approval-1","skills":[],"toolsets":["web_search"],"session":"webhook:alerts:delivery-approval-1","deliveries":[{"target":"log","extra":{},"unresolved":[],"approve_ms":100000}],"mirror_to_session":false,"superseded":0,"replay_of":null}', NULL, NULL);
INSERT INTO hookwright.dispatch VALUES (16, 'approval-2', 'default', 'approval', NULL, 'message', 1000, NULL, '["push","delivery-approval-2",null,0,null,null]', '[{"target":"log","approve_ms":100000}]', '{"id":"approval-2","mode":"message","profile":"default","route":"approval","job":null,"event":"push","delivery_id":"delivery-approval-2","accepted_at":1000,"due_at":null,"prompt":"prompt of approval-2","skills":[],"toolsets":["web_search"],"session":"webhook:alerts:delivery-approval-2","deliveries":[{"target":"log","extra":{},"unresolved":[],"approve_ms":100000}],"mirror_to_session":false,"superseded":0,"replay_of":null}', NULL, NULL);
INSERT INTO hookwright.dispatch VALUES (17, 'approval-told', 'default', NULL, NULL, 'message', 1000, NULL, '["push","delivery-approval-told",null,0,null,null]', '[{"target":"messenger_a"}]', '{"id":"approval-told","mode":"message","profile":"default","route":null,"job":null,"event":"push","delivery_id":"delivery-approval-told","accepted_at":1000,"due_at":null,"prompt":"prompt of approval-told","skills":[],"toolsets":["web_search"],"session":"webhook:alerts:delivery-approval-told","deliveries":[{"target":"messenger_a","extra":{},"unresolved":[]}],"mirror_to_session":false,"superseded":0,"replay_of":null}', NULL, NULL);
INSERT INTO hookwright.dispatch VALUES (18, 'direct-1', 'default', 'direct', NULL, 'direct', 1000, NULL, '["push","delivery-direct-1",null,0,null,null]', '[{"target":"log"}]', '{"id":"direct-1","mode":"direct","profile":"default","route":"direct","job":null,"event":"push","delivery_id":"delivery-direct-1","accepted_at":1000,"due_at":null,"prompt":"prompt of direct-1","skills":[],"toolsets":["web_search"],"session":"webhook:alerts:delivery-direct-1","deliveries":[{"target":"log","extra":{},"unresolved":[]}],"mirror_to_session":false,"superseded":0,"replay_of":null}', NULL, NULL);
INSERT INTO hookwright.dispatch VALUES (19, 'paused-1', 'default', 'paused', NULL, 'agent', 1000, NULL, '["push","delivery-paused-1",null,0,null,null]', '[{"target":"log"}]', '{"id":"paused-1","mode":"agent","profile":"default","route":"paused","job":null,"event":"push","delivery_id":"delivery-paused-1","accepted_at":1000,"due_at":null,"prompt":"prompt of paused-1","skills":[],"toolsets":["web_search"],"session":"webhook:alerts:delivery-paused-1","deliveries":[{"target":"log","extra":{},"unresolved":[]}],"mirror_to_session":false,"superseded":0,"replay_of":null}', NULL, NULL);
INSERT INTO hookwright.dispatch VALUES (20, 'paused-2', 'default', 'paused', NULL, 'message', 1000, NULL, '["push","delivery-paused-2",null,0,null,null]', '[{"target":"log"}]', '{"id":"paused-2","mode":"message","profile":"default","route":"paused","job":null,"event":"push","delivery_id":"delivery-paused-2","accepted_at":1000,"due_at":null,"prompt":"prompt of paused-2","skills":[],"toolsets":["web_search"],"session":"webhook:alerts:delivery-paused-2","deliveries":[{"target":"log","extra":{},"unresolved":[]}],"mirror_to_session":false,"superseded":0,"replay_of":null}', NULL, NULL);
INSERT INTO hookwright.dispatch VALUES (21, 'fires-1', 'default', 'fires', 'held', 'job', 1000, NULL, '["push","delivery-fires-1",null,0,null,null]', '[{"target":"log"}]', '{"id":"fires-1","mode":"job","profile":"default","route":"fires","job":"held","event":"push","delivery_id":"delivery-fires-1","accepted_at":1000,"due_at":null,"prompt":"prompt of fires-1","skills":[],"toolsets":["web_search"],"session":"webhook:alerts:delivery-fires-1","deliveries":[{"target":"log","extra":{},"unresolved":[]}],"mirror_to_session":false,"superseded":0,"replay_of":null}', NULL, NULL);
INSERT INTO hookwright.dispatch VALUES (22, 'held-2000', 'default', NULL, 'held', 'job', 1000, NULL, '["push","delivery-held-2000",null,0,null,null]', '[{"target":"log"}]', '{"id":"held-2000","mode":"job","profile":"default","route":null,"job":"held","event":"push","delivery_id":"delivery-held-2000","accepted_at":1000,"due_at":2000,"prompt":"prompt of held-2000","skills":[],"toolsets":["web_search"],"session":"webhook:alerts:delivery-held-2000","deliveries":[{"target":"log","extra":{},"unresolved":[]}],"mirror_to_session":false,"superseded":0,"replay_of":null}', NULL, NULL);
INSERT INTO hookwright.dispatch VALUES (23, 'fires-2', 'default', 'fires', 'alone', 'job', 1000, NULL, '["push","delivery-fires-2",null,0,null,null]', '[{"target":"log"}]', '{"id":"fires-2","mode":"job","profile":"default","route":"fires","job":"alone","event":"push","delivery_id":"delivery-fires-2","accepted_at":1000,"due_at":null,"prompt":"prompt of fires-2","skills":[],"toolsets":["web_search"],"session":"webhook:alerts:delivery-fires-2","deliveries":[{"target":"log","extra":{},"unresolved":[]}],"mirror_to_session":false,"superseded":0,"replay_of":null}', NULL, NULL);
INSERT INTO hookwright.dispatch VALUES (24, 'fires-3', 'default', 'fires', 'both', 'job', 1000, NULL, '["push","delivery-fires-3",null,0,null,null]', '[{"target":"log"}]', '{"id":"fires-3","mode":"job","profile":"default","route":"fires","job":"both","event":"push","delivery_id":"delivery-fires-3","accepted_at":1000,"due_at":null,"prompt":"prompt of fires-3","skills":[],"toolsets":["web_search"],"session":"webhook:alerts:delivery-fires-3","deliveries":[{"target":"log","extra":{},"unresolved":[]}],"mirror_to_session":false,"superseded":0,"replay_of":null}', NULL, NULL);
INSERT INTO hookwright.dispatch VALUES (25, 'other-1', 'default', 'other', 'both', 'job', 1000, NULL, '["push","delivery-other-1",null,0,null,null]', '[{"target":"log"}]', '{"id":"other-1","mode":"job","profile":"default","route":"other","job":"both","event":"push","delivery_id":"delivery-other-1","accepted_at":1000,"due_at":null,"prompt":"prompt of other-1","skills":[],"toolsets":["web_search"],"session":"webhook:alerts:delivery-other-1","deliveries":[{"target":"log","extra":{},"unresolved":[]}],"mirror_to_session":false,"superseded":0,"replay_of":null}', NULL, NULL);
INSERT INTO hookwright.dispatch VALUES (26, 'by-hand', 'default', NULL, 'busy', 'job', 1000, NULL, '["push","delivery-by-hand",null,0,null,null]', '[{"target":"log"}]', '{"id":"by-hand","mode":"job","profile":"default","route":null,"job":"busy","event":"push","delivery_id":"delivery-by-hand","accepted_at":1000,"due_at":null,"prompt":"prompt of by-hand","skills":[],"toolsets":["web_search"],"session":"webhook:alerts:delivery-by-hand","deliveries":[{"target":"log","extra":{},"unresolved":[]}],"mirror_to_session":false,"superseded":0,"replay_of":null}', NULL, NULL);
INSERT INTO hookwright.dispatch VALUES (27, 'budget-1', 'default', 'budget', NULL, 'agent', 1000, NULL, '["push","delivery-budget-1",null,0,null,null]', '[{"target":"log"}]', '{"id":"budget-1","mode":"agent","profile":"default","route":"budget","job":null,"event":"push","delivery_id":"delivery-budget-1","accepted_at":1000,"due_at":null,"prompt":"prompt of budget-1","skills":[],"toolsets":["web_search"],"session":"webhook:alerts:delivery-budget-1","deliveries":[{"target":"log","extra":{},"unresolved":[]}],"mirror_to_session":false,"superseded":0,"replay_of":null}', NULL, NULL);
INSERT INTO hookwright.dispatch VALUES (29, 'spent-1', 'default', 'spent', NULL, 'agent', 1000, NULL, '["push","delivery-spent-1",null,0,null,null]', '[{"target":"log"}]', '{"id":"spent-1","mode":"agent","profile":"default","route":"spent","job":null,"event":"push","delivery_id":"delivery-spent-1","accepted_at":1000,"due_at":null,"prompt":"prompt of spent-1","skills":[],"toolsets":["web_search"],"session":"webhook:alerts:delivery-spent-1","deliveries":[{"target":"log","extra":{},"unresolved":[]}],"mirror_to_session":false,"superseded":0,"replay_of":null}', NULL, NULL);
INSERT INTO hookwright.dispatch VALUES (31, 'taken-1', 'default', 'taken', NULL, 'agent', 1000, NULL, '["push","delivery-taken-1",null,0,null,null]', '[{"target":"log"}]', '{"id":"taken-1","mode":"agent","profile":"default","route":"taken","job":null,"event":"push","delivery_id":"delivery-taken-1","accepted_at":1000,"due_at":null,"prompt":"prompt of taken-1","skills":[],"toolsets":["web_search"],"session":"webhook:alerts:delivery-taken-1","deliveries":[{"target":"log","extra":{},"unresolved":[]}],"mirror_to_session":false,"superseded":0,"replay_of":null}', NULL, NULL);
INSERT INTO hookwright.dispatch VALUES (32, 'taken-2', 'default', 'taken', NULL, 'agent', 1000, NULL, '["push","delivery-taken-2",null,0,null,null]', '[{"target":"log"}]', '{"id":"taken-2","mode":"agent","profile":"default","route":"taken","job":null,"event":"push","delivery_id":"delivery-taken-2","accepted_at":1000,"due_at":null,"prompt":"prompt of taken-2","skills":[],"toolsets":["web_search"],"session":"webhook:alerts:delivery-taken-2","deliveries":[{"target":"log","extra":{},"unresolved":[]}],"mirror_to_session":false,"superseded":0,"replay_of":null}', NULL, NULL);
INSERT INTO hookwright.dispatch VALUES (33, 'limited-1', 'default', 'limited', NULL, 'agent', 1000, 2, '["push","delivery-limited-1",null,0,null,null]', '[{"target":"log"}]', '{"id":"limited-1","mode":"agent","profile":"default","route":"limited","job":null,"event":"push","delivery_id":"delivery-limited-1","accepted_at":1000,"due_at":null,"prompt":"prompt of limited-1","skills":[],"toolsets":["web_search"],"session":"webhook:alerts:delivery-limited-1","deliveries":[{"target":"log","extra":{},"unresolved":[]}],"mirror_to_session":false,"superseded":0,"replay_of":null}', NULL, NULL);
INSERT INTO hookwright.ended VALUES (1, 'done', 1000, 1100, 1150, NULL);
INSERT INTO hookwright.ended VALUES (2, 'dead', 1000, NULL, 1200, '"no way"');
INSERT INTO hookwright.ended VALUES (3, 'skipped', 1000, NULL, 1200, '"silent"');
INSERT INTO hookwright.ended VALUES (9, 'skipped', NULL, NULL, 1600, '"superseded by group-2"');
INSERT INTO hookwright.ended VALUES (11, 'skipped', NULL, NULL, 1600, '"superseded by group-4"');
INSERT INTO hookwright.ended VALUES (29, 'done', 2150, 2200, 2200, NULL);
INSERT INTO hookwright.figure VALUES (0, 3, 1, 0, 0, 0, 10, 20, 2);
INSERT INTO hookwright.guard_state VALUES ('["pause","[\"default\",\"paused\"]"]', 'pause', '"[\"default\",\"paused\"]"', '{"since":1800,"until":50000}', 50000);
INSERT INTO hookwright.guard_state VALUES ('["pause","[\"default\",\"fires\"]"]', 'pause', '"[\"default\",\"fires\"]"', '{"since":1800,"until":null}', NULL);
INSERT INTO hookwright.guard_state VALUES ('["pause","[\"default\",\"other\"]"]', 'pause', '"[\"default\",\"other\"]"', '{"since":1950,"until":null}', NULL);
INSERT INTO hookwright.guard_state VALUES ('["budget","[\"route\",\"default\",\"budget\",\"hour\"]"]', 'budget', '"[\"route\",\"default\",\"budget\",\"hour\"]"', '{"since":0,"until":3600000,"runs":2,"tokens":0,"cost":0,"refused":false,"largest_tokens":null,"largest_cost":null,"under_way":[27]}', 608400000);
INSERT INTO hookwright.guard_state VALUES ('["budget","[\"route\",\"default\",\"spent\",\"hour\"]"]', 'budget', '"[\"route\",\"default\",\"spent\",\"hour\"]"', '{"since":0,"until":3600000,"runs":1,"tokens":1,"cost":1.5,"refused":true,"largest_tokens":1,"largest_cost":1.5,"under_way":[]}', 608400000);
INSERT INTO hookwright.guard_state VALUES ('["budget","[\"route\",\"default\",\"taken\",\"hour\"]"]', 'budget', '"[\"route\",\"default\",\"taken\",\"hour\"]"', '{"since":0,"until":3600000,"runs":0,"tokens":0,"cost":0,"refused":false,"largest_tokens":null,"largest_cost":null,"under_way":[31]}', 608400000);
INSERT INTO hookwright.guard_state VALUES ('["runs","[\"k\"]"]', 'runs', '"[\"k\"]"', '{"times":[1000],"until":null}', 601000);
INSERT INTO hookwright.job VALUES ('dynamic', 'default', 'name-of-dynamic', '{"id":"dynamic","profile":"default","name":"name-of-dynamic","description":null,"schedule":"0 8 * * *","timezone":"UTC","prompt":"prompt of dynamic","deliver":[{"target":"local","extra":{}}],"skills":[],"toolsets":null,"misfire":"skip","created_at":1000,"blueprint":null}');
INSERT INTO hookwright.job_state VALUES ('held', NULL, 2000, NULL, 22, NULL);
INSERT INTO hookwright.job_state VALUES ('alone', NULL, NULL, NULL, 23, NULL);
INSERT INTO hookwright.job_state VALUES ('both', NULL, NULL, NULL, 25, NULL);
INSERT INTO hookwright.job_state VALUES ('busy', NULL, NULL, NULL, 26, NULL);
INSERT INTO hookwright.job_state VALUES ('dynamic', NULL, 1900, 's', NULL, NULL);
INSERT INTO hookwright.job_state VALUES ('resting', true, NULL, NULL, NULL, 70000);
INSERT INTO hookwright.job_tick VALUES ('held', 2000, 'fired', 22, 0);
INSERT INTO hookwright.lane VALUES ('["default","limited"]', 2);
INSERT INTO hookwright.message VALUES ('["default","message","delivery-message-1"]', 14, 9999000);
INSERT INTO hookwright.message VALUES ('["default","approval","delivery-approval-1"]', 15, 9999000);
INSERT INTO hookwright.message VALUES ('["default","approval","delivery-approval-2"]', 16, 9999000);
INSERT INTO hookwright.message VALUES ('["default","direct","delivery-direct-1"]', 18, 9999000);
INSERT INTO hookwright.message VALUES ('["default","paused","delivery-paused-2"]', 20, 9999000);
INSERT INTO hookwright.meta VALUES ('last_error', '{"id":"message-1","route":"message","at":1750,"reason":"busy"}');
INSERT INTO hookwright.meta VALUES ('jobs_version', '2');
INSERT INTO hookwright.node OVERRIDING SYSTEM VALUE VALUES (1, 1, 61, '2026-11-28 05:38:46.431602+00', '2026-11-28 05:38:36.431602+00', NULL, 'http://127.0.0.1:1', '0.0.0', 'hash', NULL);
INSERT INTO hookwright.schema_version VALUES (2);
INSERT INTO hookwright.step VALUES (1, 1, '{"kind":"delivery","index":0,"outcome":"ok","started_at":1140,"at":1150,"reason":null,"next_at":null,"sent":0,"message_id":null}');
INSERT INTO hookwright.step VALUES (2, 1, '{"kind":"run","index":null,"outcome":"failed","started_at":1500,"at":2000,"reason":"no way","next_at":null,"sent":0,"message_id":null}');
INSERT INTO hookwright.step VALUES (7, 1, '{"kind":"run","index":null,"outcome":"failed","started_at":1500,"at":2000,"reason":"try again","next_at":9000,"sent":0,"message_id":null}');
INSERT INTO hookwright.step VALUES (14, 1, '{"kind":"delivery","index":0,"outcome":"ok","started_at":1740,"at":1750,"reason":null,"next_at":null,"sent":0,"message_id":null}');
INSERT INTO hookwright.step VALUES (14, 2, '{"kind":"delivery","index":1,"outcome":"retry","started_at":1740,"at":1750,"reason":"busy","next_at":8000,"sent":0,"message_id":null}');
INSERT INTO hookwright.tally VALUES ('["default",null]', 1, 3, 0, 0, 2, 1, 0, 0, 0, 2987);
INSERT INTO hookwright.tally VALUES ('["default","ended"]', 1, 3, 0, 0, 0, 0, 1, 1, 1, 3056);
INSERT INTO hookwright.tally VALUES ('["default","session"]', 1, 6, 0, 5, 1, 0, 0, 0, 0, 5994);
INSERT INTO hookwright.tally VALUES ('["default","group"]', 1, 4, 0, 2, 0, 0, 0, 0, 2, 3956);
INSERT INTO hookwright.tally VALUES ('["default","message"]', 1, 1, 0, 0, 0, 1, 0, 0, 0, 1045);
INSERT INTO hookwright.tally VALUES ('["default","approval"]', 1, 2, 0, 0, 0, 2, 0, 0, 0, 2048);
INSERT INTO hookwright.tally VALUES ('["default","direct"]', 1, 1, 0, 0, 0, 1, 0, 0, 0, 993);
INSERT INTO hookwright.tally VALUES ('["default","paused"]', 1, 2, 0, 2, 0, 0, 0, 0, 0, 1986);
INSERT INTO hookwright.tally VALUES ('["default","fires"]', 1, 3, 0, 3, 0, 0, 0, 0, 0, 2962);
INSERT INTO hookwright.tally VALUES ('["default","other"]', 1, 1, 0, 1, 0, 0, 0, 0, 0, 987);
INSERT INTO hookwright.tally VALUES ('["default","spent"]', 1, 1, 0, 0, 0, 0, 1, 0, 0, 990);
INSERT INTO hookwright.tally VALUES ('["default","taken"]', 1, 2, 0, 1, 1, 0, 0, 0, 0, 1974);
INSERT INTO hookwright.tally VALUES ('["default","budget"]', 1, 2, 0, 0, 2, 0, 0, 0, 0, 1984);
INSERT INTO hookwright.tally VALUES ('["default","limited"]', 1, 1, 0, 1, 0, 0, 0, 0, 0, 997);
INSERT INTO hookwright.usage OVERRIDING SYSTEM VALUE VALUES (1, 1, 1100, 'reviewer', 10, 5, 0.5);
INSERT INTO hookwright.usage OVERRIDING SYSTEM VALUE VALUES (2, 29, 2200, NULL, 1, NULL, 1.5);
INSERT INTO hookwright.work VALUES (5, '["default","session"]', 'pending', 1000, 1000, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, 0, '["default","webhook:session:a"]', 5, 'session', 1000);
INSERT INTO hookwright.work VALUES (6, '["default","session"]', 'pending', 1000, 1000, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, 0, '["default","webhook:session:a"]', 6, 'session', 1000);
INSERT INTO hookwright.work VALUES (8, '["default","session"]', 'pending', 1000, 1000, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, 0, '["default","webhook:session:b"]', 8, 'session', 1000);
INSERT INTO hookwright.work VALUES (4, '["default","session"]', 'running', 1000, 1000, 1, 'this process', 1300, NULL, NULL, 0, 0, NULL, NULL, 0, '["default","webhook:session:a"]', 4, NULL, NULL);
INSERT INTO hookwright.work VALUES (7, '["default","session"]', 'pending', 9000, 1400, NULL, NULL, 1300, NULL, '"try again"', 1, 1, NULL, NULL, 0, '["default","webhook:session:b"]', 7, NULL, NULL);
INSERT INTO hookwright.work VALUES (10, '["default","group"]', 'pending', 31600, 1600, NULL, NULL, NULL, NULL, NULL, 0, 0, '["default","group","x"]', 1500, 1, NULL, 9, NULL, NULL);
INSERT INTO hookwright.work VALUES (12, '["default","session"]', 'pending', 1000, 1000, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, 0, '["default","webhook:session:c"]', 12, 'session', 1000);
INSERT INTO hookwright.work VALUES (13, '["default","group"]', 'pending', 31600, 1600, NULL, NULL, NULL, NULL, NULL, 0, 0, '["default","group","y"]', 1500, 1, '["default","webhook:session:c"]', 11, NULL, NULL);
INSERT INTO hookwright.work VALUES (14, '["default","message"]', 'delivering', 1000, 1000, NULL, NULL, NULL, NULL, '"busy"', 0, 2, NULL, NULL, 0, NULL, 14, NULL, NULL);
INSERT INTO hookwright.work VALUES (15, '["default","approval"]', 'delivering', 1000, 1000, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, 0, NULL, 15, NULL, NULL);
INSERT INTO hookwright.work VALUES (16, '["default","approval"]', 'delivering', 1000, 1000, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, 0, NULL, 16, NULL, NULL);
INSERT INTO hookwright.work VALUES (17, '["default",null]', 'delivering', 1800, 1800, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, 0, NULL, 17, NULL, NULL);
INSERT INTO hookwright.work VALUES (18, '["default","direct"]', 'delivering', 1000, 1000, 1, 'this process', NULL, NULL, NULL, 0, 0, NULL, NULL, 0, NULL, 18, NULL, NULL);
INSERT INTO hookwright.work VALUES (19, '["default","paused"]', 'pending', 1000, 1000, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, 0, NULL, 19, NULL, NULL);
INSERT INTO hookwright.work VALUES (20, '["default","paused"]', 'pending', 1000, 1000, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, 0, NULL, 20, NULL, NULL);
INSERT INTO hookwright.work VALUES (21, '["default","fires"]', 'pending', 1900, 1900, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, 0, '["held"]', 21, 'job', 2000);
INSERT INTO hookwright.work VALUES (23, '["default","fires"]', 'pending', 1900, 1900, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, 0, NULL, 23, NULL, NULL);
INSERT INTO hookwright.work VALUES (25, '["default","other"]', 'pending', 1900, 1900, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, 0, '["both"]', 23, NULL, NULL);
INSERT INTO hookwright.work VALUES (24, '["default","fires"]', 'pending', 1900, 1900, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, 0, '["both"]', 24, 'job', 1900);
INSERT INTO hookwright.work VALUES (22, '["default",null]', 'running', 2000, 2000, 1, 'this process', 2100, NULL, NULL, 0, 0, NULL, NULL, 0, '["held"]', 20, NULL, NULL);
INSERT INTO hookwright.work VALUES (26, '["default",null]', 'running', 1900, 1900, 1, 'this process', 2100, NULL, NULL, 0, 0, NULL, NULL, 0, NULL, 26, NULL, NULL);
INSERT INTO hookwright.work VALUES (27, '["default","budget"]', 'running', 1000, 1000, 1, 'this process', 2100, NULL, NULL, 0, 0, NULL, NULL, 0, NULL, 27, NULL, NULL);
INSERT INTO hookwright.work VALUES (31, '["default","taken"]', 'running', 1000, 1000, 1, 'this process', 2200, NULL, NULL, 0, 0, NULL, NULL, 0, NULL, 31, NULL, NULL);
INSERT INTO hookwright.work VALUES (32, '["default","taken"]', 'pending', 3200, 2200, NULL, NULL, 2200, NULL, '"budget"', 0, 0, NULL, NULL, 0, NULL, 32, NULL, 2200);
INSERT INTO hookwright.work VALUES (28, '["default","budget"]', 'running', 3100, 2100, 1, 'this process', 3250, NULL, '"budget"', 0, 0, NULL, NULL, 0, NULL, 28, NULL, 2100);
INSERT INTO hookwright.work VALUES (33, '["default","limited"]', 'pending', 1000, 1000, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, 0, NULL, 33, NULL, NULL);
ALTER TABLE ONLY hookwright.answer
    ADD CONSTRAINT answer_pkey PRIMARY KEY (ref);
ALTER TABLE ONLY hookwright.claim
    ADD CONSTRAINT claim_pkey PRIMARY KEY (key);
ALTER TABLE ONLY hookwright.delivery
    ADD CONSTRAINT delivery_pkey PRIMARY KEY (ref, n);
ALTER TABLE ONLY hookwright.dispatch
    ADD CONSTRAINT dispatch_id_key UNIQUE (id);
ALTER TABLE ONLY hookwright.dispatch
    ADD CONSTRAINT dispatch_pkey PRIMARY KEY (ref);
ALTER TABLE ONLY hookwright.document
    ADD CONSTRAINT document_pkey PRIMARY KEY (name);
ALTER TABLE ONLY hookwright.ended
    ADD CONSTRAINT ended_pkey PRIMARY KEY (ref);
ALTER TABLE ONLY hookwright.figure
    ADD CONSTRAINT figure_pkey PRIMARY KEY (minute);
ALTER TABLE ONLY hookwright.guard_state
    ADD CONSTRAINT guard_state_pkey PRIMARY KEY (id);
ALTER TABLE ONLY hookwright.job
    ADD CONSTRAINT job_pkey PRIMARY KEY (id);
ALTER TABLE ONLY hookwright.job
    ADD CONSTRAINT job_profile_name_key UNIQUE (profile, name);
ALTER TABLE ONLY hookwright.job_state
    ADD CONSTRAINT job_state_pkey PRIMARY KEY (job);
ALTER TABLE ONLY hookwright.job_tick
    ADD CONSTRAINT job_tick_pkey PRIMARY KEY (job, due_at);
ALTER TABLE ONLY hookwright.lane
    ADD CONSTRAINT lane_pkey PRIMARY KEY (lane);
ALTER TABLE ONLY hookwright.message
    ADD CONSTRAINT message_pkey PRIMARY KEY (key);
ALTER TABLE ONLY hookwright.meta
    ADD CONSTRAINT meta_pkey PRIMARY KEY (key);
ALTER TABLE ONLY hookwright.node
    ADD CONSTRAINT node_pkey PRIMARY KEY (id);
ALTER TABLE ONLY hookwright.rate_window
    ADD CONSTRAINT rate_window_pkey PRIMARY KEY (name);
ALTER TABLE ONLY hookwright.request
    ADD CONSTRAINT request_pkey PRIMARY KEY (n) INCLUDE (bytes);
ALTER TABLE ONLY hookwright.route_table
    ADD CONSTRAINT route_table_pkey PRIMARY KEY (hash);
ALTER TABLE ONLY hookwright.session
    ADD CONSTRAINT session_pkey PRIMARY KEY (id);
ALTER TABLE ONLY hookwright.session
    ADD CONSTRAINT session_profile_target_chat_key UNIQUE (profile, target, chat);
ALTER TABLE ONLY hookwright.session_turn
    ADD CONSTRAINT session_turn_pkey PRIMARY KEY (session, n);
ALTER TABLE ONLY hookwright.step
    ADD CONSTRAINT step_pkey PRIMARY KEY (ref, n);
ALTER TABLE ONLY hookwright.tally
    ADD CONSTRAINT tally_pkey PRIMARY KEY (lane, node);
ALTER TABLE ONLY hookwright.usage
    ADD CONSTRAINT usage_pkey PRIMARY KEY (id);
ALTER TABLE ONLY hookwright.work
    ADD CONSTRAINT work_pkey PRIMARY KEY (ref);
CREATE INDEX delivery_due ON hookwright.delivery USING btree (lane, due_at, ref, n) WHERE (holder IS NULL);
CREATE INDEX delivery_held ON hookwright.delivery USING btree (node, holder, lane) WHERE (holder IS NOT NULL);
CREATE INDEX delivery_waiting ON hookwright.delivery USING btree (ref, n) WHERE (waiting IS NOT NULL);
CREATE INDEX dispatch_burst ON hookwright.dispatch USING btree (burst, ref) WHERE (burst IS NOT NULL);
CREATE INDEX dispatch_id_beginning ON hookwright.dispatch USING btree (id text_pattern_ops);
CREATE INDEX dispatch_job ON hookwright.dispatch USING btree (job, ref) WHERE (job IS NOT NULL);
CREATE INDEX dispatch_route ON hookwright.dispatch USING btree (route, ref);
CREATE INDEX dispatch_session ON hookwright.dispatch USING btree (session, ref) WHERE (session IS NOT NULL);
CREATE INDEX ended_dead ON hookwright.ended USING btree (ref) WHERE (state = 'dead'::text);
CREATE INDEX ended_skipped ON hookwright.ended USING btree (ref) WHERE (state = 'skipped'::text);
CREATE INDEX guard_kind ON hookwright.guard_state USING btree (kind);
CREATE INDEX job_tick_due ON hookwright.job_tick USING btree (due_at);
CREATE INDEX message_ref ON hookwright.message USING btree (ref);
CREATE INDEX request_outcome ON hookwright.request USING btree (outcome, n);
CREATE INDEX request_profile ON hookwright.request USING btree (profile, n);
CREATE INDEX request_reason ON hookwright.request USING btree (reason, n) WHERE (reason IS NOT NULL);
CREATE INDEX request_route ON hookwright.request USING btree (route, n);
CREATE INDEX usage_at ON hookwright.usage USING btree (at);
CREATE INDEX usage_ref ON hookwright.usage USING btree (ref);
CREATE INDEX work_due ON hookwright.work USING btree (lane, due_at, ref) WHERE ((state = 'pending'::text) AND (waits_for IS NULL));
CREATE UNIQUE INDEX work_group ON hookwright.work USING btree (group_key) WHERE (group_key IS NOT NULL);
CREATE INDEX work_held ON hookwright.work USING btree (node) WHERE (holder IS NOT NULL);
CREATE INDEX work_running ON hookwright.work USING btree (lane) WHERE (state = 'running'::text);
CREATE INDEX work_session ON hookwright.work USING btree (session, turn) WHERE (session IS NOT NULL);
SELECT pg_catalog.setval('hookwright.dispatch_ref', 33, true);
SELECT pg_catalog.setval('hookwright.node_id_seq', 1, true);
SELECT pg_catalog.setval('hookwright.session_id_seq', 1, false);
SELECT pg_catalog.setval('hookwright.usage_id_seq', 2, true);
