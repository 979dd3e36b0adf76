/**
 * The shapes of control answers. The command line checks them, because another version, or another program, may have sent
 * the answer. One entry per operation, with the fields that the commands read.
 */
import type { ControlName } from './operations.ts';
import type { WireShape } from './shape.ts';
import { flagShape as flag, listOf, nullable, number, object, textShape as text } from './shape.ts';

/** For results of the store, whose shape depends on the query; `status` shows whether both sides have the same version. */
const anything: WireShape = () => null;

export const REFUSAL_SHAPE = object({ code: text, message: text });

export const ANSWER_SHAPES: Readonly<Record<ControlName, WireShape>> = {
  ping: object({ pid: number }),
  status: object({
    ...{
      pid: number,
      version: text,
      url: text,
      started_at: number,
      state: text,
      log_file: nullable(text),
      config: nullable(text),
      console: nullable(text),
    },
    table: object({
      ...{ file: text, hash: text, generation: number, loaded_at: number, routes: number },
      error: nullable(text),
    }),
    subscriptions: object({
      serving: number,
      quarantined: listOf(object({ name: text, reason: text })),
      error: nullable(text),
    }),
    runs: nullable(object({ active: number, queued: number })),
    dispatches: nullable(
      object({
        states: object({}),
        oldest_open_at: nullable(number),
        last_error: nullable(object({ id: text, route: nullable(text), at: number, reason: text })),
        dead: listOf(
          object({ profile: text, route: nullable(text), job: nullable(text), count: number, since: number }),
        ),
      }),
    ),
    paused: listOf(object({ profile: text, route: text, since: number, until: nullable(number) })),
    store: object({
      problem: nullable(object({ kind: text, message: text, since: number })),
      damage: nullable(object({ at: number, message: text, copy: nullable(text) })),
      refused: listOf(text),
      bytes: number,
    }),
  }),
  stop: object({ drained: flag, abandoned: number }),
  reload: object({
    ...{
      ok: flag,
      changed: flag,
      hash: text,
      was_loaded_at: number,
      diagnostics: text,
      taken_ungated_at: nullable(number),
    },
    refused: nullable(
      object({
        ...{ total: number, lost: number, gained: number, changed: number },
        requests: listOf(object({ id: text, route: text, kind: text, text })),
      }),
    ),
  }),
  enroll: object({ kind: text, file: nullable(text), reason: nullable(text) }),
  create_blueprint_job: object({
    ...{ id: text, name: text, schedule: text, schedule_human: text, timezone: text },
    ...{ deliver: listOf(text), next_run: nullable(text), warnings: listOf(text) },
  }),
  requests_list: listOf(object({ id: text, at: number, route: text, outcome: text })),
  requests_load: object({ kind: text }),
  requests_replay: object({ id: nullable(text), status: number, outcome: text, answer: text }),
  alerts_test: object({ dispatch: nullable(text) }),
  routes_list: listOf(object({ name: text, profile: text })),
  names_check: anything,
  jobs_list: listOf(object({ id: text, name: text })),
  approvals_list: listOf(object({ id: text, state: text })),
  approvals_show: object({ kind: text }),
  approvals_answer: object({ kind: text }),
  route_test: object({ status: number, answer: text }),
  job_run: object({ job: text, dispatch: text }),
  deliveries_replay: object({
    done: listOf(object({ id: text })),
    refused: listOf(object({ id: text, reason: text })),
  }),
  request_explain: object({ route: text, taken: flag }),
  request_show: object({ kind: text }),
  request_print: object({ text }),
  chats_list: listOf(object({ profile: text, target: text, chat_id: text })),
  blueprints_list: listOf(object({ key: text })),
  metrics: object({ content_type: text, text }),
  store_read: anything,
  store_write: anything,
};
