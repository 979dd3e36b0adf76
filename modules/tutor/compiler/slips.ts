/** Explains schema errors that come from habits of other programs, with the correct form and a fix. */

import type { WrittenText } from '../../../compiler/config/written-numbers.ts';
import type { NodePath, SchemaError } from '../../../compiler/diagnostics/diagnostic.ts';
import { holdsCredential } from '../../../compiler/diagnostics/printable.ts';
import type { ShapePlace } from '../../../compiler/schema/explain.ts';
import { hintFrom, mustBe, nameOf, typeName, typeOf } from '../../../compiler/schema/explain.ts';
import { acceptsKey, exampleAt, knownKeys, typesAt } from '../../../compiler/schema/known-keys.ts';
import { valueAt } from '../../../compiler/schema/pointer.ts';
import { flowText, isPlainMap } from '../../../compiler/text/plain-data.ts';
import { isSecretName } from '../../../compiler/text/secret-ref.ts';
import { certainMatch } from '../../../compiler/text/suggest.ts';
import { ADVICE, CALLED, OTHER_TESTS, UNITS } from './built/names.ts';
import { faultIn } from './foreign-fields.ts';
import type { Form } from './forms.ts';
import { OTHER_KEYS, VALUES } from './forms.ts';
import type { Slip, Written } from './read-values.ts';
import { isCertain, isNamed, meaningOf, problemOf, writtenAt } from './read-values.ts';

const ROUTE = ['platforms', 'webhook', 'routes', 'x'];

const hasKeyOf = (value: unknown, path: NodePath): boolean =>
  isPlainMap(value) && Object.keys(value).some((key) => knownKeys('config', path).includes(key));

/** Settings of the webhook platform. */
const isSettings = (value: unknown): boolean => hasKeyOf(value, ['platforms', 'webhook']);

const isRoutes = (value: unknown): boolean =>
  isPlainMap(value) && Object.values(value).every((route) => hasKeyOf(route, ROUTE));

/** A target. A map with settings of a route probably exists for its anchor. */
function isTarget(value: unknown): boolean {
  const ofTarget = knownKeys('config', ['platforms', 'x']);
  const others = Object.keys(isPlainMap(value) ? value : {}).filter((key) => !ofTarget.includes(key));
  const isOne = isPlainMap(value) && (others.length < Object.keys(value).length || others.some(isSecretName));
  return isOne && !others.some((key) => knownKeys('config', ROUTE).includes(key));
}

type Match = (written: Written) => Slip | null;

/** `platforms.webhooks`, which would otherwise be a target with an error for each setting. */
const misspeltWebhook: Match = (written) => {
  const [top, name] = written.path;
  if (written.schema !== 'config' || top !== 'platforms' || typeof name !== 'string' || name === 'webhook') return null;
  const path = [top, name];
  if (certainMatch(name, ['webhook']) === null || !isSettings(valueAt(written.data, path))) return null;
  const isFree = valueAt(written.data, [top, 'webhook']) === undefined;
  return problemOf(written, `unknown key \`${name}\`; did you mean \`webhook\`?`, {
    rule: 'unknown-key',
    path,
    at: 'key',
    covers: [path],
    fix: isFree ? { kind: 'rename', text: 'webhook' } : undefined,
  });
};

/** A key after no-break spaces, which belong to the key for YAML. */
const noBreakSpaces: Match = (written) =>
  written.mistake === 'key' && written.key.startsWith('\u00a0')
    ? problemOf(written, `no-break spaces (U+00A0) indent \`${written.key.trim()}\`: use ordinary spaces`, {})
    : null;

/** `repo: {repository.full_name}`: without quotes, a placeholder is a YAML map with an empty value. */
const unquotedPlaceholder: Match = (written) => {
  const { schema, data, path } = written;
  // The types first: to read the keys of a large map for each of its mistakes would take minutes.
  const isText = (at: typeof path): boolean =>
    typesAt(schema, at).has('string') && placeholderIn(valueAt(data, at)) !== null;
  const at = [path, path.slice(0, -1)].find(isText);
  if (at === undefined || at.some((part) => isSecretName(String(part)))) return null;
  const name = placeholderIn(valueAt(data, at));
  const message = `\`{${name}}\` without quotes is a YAML map, not text: write \`"{${name}}"\``;
  const quote = { fix: { kind: 'quote' }, covers: [at] } as const;
  return problemOf(written, message, { rule: 'wrong-type', path: at, at: 'value', ...quote });
};

/** The only key of a map, if it has no value. */
function placeholderIn(value: unknown): string | null {
  const [[name, empty] = ['', undefined], second] = isPlainMap(value) ? Object.entries(value) : [];
  return second === undefined && empty === null && /^[\w-]+(?:\.[\w-]+)*$/.test(name) ? name : null;
}

/** An empty key followed by keys at the same depth that belong below it. */
const notIndented: Match = (written) => {
  const { schema, mistake, path, key, value, map, types } = written;
  if (mistake !== 'type' || !types.includes('object') || value !== null || key === '') return null;
  const parent = path.slice(0, -1);
  const keys = Object.keys(map);
  const following = keys.slice(keys.indexOf(key) + 1);
  // Next to a route, every name could be a route; a value that cannot be a route is a setting.
  const isHere = (name: string): boolean =>
    acceptsKey(schema, parent, name) && (knownKeys(schema, parent).includes(name) || isPlainMap(map[name]));
  const end = following.findIndex((name) => isHere(name) || !acceptsKey(schema, path, name));
  const moved = end < 0 ? following : following.slice(0, end);
  if (moved.length === 0) return null;
  const what = moved.length === 1 ? `\`${moved[0]}\` is` : `the ${moved.length} keys from \`${moved[0]}\` on are`;
  const them = moved.length === 1 ? 'it' : 'them';
  return problemOf(written, `\`${key}\` is empty: ${what} next to it, not below it; indent ${them} further`, {
    at: 'key',
    fix: { kind: 'indent', keys: moved },
    covers: [path, ...moved.map((name) => [...parent, name])],
  });
};

/** `routes:` as a list of maps with a `name`. */
const listOfEntries: Match = (written) => {
  const { mistake, path, key, value } = written;
  if (mistake !== 'type' || !Array.isArray(value) || !['routes', 'jobs', 'sources', 'targets'].includes(key))
    return null;
  const names = value.map((item: unknown) => (isPlainMap(item) ? item.name : undefined));
  const first = names.find((name) => typeof name === 'string') ?? 'name';
  const message = `\`${key}\` must be a map, not a list: each entry is a key, with its settings indented below it`;
  return problemOf(written, message, {
    at: 'key',
    hint: `write \`${first}:\` for \`- name: ${first}\``,
    covers: [path],
    fix: names.every((name) => typeof name === 'string') ? { kind: 'named-items' } : undefined,
  });
};

/** `secret: [env:NEW, env:OLD]` instead of `secrets`. */
const secretList: Match = (written) => {
  const { schema, mistake, path, key, value, map } = written;
  const isOne = mistake === 'type' && key === 'secret' && Array.isArray(value);
  if (!isOne || !knownKeys(schema, path.slice(0, -1)).includes('secrets')) return null;
  const more =
    map.secrets === undefined
      ? { fix: { kind: 'rename', text: 'secrets' } as const }
      : { hint: 'move them to the existing `secrets`' };
  return problemOf(written, '`secret` is a single secret; write `secrets` for a list', {
    at: 'key',
    covers: [path],
    ...more,
  });
};

/** `blueprint:` in a job: filling a blueprint creates a job in the store instead. */
const blueprintInJob: Match = (written) => {
  const { mistake, path, key, value } = written;
  if (mistake !== 'key' || key !== 'blueprint' || path[0] !== 'jobs' || path.length !== 3) return null;
  const name = /^[a-z0-9-]+$/.test(String(value)) ? String(value) : '<key>';
  const hint = `remove this entry and run \`hookwright blueprint create ${name} --defaults\`, with name=value for each value that differs`;
  const message = 'a job in the config has a `schedule` and a `prompt`: a command fills blueprints and stores the job';
  return problemOf(written, message, { hint, covers: [path.slice(0, -1)] });
};

/** The first one that returns a problem explains the error. */
const LAYOUTS: readonly Match[] = [
  noBreakSpaces,
  unquotedPlaceholder,
  misspeltWebhook,
  notIndented,
  listOfEntries,
  secretList,
  blueprintInJob,
];

/** Returns null if the error has another cause. */
export function explainSlip(place: ShapePlace, error: SchemaError, text: WrittenText): Slip | null {
  const written = writtenAt(place, error, text);
  return firstOf([...LAYOUTS, ...MATCHES[written.mistake]], (match) => match(written));
}

function firstOf<T>(items: readonly T[], explain: (item: T) => Slip | null): Slip | null {
  for (const item of items) {
    const problem = explain(item);
    if (problem !== null) return problem;
  }
  return null;
}

const fits = ({ keys, beside, found, wants, only }: Form, { key, value, known, types }: Written): boolean =>
  (keys === undefined || isNamed(keys, key)) &&
  (beside === undefined || known.includes(beside)) &&
  (found === undefined || isNamed(found, typeOf(value))) &&
  (wants === undefined || types.includes(wants)) &&
  (only === undefined || types.every((type) => isNamed(only, type)));

function inForm(form: Form, written: Written): Slip | null {
  const { mistake, path, key, value, map, types } = written;
  const required = form.must === undefined ? mustBe(nameOf(path), types) : `\`${nameOf(path)}\` must ${form.must}`;
  const says = mistake === 'key' ? `unknown key \`${key}\`` : `${required}, not ${typeName(value)}`;
  if (form.must !== undefined) return problemOf(written, says, {});
  if (form.isQuoted === true) return problemOf(written, `${says}: put it in quotes`, { fix: { kind: 'quote' } });
  const meant = form.read?.(written) ?? null;
  const lines = Object.entries(meant ?? {}).map(([name, item]) =>
    name === '' ? textOf(item) : `${name}: ${textOf(item)}`,
  );
  const isSecret = lines.some((line) => holdsCredential(line.replaceAll(REFERENCE, '')));
  const at = form.isWhole === true ? path.slice(0, -1) : path;
  if (meant === null || isSecret) {
    const hint = typeof form.hint === 'function' ? form.hint(written) : form.hint;
    if (hint === undefined && !isSecret) return null;
    return problemOf(written, says, {
      covers: [at],
      hint: hint ?? hintFrom(written.schema, path).hint,
      sensitive: isSecret,
    });
  }
  const [name = '', other] = Object.keys(meant);
  const text = textOf(meant[name]);
  const isFree = other === undefined || map[other] === undefined;
  const isSure = form.isSure?.(written, meant) ?? (name === key || form.isWhole === true);
  const fault = isSure && form.beside === 'not_equals' ? faultIn(meant[name], path.includes('where')) : undefined;
  const isScalar = typeof value !== 'object' && form.isWhole !== true;
  const fix = isScalar ? ({ kind: 'replace', text } as const) : ({ kind: 'flow', text, andKey: lines[1] } as const);
  return problemOf(written, `${says}: write ${lines.map((line) => `\`${line}\``).join(' and ')}`, {
    covers: [at],
    instead: name,
    hint: fault ?? (isSure || form.isWhole !== true ? form.also : OTHER_TESTS),
    ...(isFree && isSure && fault === undefined ? { fix, fixAt: at } : {}),
  });
}

/** A reference with its key, in a line that a message shows. It contains no secret. */
const REFERENCE = /(?<![\w-])[\w-]+: "?(?:env|file):[^\s",}]*/g;

/** A reference and an address need no quotes. */
const textOf = (value: unknown): string =>
  typeof value === 'string' && /^(?:(?:env|file):\S+|\d+(?:\.\d+){3})$/.test(value) ? value : flowText(value);

const inForms =
  (forms: readonly Form[]): Match =>
  (written) =>
    firstOf(forms, (form) => (fits(form, written) ? inForm(form, written) : null));

/** Keys that are in the wrong map, and where they belong. */
interface Misplaced {
  /** Any key, if absent. */
  readonly keys?: string;
  /** A key that the schema knows in the same map. */
  readonly beside: string;
  /** Path of the map where it belongs, from the map where it is. */
  readonly under: readonly [string, ...string[]];
  /** Its name there, if it has another. */
  readonly as?: string;
  readonly isMeant?: (value: unknown) => boolean;
}

const MISPLACED: readonly Misplaced[] = [
  { keys: 'webhook webhooks', beside: 'include', under: ['platforms'], as: 'webhook', isMeant: isSettings },
  {
    keys: 'webhook webhooks routes hooks',
    beside: 'include',
    under: ['platforms', 'webhook'],
    as: 'routes',
    isMeant: isRoutes,
  },
  { beside: 'include', under: ['platforms'], isMeant: isTarget },
  {
    keys: 'chat_id channel message_thread_id thread_id repo pr_number to',
    beside: 'deliver_extra',
    under: ['deliver_extra'],
  },
];

const misplaced: Match = (written) => {
  const { key, value, map, known } = written;
  const home = MISPLACED.find(
    ({ keys = key, beside, isMeant }) => isNamed(keys, key) && known.includes(beside) && isMeant?.(value) !== false,
  );
  if (home === undefined) return null;
  const { under, as: name = key } = home;
  const [top] = under;
  const message = `\`${key}\` belongs under \`${under.join('.')}\`${name === key ? '' : `, as \`${name}\``}`;
  const existing = map[top];
  if (existing === undefined) return problemOf(written, message, { fix: { kind: 'nest', under: [...under, name] } });
  const isFree = under.length === 1 && name === key && isPlainMap(existing) && !Object.hasOwn(existing, key);
  const fix = isFree ? ({ kind: 'move', into: top } as const) : undefined;
  return problemOf(written, message, { hint: `move it below the existing \`${top}\``, fix });
};

const advised: Match = (written) => {
  const { key, known } = written;
  const isSecret = isSecretName(key);
  return firstOf(Object.entries(ADVICE), ([beside, spellings]) => {
    const hint = known.includes(beside) ? meaningOf(spellings, key) : undefined;
    const more = { hint, sensitive: isSecret, instead: isSecret ? beside : undefined };
    return hint === undefined ? null : problemOf(written, `unknown key \`${key}\``, more);
  });
};

const RIVALS = 'a filter has one operator: write a filter for each, under `all` or `any`';

const renamed: Match = (written) => {
  const { schema, path, key, value, map, known } = written;
  const meant = [meaningOf(CALLED, key), ...UNITS.map((unit) => key + unit)].find((name) => known.includes(name ?? ''));
  if (meant === undefined) return null;
  const place = [...path.slice(0, -1), meant];
  const types = typesAt(schema, place);
  const isFit = isPlainMap(value) || !types.has('object') || types.has('string');
  const isCondition = known.includes('not_equals');
  const hasRival = isCondition && Object.keys(map).some((name) => name !== key && name !== 'field');
  const isSure = isFit && !hasRival && isCertain(key, value);
  const fault =
    isCondition && isSure ? faultIn({ field: map.field, [meant]: value }, path.includes('where')) : undefined;
  const glob = flowText(`^${String(value).replaceAll('.', '[.]').replaceAll('*', '.*')}$`);
  const hints = [
    [RIVALS, hasRival],
    [OTHER_TESTS, isCondition && /equals$/.test(meant) && !isSure],
    [`write \`${meant}: ${flowText(exampleAt(schema, place))}\``, !isFit],
    [
      `write \`regex\` for a regular expression (${glob} for a glob), \`equals\` for the whole text, or \`contains\``,
      !isSure,
    ],
  ] as const;
  return problemOf(written, `unknown key \`${key}\`: it is called \`${meant}\` here`, {
    instead: meant,
    sensitive: isSecretName(meant),
    hint: fault ?? hints.find(([, holds]) => holds)?.[0],
    fix: isSure && fault === undefined && !Object.hasOwn(map, meant) ? { kind: 'rename', text: meant } : undefined,
  });
};

const MATCHES: Readonly<Record<Written['mistake'], readonly Match[]>> = {
  key: [inForms(OTHER_KEYS), misplaced, advised, renamed],
  type: [inForms(VALUES)],
  other: [],
};
