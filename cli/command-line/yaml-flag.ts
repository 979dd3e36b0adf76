/** Values of flags that are written as YAML, such as `--filter '{field: action, equals: opened}'`. */
import { parse } from 'yaml';
import { messageOf } from '../../base/message-of.ts';
import type { BudgetConfig } from '../../schemas/generated/types.ts';
import { UsageError } from '../base/errors.ts';

/** A map or list. @throws UsageError */
export function parseFlagYaml(text: string, flag: string, example: string): object {
  let value: unknown;
  try {
    value = parse(text, { logLevel: 'error', maxAliasCount: 10 });
  } catch (error) {
    throw new UsageError(
      `${flag} is not YAML: ${messageOf(error).split('\n')[0] ?? ''}`,
      `for instance ${flag} ${example}`,
    );
  }
  if (typeof value === 'object' && value !== null) return value;
  throw new UsageError(`${flag} takes a map, not "${text}"`, `for instance ${flag} ${example}`);
}

/** Its limits are checked with the entry that they stand in. @throws UsageError */
export const parseBudgetFlag = (text: string): BudgetConfig =>
  parseFlagYaml(text, '--budget', "'{runs: 20, per: day}'") as BudgetConfig;
