/** An enabled target without its credentials. */

import type { TargetPlan, VariantPlan } from '../../schemas/generated/types.ts';
import type { Problem } from '../diagnostics/problem.ts';
import { oneOf } from '../text/suggest.ts';

export function missingSettings(written: WrittenSettings): readonly Problem[] {
  return [...missingRequired(written), ...missingOfVariant(written)];
}

export interface WrittenSettings {
  readonly plan: TargetPlan;
  /** Names of settings that are set or have a default. */
  readonly present: ReadonlySet<string>;
  /** Variants that the config allows; `variant` is the first of them whose required settings are all present. */
  readonly candidates: readonly VariantPlan[];
  readonly variant: VariantPlan | undefined;
  readonly base: string | undefined;
}

const missing = (message: string, hint: Pick<Problem, 'hint'> = {}): Problem => ({
  rule: 'missing-setting',
  path: [],
  at: 'key',
  message,
  ...hint,
});

function missingRequired({ plan, present }: WrittenSettings): readonly Problem[] {
  return plan.settings
    .filter(({ name, required }) => required && name !== 'api_base' && !present.has(name))
    .map(({ name, secret }) => {
      const hint = secret ? { hint: `write it as a reference, \`${name}: env:SOME_NAME\`` } : {};
      return missing(`${plan.title} needs \`${name}\``, hint);
    });
}

/** A self-hosted service has no default base URL. */
function missingOfVariant({ plan, candidates, variant, base, present }: WrittenSettings): readonly Problem[] {
  if (variant === undefined && plan.driver !== 'http') return halfOfVariant(candidates, present);
  if (variant === undefined) {
    const ways = candidates.map(({ name, needs }) => `${oneOf(needs, 'and')} (${name})`);
    return ways.length === 0 ? [] : [missing(`${plan.title} needs ${ways.join(', or ')}`)];
  }
  if (variant.base !== null || base !== undefined) return [];
  const [alias] = plan.settings.find(({ name }) => name === 'api_base')?.aliases ?? [];
  const also = alias === undefined ? '' : ` (or \`${alias}\`)`;
  return [missing(`${plan.title} is self-hosted: it needs \`api_base\`${also}, the base URL of your server`)];
}

/** A target that needs no variant, and a setting that only a variant reads: one of several that belong together. */
function halfOfVariant(candidates: readonly VariantPlan[], present: ReadonlySet<string>): readonly Problem[] {
  return candidates.flatMap(({ needs, unless = [] }) => {
    const written = needs.filter((name) => present.has(name));
    if (needs.length < 2 || written.length === 0) return [];
    const lacking = needs.filter((name) => !present.has(name));
    if (lacking.length > 0) return [missing(`${oneOf(written, 'and')} needs ${oneOf(lacking, 'and')} beside it`)];
    const against = unless.filter((name) => present.has(name));
    const message = `${oneOf(against, 'and')} and \`${needs[0]}\` do not go together`;
    return [
      {
        rule: 'invalid-value',
        path: [against[0] ?? ''],
        at: 'key',
        message,
        hint: 'remove one of them; the address of a server of your own is `api_base`',
      },
    ];
  });
}
