/** Fields of filters and times in the spelling of other tools, which no payload has. */
import { writeJson } from '../../../base/exact-number.ts';
import { parseField, parsePath, printPath } from '../../../base/paths.ts';
import type { NodePath, Problem } from '../../../compiler/diagnostics/diagnostic.ts';
import { lowerFilters } from '../../../compiler/lower/filter.ts';
import { checkShape } from '../../../compiler/schema/validate.ts';
import type { FilterConfig } from '../../../schemas/generated/types.ts';
import { elementsOf, meantPaths } from './braces.ts';
import { globsIn } from './rules/filters.ts';

type Answer = Pick<Problem, 'message' | 'hint' | 'fix' | 'severity'>;

/** The answer for a field that no payload has; null if one may. @param path of the field; the fields of elements are below `where` */
export function readForeignField(field: string, path: NodePath): Answer | null {
  const isElement = path.includes('where');
  return elements(field, path) ?? header(field) ?? (isElement ? null : partOfRequest(field)) ?? oddField(field);
}

function elements(field: string, path: NodePath): Answer | null {
  const all = elementsOf(field);
  if (all === null) return null;
  const { list, rest } = all;
  const group = String(path.at(-1));
  const message = `\`${field}\` is read as the names of keys, not as all elements of a list`;
  if (group !== 'any_of' && group !== 'all_of')
    return {
      message,
      hint: `to test the elements, write \`{ any_of: ${list}, where: { field: ${rest === '' ? '.' : rest}, … } }\``,
    };
  const below = elementsOf(rest)?.list ?? rest;
  const inner = rest === '' ? '' : `, where: { ${group}: ${below}, where: … }`;
  return { message, hint: `\`${group}\` tests each element of its list: write \`${group}: ${list}${inner}\`` };
}

function header(field: string): Answer | null {
  const [, name] = /^(?:header[.[]["']?(?!token$)|request\.headers?[.[]["']?)([a-z\d-]+)["']?\]?$/i.exec(field) ?? [];
  if (name === undefined) return null;
  return { message: `\`${field}\` is a field of the payload`, hint: `the header is \`headers.${name}\`` };
}

/** `body.x`, `query.x`, `steps.a.x`: the body is the payload itself, and nothing else of a request can be read. */
function partOfRequest(field: string): Answer | null {
  const [, part = '', below = ''] =
    /^(?:(?:trigger|req(?:uest)?)\.(?:event\.)?)?(body|query|params|trigger|steps)\.(.+)$/.exec(field) ?? [];
  if (below === '') return null;
  const own = `\`${printPath(field.split('.'), true)}\` if the payload itself has a field \`${field.split('.')[0]}\``;
  const message = `\`${field}\` is a field of the payload`;
  return part === 'query' || part === 'params'
    ? { message, hint: `filters read the payload and \`headers.<Name>\`, not the address of the request; write ${own}` }
    : { message, hint: `the payload is the body: write \`${below}\`, or ${own}` };
}

/** A bracket, a sign, a call or a blank; a key with dots after a sign; a domain, a slash and a word, as in Kubernetes. */
const ODD = /[[\]{}"'()|*?\s]|^\.(?=.)|^[@$]\w*\.|\.\w+\.(?:ai|app|cloud|co|com|dev|io|net|org|sh)\/\S+$/;

/** A field in another spelling, with the paths that it may mean. */
function oddField(field: string): Answer | null {
  const message = `\`${field}\` is read as the names of keys`;
  if (/(?:^|[.[])-\d/.test(field)) return { message, hint: 'elements are counted from the start: `items[0].id`' };
  if (parsePath(field) !== null || !ODD.test(field)) return null;
  if (/\[\?|\*/.test(field))
    return { message, hint: 'to test the elements of a list, write `{ any_of: items, where: { field: name, … } }`' };
  const [, braced = field] = /^\$?\{+\s*(.*?)\s*\}*$/.exec(field) ?? [];
  const inner = braced.replace(/^\$?\.(?=[^.])/, '');
  const request = partOfRequest(inner);
  if (request !== null) return request;
  const paths = /^[\w ]+$/.test(field) ? [printPath([field])] : meantPaths(inner);
  const hint =
    paths.length === 0
      ? 'keys with other characters are quoted: `labels["app/name"]`'
      : `write ${paths.map((path) => `\`${path}\``).join(' or ')}`;
  // A key may have a blank.
  if (paths.length > 0 && /^\w[\w.]* [\w .]+$/.test(field))
    return { message: `\`${field}\` is read as a key with a blank`, hint, severity: 'hint' };
  const isSure = inner !== field && parseField(inner) !== null && field.startsWith('{') === field.endsWith('}');
  return isSure
    ? { message: `${message}; ${hint}`, fix: { kind: 'rename', text: paths[0] ?? inner } }
    : { message, hint };
}

/** What is wrong with filters that are written as a repair; undefined if they compile without a diagnostic. */
export function faultIn(written: unknown, isElement: boolean): string | undefined {
  const filters = JSON.parse(writeJson(isElement ? { any_of: 'items', where: written } : written)) as FilterConfig;
  const shape = checkShape('config', { platforms: { webhook: { routes: { x: { filters } } } } });
  const lowered = shape.length > 0 ? [] : [...lowerFilters(filters).problems, ...globsIn(filters)];
  const [fault] = [...shape, ...lowered].flatMap((problem: Partial<Problem>) =>
    problem.message !== '' ? [problem] : (readForeignField(problem.ask ?? '', problem.path ?? []) ?? []),
  );
  return fault && `but there, ${[fault.message, fault.hint ?? []].flat().join('; ')}`;
}
