/** Reports a path that no possible event form has: suggests similar paths, and names the events that have it. */
import type { Problem } from '../../../../compiler/diagnostics/problem.ts';
import { oneOf } from '../../../../compiler/text/suggest.ts';
import { describeForms, listForms } from '../shapes/describe.ts';
import { findPath } from '../shapes/find-path.ts';
import type { FormSet } from '../shapes/form-set.ts';
import { suggestPaths } from '../shapes/suggest-path.ts';

export interface WrittenPath {
  readonly path: readonly string[];
  /** The path as written. */
  readonly text: string;
  /** Formats a path as it would be written there: with braces in a template. */
  readonly shown: (path: string) => string;
}

export function unknownPath(
  set: FormSet,
  { path, text, shown }: WrittenPath,
  place: Pick<Problem, 'path' | 'within'>,
): Problem {
  const meant = suggestPaths(set, path).map((each) => shown(each.join('.')));
  const hint = set.remember(`elsewhere ${path.join('.')}`, () => elsewhere(set, path));
  return {
    rule: 'unknown-payload-path',
    at: 'value',
    ...place,
    message: `no ${describeForms(set, set.shape.source)} has \`${text}\`${suggestion(meant)}`,
    ...(hint === null ? {} : { hint }),
    ...onlyFix(meant),
  };
}

/** To append to a message. */
export const suggestion = (meant: readonly string[]): string =>
  meant.length === 0 ? '' : `; did you mean ${oneOf(meant)}?`;

/** A fix, if there is exactly one candidate. */
export const onlyFix = ([first, ...others]: readonly string[]): Pick<Problem, 'fix'> =>
  first === undefined || others.length > 0 ? {} : { fix: { kind: 'rename', text: first } };

/** Names other forms that have the path, preferably forms of the same events that a filter excludes. */
function elsewhere({ shape, forms }: FormSet, path: readonly string[]): string | null {
  const has = shape.variants.filter(
    (form) => !forms.includes(form) && findPath(shape.graph, form.root, path).kind === 'node',
  );
  if (has.length === 0) return null;
  const events = new Set(forms.map(({ event }) => event));
  const same = has.filter(({ event }) => events.has(event));
  const shown = same.length > 0 ? same : has;
  return `it is in ${listForms(shape, shown)}`;
}
