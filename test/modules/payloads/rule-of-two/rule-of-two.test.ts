/** Compares the rule with forty configurations that were written from the requirement, apart from the code. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { parse, stringify } from 'yaml';
import { compileFiles, printed } from '../../../helpers/compile.ts';

interface Case {
  readonly name: string;
  readonly letters: string;
  readonly reported: boolean;
  readonly route: Readonly<Record<string, unknown>>;
  readonly gateway?: object;
}

const { base, cases } = parse(readFileSync(new URL('cases.yaml', import.meta.url), 'utf8'), { merge: true }) as {
  readonly base: { readonly gateway: object; readonly platforms: { readonly webhook: object } };
  readonly cases: readonly Case[];
};

function compileCase({ name: _, letters: _letters, reported: _reported, route, gateway = {}, ...own }: Case) {
  const routes = { r: { source: 'github', events: ['issues'], ...route } };
  const platforms = { ...base.platforms, webhook: { ...base.platforms.webhook, routes } };
  const config = { ...own, gateway: { ...base.gateway, ...gateway }, platforms };
  const result = compileFiles({ 'hookwright.yaml': stringify(config) });
  assert.notEqual(result.output, null, printed(result));
  return result;
}

describe('the Rule of Two', () => {
  for (const each of cases) {
    test(each.name, () => {
      const { output, diagnostics } = compileCase(each);
      const reach = output?.reach('r');
      const letters = (['A', 'B', 'C'] as const).filter((letter) => (reach?.[letter].length ?? 0) > 0).join('');
      const reported = diagnostics.some(({ rule }) => rule === 'rule-of-two');
      assert.deepEqual({ letters, reported }, { letters: each.letters, reported: each.reported });
    });
  }
});
