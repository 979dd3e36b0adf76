/** Explains errors of the schema that come from the habits of other programs: what to write, and a repair. */
import { holdsCredential } from '../../../compiler/diagnostics/printable.ts';
import type { SchemaError } from '../../../compiler/diagnostics/problem.ts';
import type { ShapePlace } from '../../../compiler/schema/explain.ts';
import { hintFrom, mustBe, nameOf, typeName, typeOf } from '../../../compiler/schema/explain.ts';
import { exampleAt, typesAt } from '../../../compiler/schema/known-keys.ts';
import { flowText } from '../../../compiler/text/flow-text.ts';
import { isPlainMap } from '../../../compiler/text/plain-map.ts';
import { isSecretName } from '../../../compiler/text/secret-names.ts';
import { ADVICE, CALLED, UNITS } from './built/names.ts';
import type { Form } from './forms.ts';
import { OTHER_KEYS, VALUES } from './forms.ts';
import { isRoutes, isSettings, isTarget, LAYOUTS } from './layout.ts';
import type { Slip, Written } from './written.ts';
import { isNamed, meaningOf, problemOf, writtenAt } from './written.ts';

type Match = (written: Written) => Slip | null;

/** Returns null if the error has another cause. */
export function explainSlip(place: ShapePlace, error: SchemaError): Slip | null {
  const written = writtenAt(place, error);
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
  const isScalar = typeof value !== 'object' && form.isWhole !== true;
  const fix = isScalar ? ({ kind: 'replace', text } as const) : ({ kind: 'flow', text, andKey: lines[1] } as const);
  return problemOf(written, `${says}: write ${lines.map((line) => `\`${line}\``).join(' and ')}`, {
    covers: [at],
    instead: name,
    hint: form.also,
    ...(isFree && isSure ? { fix, fixAt: at } : {}),
  });
}

/** A reference with its key, in a line that a message shows. It holds no secret. */
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

const renamed: Match = (written) => {
  const { schema, path, key, value, map, known } = written;
  const meant = [meaningOf(CALLED, key), ...UNITS.map((unit) => key + unit)].find((name) => known.includes(name ?? ''));
  if (meant === undefined) return null;
  const place = [...path.slice(0, -1), meant];
  const types = typesAt(schema, place);
  const isFit = isPlainMap(value) || !types.has('object') || types.has('string');
  const isFree = isFit && !Object.hasOwn(map, meant);
  return problemOf(written, `unknown key \`${key}\`: it is called \`${meant}\` here`, {
    instead: meant,
    sensitive: isSecretName(meant),
    hint: isFit ? undefined : `write \`${meant}: ${flowText(exampleAt(schema, place))}\``,
    fix: isFree ? { kind: 'rename', text: meant } : undefined,
  });
};

const MATCHES: Readonly<Record<Written['mistake'], readonly Match[]>> = {
  key: [inForms(OTHER_KEYS), misplaced, advised, renamed],
  type: [inForms(VALUES)],
  other: [],
};
