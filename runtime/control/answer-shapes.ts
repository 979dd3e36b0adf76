/**
 * The shapes of control answers. The command line checks them, because another version, or another program, may have sent
 * the answer. One entry per operation, with the fields that the commands read.
 */
import type { ControlName } from './operations.ts';

/** Returns the path of the first field that is missing or has the wrong type; null when the value has the shape. */
export type AnswerShape = (value: unknown, path: string) => string | null;

const kind =
  (holds: (value: unknown) => boolean): AnswerShape =>
  (value, path) =>
    holds(value) ? null : path;

const text = kind((value) => typeof value === 'string');
const number = kind((value) => typeof value === 'number');
const flag = kind((value) => typeof value === 'boolean');

/** For results of the store, whose shape depends on the query; `status` shows whether both sides have the same version. */
const anything: AnswerShape = () => null;

const orNull =
  (shape: AnswerShape): AnswerShape =>
  (value, path) =>
    value === null ? null : shape(value, path);

const listOf =
  (shape: AnswerShape): AnswerShape =>
  (value, path) => {
    if (!Array.isArray(value)) return path;
    for (const [index, member] of value.entries()) {
      const wrong = shape(member, `${path}[${index}]`);
      if (wrong !== null) return wrong;
    }
    return null;
  };

const object =
  (fields: Readonly<Record<string, AnswerShape>>): AnswerShape =>
  (value, path) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return path;
    for (const [name, shape] of Object.entries(fields)) {
      const found = Object.hasOwn(value, name) ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
      const wrong = shape(found, `${path}.${name}`);
      if (wrong !== null) return wrong;
    }
    return null;
  };

export const REFUSAL_SHAPE = object({ code: text, message: text });

export const ANSWER_SHAPES: Readonly<Record<ControlName, AnswerShape>> = {
  ping: object({ pid: number }),
  status: object({
    ...{
      pid: number,
      version: text,
      url: text,
      started_at: number,
      state: text,
      log_file: orNull(text),
      config: orNull(text),
      console: orNull(text),
    },
    table: object({
      ...{ file: text, hash: text, generation: number, loaded_at: number, routes: number },
      error: orNull(text),
    }),
    subscriptions: object({
      serving: number,
      quarantined: listOf(object({ name: text, reason: text })),
      error: orNull(text),
    }),
    runs: orNull(object({ active: number, queued: number })),
    dispatches: orNull(
      object({
        states: object({}),
        oldest_open_at: orNull(number),
        last_error: orNull(object({ id: text, route: orNull(text), at: number, reason: text })),
      }),
    ),
    store: object({
      problem: orNull(object({ kind: text, message: text, since: number })),
      damage: orNull(object({ at: number, message: text, copy: orNull(text) })),
      bytes: number,
    }),
  }),
  stop: object({ drained: flag, abandoned: number }),
  reload: object({
    ...{ ok: flag, changed: flag, hash: text, diagnostics: text, taken_ungated_at: orNull(number) },
    refused: orNull(
      object({
        ...{ total: number, lost: number, gained: number, changed: number },
        requests: listOf(object({ id: text, route: text, kind: text, text })),
      }),
    ),
  }),
  enroll: object({ kind: text, file: orNull(text), reason: orNull(text) }),
  create_blueprint_job: object({
    ...{ id: text, name: text, schedule: text, schedule_human: text, timezone: text },
    ...{ deliver: listOf(text), next_run: orNull(text), warnings: listOf(text) },
  }),
  requests_list: listOf(object({ id: text, at: number, route: text, outcome: text })),
  requests_load: object({ kind: text }),
  requests_replay: object({ id: orNull(text), status: number, outcome: text, answer: text }),
  metrics: object({ content_type: text, text }),
  store_read: anything,
  store_write: anything,
};
