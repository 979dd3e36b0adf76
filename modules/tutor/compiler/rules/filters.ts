/** Rules about filters in the way of other tools. */
import { conditions } from '../../../../compiler/config/grammar.ts';
import { globSource } from '../../../../compiler/globs/linear-glob.ts';
import { rule } from '../../../../compiler/rules/support/rule.ts';
import { flowText } from '../../../../compiler/text/plain-data.ts';

/** A glob that is compared as text. */
export const filterGlob = rule('filter-glob', {
  route({ config }, report) {
    for (const { config: filter, path } of conditions(config.filters ?? [], ['filters'])) {
      for (const operator of ['equals', 'not_equals', 'in', 'starts_with'] as const) {
        for (const [index, value] of [filter[operator]].flat().entries()) {
          if (typeof value !== 'string' || !GLOB.test(value)) continue;
          const at = operator === 'in' ? [...path, operator, index] : [...path, operator];
          const message = `\`*\` is an ordinary character in \`${operator}\``;
          report({ path: at, at: 'value', message, hint: matchHint(value) });
        }
      }
    }
  },
});

/** A path or a name with stars. A text in bold type has none at only one end. */
const GLOB = /^(?!\*+$)(?!\*+[^*]+\*+$|\/\*)[\w./@:*-]*\*[\w./@:*-]*$/;

function matchHint(glob: string): string {
  const [, start] = /^([^*]+)\*{1,2}$/.exec(glob) ?? [];
  if (start !== undefined) return `write \`starts_with: ${flowText(start)}\``;
  const source = globSource(glob);
  return source instanceof Error ? 'write it as a `regex`' : `write \`regex: ${JSON.stringify(source)}\``;
}
