/** Rules about filters in the way of other tools. */
import { conditions } from '../../../../compiler/config/grammar.ts';
import { globSource } from '../../../../compiler/globs/linear-glob.ts';
import { rule } from '../../../../compiler/rules/support/rule.ts';
import { flowText } from '../../../../compiler/text/plain-data.ts';
import type { FilterConfig } from '../../../../schemas/generated/types.ts';

/** A glob that is compared as text. */
export const filterGlob = rule('filter-glob', {
  route({ config }, report) {
    for (const glob of globsIn(config.filters ?? [])) report(glob);
  },
});

/** Globs that are compared as text. */
export const globsIn = (filters: FilterConfig | readonly FilterConfig[]) =>
  conditions(filters, ['filters']).flatMap(({ config: filter, path }) =>
    (['equals', 'not_equals', 'in', 'starts_with'] as const).flatMap((operator) =>
      [filter[operator]].flat().flatMap((value, index) => {
        if (typeof value !== 'string' || !GLOB.test(value)) return [];
        const at = operator === 'in' ? [...path, operator, index] : [...path, operator];
        const message = `\`*\` is an ordinary character in \`${operator}\``;
        return [{ path: at, at: 'value' as const, message, hint: matchHint(value, operator === 'not_equals') }];
      }),
    ),
  );

/** A path or a name with stars. A text in bold type has none at only one end. */
const GLOB = /^(?!\*+$)(?!\*+[^*]+\*+$|\/\*)[\w./@:*-]*\*[\w./@:*-]*$/;

function matchHint(glob: string, isNegated: boolean): string {
  const [, start] = /^([^*]+)\*{1,2}$/.exec(glob) ?? [];
  const source = globSource(glob);
  if (start === undefined && source instanceof Error) return 'write it as a `regex`';
  const operator = start === undefined ? `regex: ${JSON.stringify(source)}` : `starts_with: ${flowText(start)}`;
  return `write \`${isNegated ? `not: { field: …, ${operator} }` : operator}\``;
}
