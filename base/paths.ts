/**
 * Paths into a payload, the same in templates, filters, keys, addresses, sources and targets: plain parts joined by dots, and
 * `["any key"]` or `[0]` for all others: `labels["app.kubernetes.io/name"]`, `items[0].id`.
 */

/** A part that needs no quotes in a template. */
export const PART = '[A-Za-z0-9_-]+';

/** Outside of braces, a part may hold more characters, such as `@type`. */
const LOOSE_PART = '[^.[\\]{}"]+';

const STRING = '"(?:[^"\\\\\\u0000-\\u001f]|\\\\(?:["\\\\/bfnrt]|u[0-9A-Fa-f]{4}))*"';
const BRACKET = `\\[(?:0|[1-9]\\d*|${STRING})\\]`;

const pathOf = (part: string): string => `(?:${part}|${BRACKET})(?:\\.${part}|${BRACKET})*`;

/** A path in a template, as the source of a regular expression without groups. */
export const PATH = pathOf(PART);

const FORMS = [
  { whole: new RegExp(`^${PATH}$`), next: nextPart(PART) },
  { whole: new RegExp(`^${pathOf(LOOSE_PART)}$`), next: nextPart(LOOSE_PART) },
] as const;

function nextPart(part: string): RegExp {
  return new RegExp(`\\[(\\d+|${STRING})\\]|\\.?(${part})`, 'g');
}

function parse(text: string, { whole, next }: (typeof FORMS)[number]): string[] | null {
  if (!whole.test(text)) return null;
  return [...text.matchAll(next)].map(
    ([, inner = '', plain]) => plain ?? (inner.startsWith('"') ? String(JSON.parse(inner)) : inner),
  );
}

/** The parts of a path in a template; null if it is not one. */
export const parsePath = (text: string): string[] | null => parse(text, FORMS[0]);

/** The same for a whole value: its plain parts may hold any character but dots, brackets, braces and quotes. */
export const parseField = (text: string): string[] | null => parse(text, FORMS[1]);

/** The parts of such a path. What is not one is split at its dots. */
export const splitField = (text: string): string[] => parseField(text) ?? text.split('.');

const PLAIN = new RegExp(`^${PART}$`);

/** A path as a template has it. @param isQuoted quote the first part too, where its name would mean something else */
export const printPath = (path: readonly string[], isQuoted = false): string =>
  path
    .map((part, index) => {
      if (!PLAIN.test(part) || (isQuoted && index === 0)) return `[${JSON.stringify(part)}]`;
      return index === 0 ? part : `.${part}`;
    })
    .join('');
