/**
 * The tables on PostgreSQL. All are in one schema, which `search_path` names in each transaction. Untrusted text is
 * stored as JSON, because PostgreSQL does not accept a NUL.
 *
 * Each change of the tables is a new version with a new step. Gateways of the previous version keep running with it, so
 * a step may only add tables, indexes, and columns that are null or have a default. Anything that the previous version
 * needs can be dropped one version later.
 */
import { FIGURES } from '../../../../runtime/store/figures.ts';
import { RENAME_LANES } from '../../../../runtime/store/records.ts';
import type { DeliveryRow, DispatchRow, WorkRow } from '../../../../runtime/store/unit/rows.ts';

/** The version that this program reads and writes. */
export const SCHEMA_VERSION = 4;

/** The columns of the rows that a unit of work reads and writes; a step below adds each new one. */
type Columns<Names extends string> = Readonly<Record<Names, 'bigint' | 'integer' | 'text'>>;

export const DISPATCH: Columns<keyof DispatchRow> = {
  ref: 'bigint',
  id: 'text',
  profile: 'text',
  route: 'text',
  job: 'text',
  mode: 'text',
  accepted_at: 'bigint',
  max_concurrent: 'integer',
  head: 'text',
  targets: 'text',
  session: 'text',
  burst: 'bigint',
  body: 'text',
};
export const WORK: Columns<keyof WorkRow> = {
  ref: 'bigint',
  lane: 'text',
  state: 'text',
  due_at: 'bigint',
  set_at: 'bigint',
  holder: 'text',
  started_at: 'bigint',
  answered_at: 'bigint',
  reason: 'text',
  failed: 'integer',
  steps: 'integer',
  group_key: 'text',
  first_at: 'bigint',
  superseded: 'integer',
  session: 'text',
  turn: 'bigint',
  blocked_by: 'text',
};
export const DELIVERY: Columns<keyof DeliveryRow> = {
  ref: 'bigint',
  n: 'integer',
  lane: 'text',
  due_at: 'bigint',
  set_at: 'bigint',
  holder: 'text',
  blocked_by: 'text',
  told_at: 'bigint',
};

const VERSION_1 = `
  -- Gateways, a row for each start. token: checked by each transaction of the gateway; batch: its last committed one.
  -- until: end of the lease, by this server's clock. ended_at: when the lease was ended, or another gateway took over.
  CREATE TABLE node (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    token bigint NOT NULL DEFAULT 1,
    batch bigint NOT NULL DEFAULT 0,
    until timestamptz NOT NULL,
    started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    ended_at timestamptz,
    url text NOT NULL,
    version text NOT NULL,
    table_hash text,
    problem text
  ) WITH (fillfactor = 50);

  CREATE SEQUENCE dispatch_ref AS bigint;

  -- Accepted dispatches, never changed. head: JSON (Head in runtime/store/listed-rows.ts); targets: JSON list of the
  -- targets of its deliveries, {target, label}; body: JSON of the dispatch.
  CREATE TABLE dispatch (
    ref bigint PRIMARY KEY,
    id text NOT NULL UNIQUE,
    profile text NOT NULL,
    route text,
    job text,
    mode text NOT NULL,
    accepted_at bigint NOT NULL,
    max_concurrent integer,
    head text NOT NULL,
    targets text NOT NULL,
    body text NOT NULL
  );
  CREATE INDEX dispatch_id_beginning ON dispatch (id text_pattern_ops);
  CREATE INDEX dispatch_route ON dispatch (route, ref);
  CREATE INDEX dispatch_job ON dispatch (job, ref) WHERE job IS NOT NULL;

  -- Progress of dispatches that have not ended: small rows that change a few times. lane: JSON [profile, route].
  -- due_at of a pending one: when its run or its group's end is due. set_at: when due_at was set. node, holder: the process
  -- that runs or delivers it. group_key, first_at, superseded: the coalesce group in which it waits; reason: JSON.
  CREATE TABLE work (
    ref bigint PRIMARY KEY,
    lane text NOT NULL,
    state text NOT NULL,
    due_at bigint NOT NULL,
    set_at bigint NOT NULL,
    node bigint,
    holder text,
    started_at bigint,
    answered_at bigint,
    reason text,
    failed integer NOT NULL DEFAULT 0,
    steps integer NOT NULL DEFAULT 0,
    group_key text,
    first_at bigint,
    superseded integer NOT NULL DEFAULT 0
  ) WITH (fillfactor = 70, VACUUM_SETTINGS);
  CREATE INDEX work_due ON work (lane, due_at, ref) WHERE state = 'pending';
  CREATE INDEX work_running ON work (lane) WHERE state = 'running';
  CREATE INDEX work_held ON work (node) WHERE holder IS NOT NULL;
  CREATE UNIQUE INDEX work_group ON work (group_key) WHERE group_key IS NOT NULL;

  -- Ended dispatches; written once.
  CREATE TABLE ended (
    ref bigint PRIMARY KEY,
    state text NOT NULL,
    started_at bigint,
    answered_at bigint,
    finished_at bigint NOT NULL,
    reason text
  );
  CREATE INDEX ended_dead ON ended (ref) WHERE state = 'dead';
  CREATE INDEX ended_skipped ON ended (ref) WHERE state = 'skipped';

  -- Open deliveries of dispatches in state delivering. lane: JSON [profile, target].
  CREATE TABLE delivery (
    ref bigint NOT NULL,
    n integer NOT NULL,
    lane text NOT NULL,
    due_at bigint NOT NULL,
    set_at bigint NOT NULL,
    node bigint,
    holder text,
    PRIMARY KEY (ref, n)
  ) WITH (fillfactor = 70, VACUUM_SETTINGS);
  CREATE INDEX delivery_due ON delivery (lane, due_at, ref, n) WHERE holder IS NULL;
  CREATE INDEX delivery_held ON delivery (node, holder, lane) WHERE holder IS NOT NULL;

  -- The agent's text, as JSON; delivery attempts and failed runs, in order, as JSON.
  CREATE TABLE answer (ref bigint PRIMARY KEY, text text NOT NULL);
  CREATE TABLE step (ref bigint NOT NULL, n integer NOT NULL, data text NOT NULL, PRIMARY KEY (ref, n));

  -- Delivery ids. key: JSON [profile, route, delivery id], or its digest when that is long.
  CREATE TABLE claim (key text COLLATE "C" PRIMARY KEY, expires_at bigint NOT NULL);

  -- The limit of concurrent runs of a lane. A gateway that takes runs of a limited lane locks its row first.
  CREATE TABLE lane (lane text PRIMARY KEY, max_concurrent integer) WITH (fillfactor = 50);

  -- Counts of each lane, and the bytes of its texts: a row for each node, so that nodes do not wait for each other.
  CREATE TABLE tally (
    lane text NOT NULL,
    node bigint NOT NULL,
    accepted bigint NOT NULL DEFAULT 0,
    removed bigint NOT NULL DEFAULT 0,
    pending bigint NOT NULL DEFAULT 0,
    running bigint NOT NULL DEFAULT 0,
    delivering bigint NOT NULL DEFAULT 0,
    done bigint NOT NULL DEFAULT 0,
    dead bigint NOT NULL DEFAULT 0,
    skipped bigint NOT NULL DEFAULT 0,
    bytes bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (lane, node)
  ) WITH (fillfactor = 50);

  -- Dynamic jobs (body: JSON), the state of each job (ref: its latest run), and one row for each instant.
  CREATE TABLE job (id text PRIMARY KEY, profile text NOT NULL, name text NOT NULL, body text NOT NULL,
    UNIQUE (profile, name));
  CREATE TABLE job_state (job text PRIMARY KEY, paused boolean, "cursor" bigint, signature text, ref bigint);
  CREATE TABLE job_tick (
    job text NOT NULL,
    due_at bigint NOT NULL,
    outcome text NOT NULL,
    ref bigint,
    missed integer NOT NULL,
    PRIMARY KEY (job, due_at)
  );
  CREATE INDEX job_tick_due ON job_tick (due_at);

  -- Fixed windows of the rate limits, one for each route. granted: slots granted by the latest statement.
  CREATE TABLE rate_window (name text PRIMARY KEY, opened_at timestamptz NOT NULL, taken bigint NOT NULL,
    granted bigint NOT NULL) WITH (fillfactor = 50);

  -- Compiled tables that are distributed to gateways; files: JSON of their texts.
  CREATE TABLE route_table (hash text PRIMARY KEY, routes integer NOT NULL, files text NOT NULL,
    pushed_at timestamptz NOT NULL DEFAULT clock_timestamp());

  -- Texts that gateways share (subscriptions; the hash of the active table), each replaced as a whole.
  CREATE TABLE document (name text PRIMARY KEY, version bigint NOT NULL, body text NOT NULL);

  -- Sessions of chats (chat: JSON of its id), and their turns, as JSON.
  CREATE TABLE session (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    profile text NOT NULL,
    target text NOT NULL,
    chat text NOT NULL,
    turns bigint NOT NULL DEFAULT 0,
    changed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    UNIQUE (profile, target, chat)
  ) WITH (fillfactor = 50);
  CREATE TABLE session_turn (session bigint NOT NULL, n bigint NOT NULL, turn text NOT NULL, PRIMARY KEY (session, n));

  -- Captured requests (modules/workbench/runtime/capture). head: JSON of everything but the body; bytes: of both.
  CREATE TABLE request (
    n bigint NOT NULL,
    profile text NOT NULL,
    route text NOT NULL,
    outcome text NOT NULL,
    reason text,
    head text NOT NULL,
    body bytea,
    bytes integer NOT NULL,
    PRIMARY KEY (n) INCLUDE (bytes)
  );
  CREATE INDEX request_route ON request (route, n);
  CREATE INDEX request_outcome ON request (outcome, n);

  -- Measured on bodies of 21 KB: pglz, the default, takes most of the time of an insert, and twice the room and WAL. A
  -- server that was built without lz4 keeps it.
  DO $$ BEGIN
    ALTER TABLE dispatch ALTER COLUMN body SET COMPRESSION lz4;
    ALTER TABLE answer ALTER COLUMN text SET COMPRESSION lz4;
    ALTER TABLE request ALTER COLUMN head SET COMPRESSION lz4, ALTER COLUMN body SET COMPRESSION lz4;
  EXCEPTION WHEN feature_not_supported THEN NULL;
  END $$;

  -- The latest failure, and the number of changes that users have made to jobs.
  CREATE TABLE meta (key text PRIMARY KEY, value text NOT NULL) WITH (fillfactor = 50);
`.replaceAll(
  'VACUUM_SETTINGS',
  // Rows live for seconds, so vacuum is triggered by the number of dead rows, not by their share of the table.
  'autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0',
);

const VERSION_2 = `
  -- The row of each message (runtime/store/unit/message.ts). key: as in claim. ttl_ms: how long the id is claimed once the
  -- message is delivered.
  CREATE TABLE message (key text COLLATE "C" PRIMARY KEY, ref bigint NOT NULL, ttl_ms bigint NOT NULL);
  CREATE INDEX message_ref ON message (ref);

  -- JSON of the end of the program that answered (runtime/store/states.ts).
  ALTER TABLE answer ADD COLUMN program text;

  -- Rows of the guard (runtime/store/records.ts). id: JSON [kind, key], or its digest when that is long; key,
  -- body: JSON; expires_at: when it may be removed.
  CREATE TABLE guard_state (id text COLLATE "C" PRIMARY KEY, kind text NOT NULL, key text NOT NULL, body text NOT NULL,
    expires_at bigint) WITH (fillfactor = 50);
  CREATE INDEX guard_kind ON guard_state (kind);

  -- The usage of each run, if its agent reported it; a dispatch may have several. agent: null for the default one.
  CREATE TABLE usage (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    ref bigint NOT NULL,
    at bigint NOT NULL,
    agent text,
    input_tokens bigint,
    output_tokens bigint,
    cost double precision
  );
  -- Figures of traffic by the minute (runtime/store/figures.ts). minute: Unix ms at which it began.
  CREATE TABLE figure (minute bigint PRIMARY KEY, ${FIGURES.map((name) => `${name} bigint NOT NULL`).join(', ')});
  -- When a pause expires.
  ALTER TABLE job_state ADD COLUMN paused_until bigint;
  CREATE INDEX usage_ref ON usage (ref);
  CREATE INDEX usage_at ON usage (at);
  -- session: the one in which its runs take turns, JSON [profile, session id], or its digest when that is long; it stays.
  -- burst: the first event of its burst (runtime/store/listed-rows.ts).
  ALTER TABLE dispatch ADD COLUMN session text COLLATE "C", ADD COLUMN burst bigint;
  CREATE INDEX dispatch_session ON dispatch (session, ref) WHERE session IS NOT NULL;
  CREATE INDEX dispatch_burst ON dispatch (burst, ref) WHERE burst IS NOT NULL;
  -- session, turn: the session in which a run has or awaits its turn, and its place there (null: ref). waits_for: session,
  -- or null. waits_since: see WorkRow in runtime/store/unit/rows.ts. lane: JSON [profile, route], and a line with the name of its agent. A gateway of the previous version does
  -- without the index, and takes runs that wait for their turn: use sessions only when all gateways have this version.
  ALTER TABLE work ADD COLUMN session text COLLATE "C", ADD COLUMN turn bigint, ADD COLUMN waits_for text,
    ADD COLUMN waits_since bigint;
  DROP INDEX work_due;
  CREATE INDEX work_due ON work (lane, due_at, ref) WHERE state = 'pending' AND waits_for IS NULL;
  CREATE INDEX work_session ON work (session, turn) WHERE session IS NOT NULL;

  -- Whether a delivery waits for approval (runtime/store/unit/blocked.ts); due_at is then when it expires. A gateway of the
  -- previous version would send it then: use approvals only when all gateways have this version.
  ALTER TABLE delivery ADD COLUMN waiting text;
  CREATE INDEX delivery_waiting ON delivery (ref, n) WHERE waiting IS NOT NULL;

  CREATE INDEX request_reason ON request (reason, n) WHERE reason IS NOT NULL;
  CREATE INDEX request_profile ON request (profile, n);
`;

/**
 * Compiled tables are deployed as files, and nothing is signed. A gateway of the previous version that serves the
 * active table keeps its copy. Texts that it signs during the upgrade are read without their signature (pg-state.ts).
 */
const VERSION_3 = `
  DROP TABLE route_table;
  DELETE FROM document WHERE name IN ('table', 'jobs');
  UPDATE document SET version = version + 1, body = regexp_replace(body, '^signed:[^\n]*\n', '') WHERE body LIKE 'signed:%';
  -- blocked_by: see runtime/store/waits.ts. Gateways of the previous version still use waits_for, and the trigger keeps both the
  -- same; the next version drops it, waits_for and waits_since.
  ALTER TABLE work ADD COLUMN blocked_by text;
  -- Runs that waited in a line of their job, or for a budget, are taken when they are due; their limits are checked then.
  UPDATE work w SET session = NULL, turn = NULL, waits_for = NULL FROM dispatch d
    WHERE d.ref = w.ref AND d.session IS NULL AND w.session IS NOT NULL;
  UPDATE work SET reason = NULL WHERE reason = '"budget"';
  UPDATE work SET blocked_by = waits_for WHERE waits_for IS NOT NULL;
  CREATE FUNCTION work_blocked() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF TG_OP = 'INSERT' THEN NEW.blocked_by := coalesce(NEW.blocked_by, NEW.waits_for);
    ELSIF NEW.waits_for IS DISTINCT FROM OLD.waits_for THEN NEW.blocked_by := NEW.waits_for;
    END IF;
    NEW.waits_for := NEW.blocked_by;
    RETURN NEW;
  END $$;
  CREATE TRIGGER work_blocked BEFORE INSERT OR UPDATE OF waits_for, blocked_by ON work FOR EACH ROW
    WHEN (NEW.session IS NOT NULL) EXECUTE FUNCTION work_blocked();
  DROP INDEX work_due;
  CREATE INDEX work_due ON work (lane, due_at, ref) WHERE state = 'pending' AND blocked_by IS NULL;
  ${RENAME_LANES}
`;

/**
 * Gateways of the previous version use `waiting` of deliveries, and the trigger keeps it the same as the new columns; the
 * next version drops it. What only the version before used goes.
 */
const VERSION_4 = `
  DROP TRIGGER work_blocked ON work;
  DROP FUNCTION work_blocked();
  ALTER TABLE work DROP COLUMN waits_for, DROP COLUMN waits_since;
  -- blocked_by, told_at: see DeliveryRow in runtime/store/unit/rows.ts. A rejected delivery stays blocked, and is due.
  ALTER TABLE delivery ADD COLUMN blocked_by text, ADD COLUMN told_at bigint;
  UPDATE delivery SET blocked_by = 'approval', told_at = CASE WHEN waiting = 'told' THEN set_at END
    WHERE waiting IS NOT NULL;
  CREATE INDEX delivery_blocked ON delivery (ref, n) WHERE blocked_by IS NOT NULL;
  CREATE FUNCTION delivery_blocked() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF TG_OP = 'INSERT' THEN
      IF NEW.waiting IS NOT NULL THEN NEW.blocked_by := 'approval'; END IF;
    ELSIF NEW.waiting IS DISTINCT FROM OLD.waiting THEN
      NEW.blocked_by := CASE WHEN NEW.waiting IS NOT NULL THEN 'approval' END;
      NEW.told_at := CASE WHEN NEW.waiting = 'new' THEN NULL WHEN NEW.waiting = 'told' THEN NEW.set_at ELSE NEW.told_at END;
    END IF;
    NEW.waiting := CASE WHEN NEW.blocked_by IS NULL THEN NULL WHEN NEW.due_at <= NEW.set_at THEN 'rejected'
      WHEN NEW.told_at IS NULL THEN 'new' ELSE 'told' END;
    RETURN NEW;
  END $$;
  CREATE TRIGGER delivery_blocked BEFORE INSERT OR UPDATE OF waiting, blocked_by, told_at, due_at, set_at ON delivery
    FOR EACH ROW WHEN (NEW.waiting IS NOT NULL OR NEW.blocked_by IS NOT NULL) EXECUTE FUNCTION delivery_blocked();
`;

/** Each step migrates the tables from the previous version to its own. */
export const STEPS: readonly string[] = [VERSION_1, VERSION_2, VERSION_3, VERSION_4];
