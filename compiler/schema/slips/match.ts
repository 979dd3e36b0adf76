/** Explains errors of the schema that come from the habits of other programs: what to write, and a repair. */
import { holdsCredential } from '../../diagnostics/printable.ts';
import { flowText } from '../../text/flow-text.ts';
import { isPlainMap } from '../../text/plain-map.ts';
import { isSecretName } from '../../text/secret-names.ts';
import { exampleAt, typesAt } from '../known-keys.ts';
import type { SchemaError } from '../schema-error.ts';
import type { ShapePlace, ShapeProblem } from '../shape-problem.ts';
import { mustBe, nameOf, typeName, typeOf } from '../shape-problem.ts';
import { foreignFile } from './foreign-files.ts';
import type { Form } from './forms.ts';
import { OTHER_KEYS, VALUES } from './forms.ts';
import { LAYOUTS } from './layout.ts';
import { ADVICE, CALLED, MISPLACED, UNITS } from './names.ts';
import type { PlainMap, Written } from './written.ts';
import { isNamed, meaningOf, problemOf, writtenAt } from './written.ts';

type Match = (written: Written) => ShapeProblem | null;

/** Returns null if the error has another cause. */
export function explainSlip(place: ShapePlace, error: SchemaError): ShapeProblem | null {
  const written = writtenAt(place, error);
  return firstOf([foreignFile, ...LAYOUTS, ...MATCHES[written.mistake]], (match) => match(written));
}

function firstOf<T>(items: readonly T[], explain: (item: T) => ShapeProblem | null): ShapeProblem | null {
  for (const item of items) {
    const problem = explain(item);
    if (problem !== null) return problem;
  }
  return null;
}

const inForms = (forms: readonly Form[], written: Written): ShapeProblem | null =>
  firstOf(forms, (form) => (fits(form, written) ? inForm(form, written) : null));

const fits = ({ keys, beside, found, wants }: Form, { key, value, known, types }: Written): boolean =>
  (keys === undefined || isNamed(keys, key)) &&
  (beside === undefined || known.includes(beside)) &&
  (found === undefined || isNamed(found, typeOf(value))) &&
  (wants === undefined || types.every((type) => isNamed(wants, type)));

function inForm(form: Form, written: Written): ShapeProblem | null {
  const { mistake, path, key, value, types } = written;
  const at = form.isWhole === true ? path.slice(0, -1) : path;
  const says =
    mistake === 'key'
      ? `unknown key \`${key}\``
      : (form.says ?? `${mustBe(nameOf(path), types)}, not ${typeName(value)}`);
  if (form.isQuoted === true) return problemOf(written, `${says}: put it in quotes`, { fix: { kind: 'quote' } });
  const meant = form.read?.(written) ?? null;
  const lines = meant === null ? [] : linesOf(meant);
  const isSecret = lines.some((line) => holdsCredential(line.replaceAll(REFERENCE, '')));
  if (meant !== null && !isSecret) {
    const shown = lines.map((line) => `\`${line}\``).join(' and ');
    return problemOf(written, `${says}: write ${shown}`, {
      ...{ covers: [at], instead: Object.keys(meant)[0] ?? '' },
      ...(form.also === undefined ? {} : { hint: form.also }),
      ...repairTo(meant, form, written),
    });
  }
  const hint = typeof form.hint === 'function' ? form.hint(written) : form.hint;
  if (hint === undefined && !isSecret) return null;
  return problemOf(written, says, {
    covers: [at],
    ...(hint === undefined ? {} : { hint }),
    ...(isSecret ? { sensitive: true } : {}),
  });
}

/** A reference with its key, in a line that a message shows. It holds no secret. */
const REFERENCE = /[\w-]+: "?(?:env|file):[^\s",}]*/g;

const linesOf = (meant: PlainMap): readonly string[] =>
  Object.entries(meant).map(([name, value]) => (name === '' ? textOf(value) : `${name}: ${textOf(value)}`));

/** A reference and an address need no quotes. */
const textOf = (value: unknown): string =>
  /^(?:(?:env|file):\S+|\d+(?:\.\d+){3})$/.test(String(value)) ? String(value) : flowText(value);

/** Replaces the value, if its key stays and no other key is overwritten. */
function repairTo(meant: PlainMap, form: Form, written: Written): Pick<ShapeProblem, 'fix' | 'fixAt'> {
  const { path, key, value, map } = written;
  const [[name, item] = ['', null], second] = Object.entries(meant);
  const isFree = second === undefined || map[second[0]] === undefined;
  const isSure = form.isSure?.(written, meant) ?? true;
  const isWhole = form.isWhole === true;
  if (!isFree || !isSure || (name !== key && !isWhole)) return {};
  const text = textOf(item);
  const [, andKey] = linesOf(meant);
  if (!isWhole && typeof value !== 'object') return { fix: { kind: 'replace', text } };
  const fixAt = isWhole ? path.slice(0, -1) : path;
  return { fix: { kind: 'flow', text, ...(andKey === undefined ? {} : { andKey }) }, fixAt };
}

const misplaced: Match = (written) => {
  const { path, key, value, map, known } = written;
  const home = MISPLACED.find(
    ({ keys, beside, isMeant }) =>
      (keys === undefined || isNamed(keys, key)) && known.includes(beside) && (isMeant === undefined || isMeant(value)),
  );
  if (home === undefined) return null;
  const { under, as: name = key } = home;
  const [top] = under;
  const message = `\`${key}\` belongs under \`${under.join('.')}\`${name === key ? '' : `, as \`${name}\``}`;
  if (!Object.hasOwn(map, top)) return problemOf(written, message, { fix: { kind: 'nest', under: [...under, name] } });
  const existing = map[top];
  const isFree = under.length === 1 && name === key && isPlainMap(existing) && !Object.hasOwn(existing, key);
  return problemOf(written, message, {
    path,
    hint: `move it below the existing \`${top}\``,
    ...(isFree ? { fix: { kind: 'move', into: top } } : {}),
  });
};

const advised: Match = (written) => {
  const { key, known } = written;
  const beside = Object.keys(ADVICE).find(
    (name) => known.includes(name) && meaningOf(ADVICE[name] ?? {}, key) !== undefined,
  );
  const hint = beside === undefined ? undefined : meaningOf(ADVICE[beside] ?? {}, key);
  if (beside === undefined || hint === undefined) return null;
  return problemOf(written, `unknown key \`${key}\``, {
    hint,
    ...(isSecretName(key) ? { sensitive: true, instead: beside } : {}),
  });
};

const renamed: Match = (written) => {
  const { schema, path, key, value, map, known } = written;
  const meant = [meaningOf(CALLED, key), ...UNITS.map((unit) => key + unit)].find((name) => known.includes(name ?? ''));
  if (meant === undefined) return null;
  const place = [...path.slice(0, -1), meant];
  const types = typesAt(schema, place);
  const fitsThere = isPlainMap(value) || !types.has('object') || types.has('string');
  const form = fitsThere ? undefined : exampleAt(schema, place);
  return problemOf(written, `unknown key \`${key}\`: it is called \`${meant}\` here`, {
    instead: meant,
    ...(Object.hasOwn(map, meant) || !fitsThere ? {} : { fix: { kind: 'rename', text: meant } }),
    ...(form === undefined ? {} : { hint: `write \`${meant}: ${flowText(form)}\`` }),
    ...(isSecretName(meant) ? { sensitive: true } : {}),
  });
};

const MATCHES: Readonly<Record<Written['mistake'], readonly Match[]>> = {
  key: [(written) => inForms(OTHER_KEYS, written), misplaced, advised, renamed],
  type: [(written) => inForms(VALUES, written)],
  other: [],
};
